// Calls a kernel's `prepare`, for the runtime, the code generator and the tests.
#ifndef MSLITE_PLAN_PREPARE_H
#define MSLITE_PLAN_PREPARE_H

#include <cstring>

#include "kernel.h"

namespace mslite {

/// Clears `derived_size` bytes and the schedule, and lets the kernel fill them. Clearing makes unset fields and padding
/// bytes independent of earlier memory contents. Generated C and stored plans contain these bytes.
inline mslite_status PrepareKernel(const mslite_kernel &kernel, const mslite_node &call, void *derived,
                                   mslite_schedule *schedule) {
  if (kernel.derived_size > 0) std::memset(derived, 0, static_cast<size_t>(kernel.derived_size));
  *schedule = {};
  return kernel.prepare(&call, derived, schedule);
}

}  // namespace mslite

#endif
