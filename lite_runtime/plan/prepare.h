// How the runtime, the code generator and the tests call a kernel's `prepare`.
#ifndef MSLITE_PLAN_PREPARE_H
#define MSLITE_PLAN_PREPARE_H

#include <cstring>

#include "kernel.h"

namespace mslite {

/// Lets the kernel fill `derived_size` bytes and the schedule, both 0 before: what a kernel does not set, and the bytes
/// between members, do not depend on what the memory held. Generated C and stored plans hold these bytes.
inline mslite_status PrepareKernel(const mslite_kernel &kernel, const mslite_node &call, void *derived,
                                   mslite_schedule *schedule) {
  if (kernel.derived_size > 0) std::memset(derived, 0, static_cast<size_t>(kernel.derived_size));
  *schedule = {};
  return kernel.prepare(&call, derived, schedule);
}

}  // namespace mslite

#endif
