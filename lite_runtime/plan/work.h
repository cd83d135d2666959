// The work of one operator call.
#ifndef MSLITE_PLAN_WORK_H_
#define MSLITE_PLAN_WORK_H_

#include "kernel.h"
#include "model/internal_api.h"

namespace mslite {

// Whether an operator is made of products: a convolution, a matrix product, a recurrent layer, and their gradients.
MSLITE_INTERNAL_API bool Multiplies(int32_t op);

// Multiply-accumulates of a node with known shapes, which has the operands that its operator must have; 0 for operators
// that are not made of products. Numbers that do not fit are the largest that does.
MSLITE_INTERNAL_API int64_t CountMacs(const mslite_node &node);

// Floating-point operations: two for each multiply-accumulate. Other operators without a rule of their own count one
// operation per output element; those that only move data count none.
int64_t CountFlops(const mslite_node &node);

// Bytes of inputs and outputs together: what must cross the memory bus at least once.
int64_t CountBytes(const mslite_node &node);

}  // namespace mslite

#endif  // MSLITE_PLAN_WORK_H_
