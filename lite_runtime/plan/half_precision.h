// Decides which tensors of a model may be stored as float16 and which must stay float32. Used by the CPU's planner and
// by delegates.
#ifndef MSLITE_PLAN_HALF_PRECISION_H
#define MSLITE_PLAN_HALF_PRECISION_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel.h"

namespace mslite {
// The magnitude of an operator's results compared with its operands, and the operands that must not be rounded.
struct HalfPrecision {
  enum Results : uint8_t {
    kMoved,  // as large as the operands
    kMixed,  // as large as the operands that are not broadcast; out of range if any operand was so intentionally
    kFresh,  // independent of the operands, within float16's range
    kGrown,  // possibly beyond float16's range or precision
  } results = kMoved;
  uint32_t exact = 0;             // bit i: operand i must not be rounded
  uint32_t counted = UINT32_MAX;  // bit i: the results may be as large as operand i
  uint32_t exact_results = 0;     // in training, bit i: result i must not be rounded
};
constexpr uint32_t kAllExact = UINT32_MAX;

// Returns the precision for the operator and its attributes. Shapes must be known.
HalfPrecision HalfPrecisionOf(const mslite_node &node);

// Returns whether float16 can represent the values: no finite value overflows, and not all are below the normal range.
bool FitsHalf(const float *numbers, size_t count);

struct HalfTensor {
  const mslite_tensor *value = nullptr;
  double seen = -1;  // the largest magnitude that calibration recorded; negative: not in the file
};
struct HalfNode {
  std::vector<int32_t> inputs;  // tensors
  std::vector<int32_t> outputs;
  HalfPrecision precision;
};

// Returns for each tensor whether it must stay float32, because float16 would overflow or lose the precision that
// readers need. Uses the calibration ranges in the file; otherwise the kinds of the operators, and constants that
// float16 cannot represent.
std::vector<bool> FindFloat32Tensors(const std::vector<HalfTensor> &tensors, const std::vector<HalfNode> &nodes);
}  // namespace mslite

#endif
