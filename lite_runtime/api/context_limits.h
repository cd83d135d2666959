// What the library sees of a context that its users do not: the limits of runs.
#ifndef MSLITE_API_CONTEXT_LIMITS_H
#define MSLITE_API_CONTEXT_LIMITS_H

#include <memory>

#include "include/mslite/run_control.h"

namespace mindspore {
class ContextLimits {
 public:
  static mslite::RunLimits &Of(const Context &context);
  // A context of its own with the same settings; devices are shared.
  static std::shared_ptr<Context> Copy(const Context &context);
};
}  // namespace mindspore

#endif
