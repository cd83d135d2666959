// The workers of a ModelParallelRunner: who runs a request, and in which order requests get one.
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
// Tensors of their own with the same names, types, shapes, formats and records, without memory.
std::vector<mindspore::MSTensor> Descriptions(const std::vector<mindspore::MSTensor> &tensors);

// Sessions over one model, each of which runs one request at a time.
struct WorkerSet {
  std::vector<std::unique_ptr<mindspore::ModelImpl>> workers;
  std::vector<mindspore::ModelImpl *> idle;
  // Descriptions: the tensors of the workers change while they run.
  std::vector<mindspore::MSTensor> inputs;
  std::vector<mindspore::MSTensor> outputs;

  // One worker for each context, all with the same settings.
  static Status Create(const std::shared_ptr<SharedModel> &model,
                       const std::vector<std::shared_ptr<mindspore::Context>> &contexts, const ConfigSections &sections,
                       std::shared_ptr<WorkerSet> *set);
};

// Lends workers. Requests that find none idle wait: higher priorities first, equal ones in the order in which they
// came.
class WorkerDesk {
 public:
  // A worker for one request; it goes back when this goes.
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
    friend class WorkerDesk;
    WorkerDesk *desk_ = nullptr;
    std::shared_ptr<WorkerSet> set_;  // whose the worker is: another one may have come since
    mindspore::ModelImpl *worker_ = nullptr;
  };

  explicit WorkerDesk(std::shared_ptr<WorkerSet> set) : set_(std::move(set)) {}

  // Errors: kLiteServiceDeny when as many requests wait as may.
  Status Take(int32_t priority, Lease *lease);
  // The workers for requests from now on. The others go when the last of them has come back.
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
