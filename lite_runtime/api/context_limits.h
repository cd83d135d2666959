// ContextLimits: access to the run limits of a context, for the library only.
#ifndef MSLITE_API_CONTEXT_LIMITS_H
#define MSLITE_API_CONTEXT_LIMITS_H

#include <memory>

#include "include/mslite/run_control.h"

namespace mindspore {
class ContextLimits {
 public:
  static mslite::RunLimits &Of(const Context &context);
  // Returns a copy of the context with separate settings. Devices are shared.
  static std::shared_ptr<Context> Copy(const Context &context);
};
}  // namespace mindspore

#endif
