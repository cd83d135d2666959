// Finds the data types in which a portable kernel supports a call: its own, or wider ones between casts.
#ifndef MSLITE_PLAN_KERNEL_TYPES_H
#define MSLITE_PLAN_KERNEL_TYPES_H

#include <cstdint>
#include <vector>

#include "model/internal_api.h"
#include "plan/shapes.h"

namespace mslite {

/// The data types of a call's inputs and outputs.
struct CallTypes {
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
};

/// Fills `types` with the data types in which a portable kernel supports the call, independent of unknown sizes: its
/// own, or else float32, int32 or int64 for all operands of one type. `expected` are the types of the results that the
/// model has; results of `types` may be cast to them. The call stays correct if only results are cast back. Returns
/// false if there are no such types.
MSLITE_INTERNAL_API bool FindKernelTypes(int32_t op, const void *params,
                                         const std::vector<const mslite_tensor *> &inputs,
                                         const std::vector<int32_t> &expected, CallTypes *types);

/// Gives unknown sizes an arbitrary value, and also small integer tensors whose contents are known only when a kernel
/// is chosen. In a file, a scalar and an unknown shape look the same.
MSLITE_INTERNAL_API void AssumeSizes(mslite_tensor *tensor, bool are_scalars);

/// Returns true for operators that convert or query types, or that the executor runs.
bool KeepsItsTypes(int32_t op);

/// Returns true for comparisons. There, uint64 values from 2^63 on would be negative as int64 unless their highest bit
/// is inverted.
MSLITE_INTERNAL_API bool ComparesOperands(int32_t op, const void *params);

/// Returns true for float types. Values computed in float32 need not be rounded to them between nodes.
inline bool IsRealType(int32_t type) {
  return type == MSLITE_FLOAT16 || type == MSLITE_FLOAT32 || type == MSLITE_FLOAT64;
}

/// Casts the constant's elements to `type`. Returns false if there is no such cast or the contents are unknown.
bool CastConstant(const mslite_tensor &constant, int32_t type, std::vector<uint8_t> *elements);

}  // namespace mslite

#endif
