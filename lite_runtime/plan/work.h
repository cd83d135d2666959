// Counts the work of one operator call.
#ifndef MSLITE_PLAN_WORK_H_
#define MSLITE_PLAN_WORK_H_

#include "kernel.h"
#include "model/internal_api.h"

namespace mslite {

// Returns true for operators that consist of multiply-accumulates: convolutions, matmuls, recurrent layers, and their
// gradients.
MSLITE_INTERNAL_API bool IsMultiplyAccumulate(int32_t op);

// Returns the multiply-accumulates of a node with known shapes and valid operands; 0 for operators that do not consist
// of them. Saturates at the largest int64.
MSLITE_INTERNAL_API int64_t CountMacs(const mslite_node &node);

// Returns the floating-point operations: two per multiply-accumulate. Other operators count one operation per output
// element unless they have their own rule; those that only move data count 0.
int64_t CountFlops(const mslite_node &node);

// Returns the bytes of inputs and outputs: the least memory traffic of the node.
int64_t CountBytes(const mslite_node &node);

}  // namespace mslite

#endif  // MSLITE_PLAN_WORK_H_
