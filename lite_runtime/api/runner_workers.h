// The workers of a ModelParallelRunner, and the order in which requests get a worker.
#ifndef MSLITE_API_RUNNER_WORKERS_H
#define MSLITE_API_RUNNER_WORKERS_H

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "api/model_impl.h"
#include "include/api/context.h"
#include "plan/program.h"

namespace mslite {
// Returns new tensors with the same names, types, shapes, formats and quantization parameters, without data.
std::vector<mindspore::MSTensor> Descriptions(const std::vector<mindspore::MSTensor> &tensors);

// The workers of one model. Each of them runs one request at a time.
struct WorkerSet {
  std::vector<std::unique_ptr<mindspore::ModelImpl>> workers;
  std::vector<mindspore::ModelImpl *> idle;
  // Copies without data, because the tensors of the workers change while they run.
  std::vector<mindspore::MSTensor> inputs;
  std::vector<mindspore::MSTensor> outputs;

  // Creates one worker for each context, with the same configuration.
  static Status Create(const std::shared_ptr<SharedModel> &model,
                       const std::vector<std::shared_ptr<mindspore::Context>> &contexts, const ConfigSections &sections,
                       std::shared_ptr<WorkerSet> *set);
};

// Assigns workers to requests. If none is idle, requests wait in the order of their priority and arrival.
class WorkerQueue {
 public:
  // A worker that is assigned to a request. The destructor returns it.
  class Lease {
   public:
    Lease() = default;
    ~Lease() {
      if (desk_ != nullptr) desk_->Return(this);
    }
    Lease(const Lease &) = delete;
    Lease &operator=(const Lease &) = delete;
    mindspore::ModelImpl *operator->() const { return worker_; }
    mindspore::ModelImpl *get() const { return worker_; }

   private:
    friend class WorkerQueue;
    WorkerQueue *desk_ = nullptr;
    std::shared_ptr<WorkerSet> set_;  // the set of the worker, which may have been replaced since
    mindspore::ModelImpl *worker_ = nullptr;
  };

  explicit WorkerQueue(std::shared_ptr<WorkerSet> set) : set_(std::move(set)) {}

  // Waits for a worker. Errors: kLiteServiceDeny if the queue is full.
  Status Take(int32_t priority, Lease *lease);
  // Replaces the workers for later requests. The old ones are destroyed when the last of them has been returned.
  void Replace(std::shared_ptr<WorkerSet> set);
  std::shared_ptr<const WorkerSet> set() const;

 private:
  struct Waiter {
    std::condition_variable wake;
    Lease *lease = nullptr;
  };
  void Return(Lease *lease);
  void Serve();

  mutable std::mutex mutex_;
  std::shared_ptr<WorkerSet> set_;
  std::map<std::pair<int64_t, uint64_t>, Waiter *> waiting_;
  uint64_t next_ = 0;
};
}  // namespace mslite

#endif
