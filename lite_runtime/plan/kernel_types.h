// The element types in which a portable kernel takes a call: its own, or wider ones between casts.
#ifndef MSLITE_PLAN_KERNEL_TYPES_H
#define MSLITE_PLAN_KERNEL_TYPES_H

#include <cstdint>
#include <vector>

#include "model/internal_api.h"
#include "plan/shapes.h"

namespace mslite {

/// Types of a call's inputs and outputs.
struct CallTypes {
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
};

/// Fills `types` with those in which some portable kernel takes the call, whatever the open sizes are: its own ones, or
/// else float32, int32 or int64 for all of its operands of one type. `expected` are the types of its results, which
/// those of `types` may be cast to. The call stays correct where only results are cast back. False where there are
/// none.
MSLITE_INTERNAL_API bool FindKernelTypes(int32_t op, const void *params,
                                         const std::vector<const mslite_tensor *> &inputs,
                                         const std::vector<int32_t> &expected, CallTypes *types);

/// Gives open sizes, and small integer tensors that will be known when a kernel is chosen, some value. A file does not
/// tell a scalar from what it knows nothing of.
MSLITE_INTERNAL_API void AssumeSizes(mslite_tensor *tensor, bool are_scalars);

/// True for operators that are about types, or that the executor runs.
bool KeepsItsTypes(int32_t op);

/// True for calls that compare: without its highest bit turned, a uint64 from 2^63 on would be negative as int64.
MSLITE_INTERNAL_API bool ComparesOperands(int32_t op, const void *params);

/// Element types whose numbers are real: what is computed in float32 need not be rounded to them in between.
inline bool IsRealType(int32_t type) {
  return type == MSLITE_FLOAT16 || type == MSLITE_FLOAT32 || type == MSLITE_FLOAT64;
}

/// The constant's elements cast to `type`; false where there is no such cast, or its numbers are not known.
bool CastConstant(const mslite_tensor &constant, int32_t type, std::vector<uint8_t> *elements);

}  // namespace mslite

#endif
