// The work of one operator call.
#ifndef MSLITE_PLAN_FLOPS_H_
#define MSLITE_PLAN_FLOPS_H_

#include "kernel.h"

namespace mslite {

// Floating-point operations of a node with known shapes; a multiply-add counts as two. Operators without a rule of
// their own count one operation per output element; those that only move data count none.
int64_t CountFlops(const mslite_node &node);

// Bytes of inputs and outputs together: what must cross the memory bus at least once.
int64_t CountBytes(const mslite_node &node);

}  // namespace mslite

#endif  // MSLITE_PLAN_FLOPS_H_
