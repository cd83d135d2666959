// Requests that run on threads of the library, with a handle to wait for them or to end them. Beyond MindSpore Lite's
// API.
#ifndef MSLITE_INCLUDE_MSLITE_ASYNC_RUN_H_
#define MSLITE_INCLUDE_MSLITE_ASYNC_RUN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "include/api/model.h"
#include "include/api/model_parallel_runner.h"

namespace mslite {
class Request;

// A request that waits, runs or has ended. Copies are the same request; destroying them does not end it.
class MS_API AsyncRun {
 public:
  AsyncRun() = default;
  explicit AsyncRun(std::shared_ptr<Request> request) : request_(std::move(request)) {}

  // From any thread. A request that waits ends at once and is never begun, one that runs ends before its next operator;
  // both with kLiteServiceDeny (a run that is past its last operator still succeeds). False when it had ended already.
  // Never ends another request.
  bool Cancel();
  // Blocks until it has ended, callback included. Must not be called in that callback.
  mindspore::Status Wait();
  // Whether it has ended, callback included.
  bool IsDone() const;

 private:
  std::shared_ptr<Request> request_;
};

struct AsyncOptions {
  int32_t priority = 0;  // of a runner: higher ones begin first; equal ones in the order in which they came
};

using RunDone = std::function<void(const mindspore::Status &)>;

// As Model::PredictAsync. `done`, where given, is called exactly once: by a thread of the library, or by the thread
// that cancels a request that waits, or before this returns when the request is refused (kLiteServiceDeny: as many wait
// already as may). What `done` throws is lost.
MS_API AsyncRun StartPredict(const mindspore::Model &model, const std::vector<mindspore::MSTensor> &inputs,
                             std::vector<mindspore::MSTensor> *outputs, const RunDone &done = nullptr);

// The same on a worker of the runner. Requests may end in another order than they began.
MS_API AsyncRun StartPredict(const mindspore::ModelParallelRunner &runner,
                             const std::vector<mindspore::MSTensor> &inputs, std::vector<mindspore::MSTensor> *outputs,
                             const AsyncOptions &options = {}, const RunDone &done = nullptr);

// Replaces the model of a runner by one with equal inputs and outputs (number, names, types), from any thread: requests
// that begin afterwards use it, those that run end with the old one, none is lost. On failure the old model stays.
// Errors: those of ModelParallelRunner::Init; kLiteParamInvalid when inputs or outputs differ.
MS_API mindspore::Status ReplaceModel(const mindspore::ModelParallelRunner &runner, const std::string &model_path);

// How many requests of PredictAsync may wait for a model that is not built yet, at least 1; 1000 unless set.
MS_API mindspore::Status SetQueueCapacity(const mindspore::Model &model, int32_t capacity);
}  // namespace mslite

#endif  // MSLITE_INCLUDE_MSLITE_ASYNC_RUN_H_
