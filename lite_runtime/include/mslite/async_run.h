// Asynchronous requests with a handle to wait for them or to cancel them. mslite extension.
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

// A handle of a request. Copies refer to the same request. Destroying a handle does not end the request.
class MS_API AsyncRun {
 public:
  AsyncRun() = default;
  explicit AsyncRun(std::shared_ptr<Request> request) : request_(std::move(request)) {}

  // Cancels the request, from any thread. A waiting request ends at once. A running request ends before its next
  // operator, or succeeds if it is past the last one. The status of a canceled request is kLiteServiceDeny. Returns
  // false if the request has already ended. Other requests are not affected.
  bool Cancel();
  // Waits until the request has ended and its callback has returned. Returns the status of the request. Must not be
  // called in the callback.
  mindspore::Status Wait();
  // Returns true if the request has ended and its callback has returned.
  bool IsDone() const;

 private:
  std::shared_ptr<Request> request_;
};

struct AsyncOptions {
  int32_t priority = 0;  // higher priorities start first; equal priorities start in the order of their arrival
};

using RunDone = std::function<void(const mindspore::Status &)>;

// Starts a request with the rules of Model::PredictAsync. `done` is optional and is called exactly once: by a thread of
// the library, by the thread that cancels a waiting request, or before this function returns if the request is refused
// (kLiteServiceDeny: the queue is full). Exceptions of `done` are ignored.
MS_API AsyncRun StartPredict(const mindspore::Model &model, const std::vector<mindspore::MSTensor> &inputs,
                             std::vector<mindspore::MSTensor> *outputs, const RunDone &done = nullptr);

// The same on a worker of a runner. Requests may end in another order than they start.
MS_API AsyncRun StartPredict(const mindspore::ModelParallelRunner &runner,
                             const std::vector<mindspore::MSTensor> &inputs, std::vector<mindspore::MSTensor> *outputs,
                             const AsyncOptions &options = {}, const RunDone &done = nullptr);

// Replaces the model of a runner, from any thread. The number, names and types of inputs and outputs must be equal.
// Running requests end with the old model; requests that start later use the new one. No request is lost. On failure,
// the old model stays.
// Errors: those of ModelParallelRunner::Init; kLiteParamInvalid if inputs or outputs differ.
MS_API mindspore::Status ReplaceModel(const mindspore::ModelParallelRunner &runner, const std::string &model_path);

// Sets how many requests of PredictAsync may wait for a model. It must be at least 1; the default is 1000. It must be
// called before Model::Build.
MS_API mindspore::Status SetQueueCapacity(const mindspore::Model &model, int32_t capacity);
}  // namespace mslite

#endif  // MSLITE_INCLUDE_MSLITE_ASYNC_RUN_H_
