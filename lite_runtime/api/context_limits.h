// The limits of runs that a context holds.
#ifndef MSLITE_API_CONTEXT_LIMITS_H
#define MSLITE_API_CONTEXT_LIMITS_H

#include "include/mslite/run_control.h"

namespace mindspore {
class ContextLimits {
 public:
  static mslite::RunLimits &Of(const Context &context);
};
}  // namespace mindspore

#endif
