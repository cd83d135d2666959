#include "include/mslite/async_run.h"

#include "api/log.h"
#include "api/model_access.h"
#include "api/model_impl.h"
#include "api/runner_impl.h"
#include "api/shared_models.h"

namespace mslite {
using mindspore::ModelAccess;

bool AsyncRun::Cancel() { return request_ != nullptr && request_->Cancel(); }
bool AsyncRun::IsDone() const { return request_ == nullptr || request_->IsDone(); }
Status AsyncRun::Wait() { return request_ == nullptr ? OutOfMemory() : request_->Wait(); }

AsyncRun StartPredict(const mindspore::Model &model, const std::vector<mindspore::MSTensor> &inputs,
                      std::vector<mindspore::MSTensor> *outputs, const RunDone &done) {
  mindspore::ModelImpl *impl = ModelAccess::Of(model);
  return AsyncRun(Submit(impl == nullptr ? nullptr : &impl->requests(), OutOfMemory(), inputs, outputs, done, 0));
}

AsyncRun StartPredict(const mindspore::ModelParallelRunner &runner, const std::vector<mindspore::MSTensor> &inputs,
                      std::vector<mindspore::MSTensor> *outputs, const AsyncOptions &options, const RunDone &done) {
  const auto impl = ModelAccess::Of(runner);
  const Status missing = Guard([] { return Fail(mindspore::kLiteUninitializedObj, "the runner is not initialized"); });
  return AsyncRun(
      Submit(impl == nullptr ? nullptr : &impl->requests(), missing, inputs, outputs, done, options.priority));
}

Status ReplaceModel(const mindspore::ModelParallelRunner &runner, const std::string &model_path) {
  return Logged(Guard([&]() -> Status {
    const auto impl = ModelAccess::Of(runner);
    if (impl == nullptr) return Fail(mindspore::kLiteUninitializedObj, "the runner is not initialized");
    std::shared_ptr<SharedModel> model;
    MSLITE_TRY(OpenModel(model_path, impl->open_settings(), &model));
    return impl->Replace(model);
  }));
}

Status SetQueueCapacity(const mindspore::Model &model, int32_t capacity) {
  return Guard([&]() -> Status {
    if (capacity < 1) return Fail(mindspore::kLiteParamInvalid, "the capacity of a queue must be at least 1");
    mindspore::ModelImpl *impl = ModelAccess::Of(model);
    if (impl == nullptr) return OutOfMemory();
    impl->requests().SetCapacity(static_cast<size_t>(capacity));
    return mindspore::kSuccess;
  });
}
}  // namespace mslite
