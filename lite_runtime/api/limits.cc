#include "include/mslite/run_control.h"

#include "api/context_limits.h"
#include "api/log.h"
#include "api/model_access.h"
#include "api/model_impl.h"
#include "model/message.h"

namespace mslite {
mindspore::Status SetRunLimits(const std::shared_ptr<mindspore::Context> &context, const RunLimits &limits) {
  return Guard([&]() -> Status {
    if (context == nullptr) return Fail(mindspore::kLiteNullptr, "no context");
    if (limits.steps < 0 || limits.milliseconds < 0 || limits.bytes < 0) {
      return Fail(mindspore::kLiteParamInvalid, "run limits must not be negative");
    }
    mindspore::ContextLimits::Of(*context) = limits;
    return mindspore::kSuccess;
  });
}

bool CancelPredict(const mindspore::Model &model) {
  mindspore::ModelImpl *impl = mindspore::ModelAccess::Of(model);
  return impl != nullptr && impl->Cancel();
}
}  // namespace mslite
