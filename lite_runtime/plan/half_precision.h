// What float16 does to the numbers of a model: which tensors may be stored as float16, and which stay float32. Asked by
// the CPU's planner and by engines.
#ifndef MSLITE_PLAN_HALF_PRECISION_H
#define MSLITE_PLAN_HALF_PRECISION_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel.h"

namespace mslite {
// What an operator makes of its operands, and which of them must not be rounded.
struct HalfPrecision {
  enum Results : uint8_t {
    kMoved,  // are as large as the operands
    kMixed,  // are as large as the operands that are not broadcast; beyond float16, where any operand was meant to be
    kFresh,  // are of a size of their own, which float16 has
    kGrown,  // may be beyond float16, or between its numbers
  } results = kMoved;
  uint32_t exact = 0;             // bit i: operand i must not be rounded
  uint32_t counted = UINT32_MAX;  // bit i: the results may be as large as operand i
  uint32_t exact_results = 0;     // in training, bit i: result i must not be rounded
};
constexpr uint32_t kAllExact = UINT32_MAX;

// By the operator and its attributes. Shapes are known.
HalfPrecision HalfPrecisionOf(const mslite_node &node);

// Whether float16 has the numbers: none that is finite is beyond it, and not all are below its normal ones.
bool FitsHalf(const float *numbers, size_t count);

struct HalfTensor {
  const mslite_tensor *value = nullptr;
  double seen = -1;  // the largest magnitude that calibration left room for; negative: the file does not say
};
struct HalfNode {
  std::vector<int32_t> inputs;  // tensors
  std::vector<int32_t> outputs;
  HalfPrecision precision;
};

// For each tensor whether float16 would overflow in it, or lose its meaning: by the ranges that calibration has left in
// the file; where there are none, by what the operators do to numbers, and by constants that float16 does not have.
std::vector<bool> FindFloat32Tensors(const std::vector<HalfTensor> &tensors, const std::vector<HalfNode> &nodes);
}  // namespace mslite

#endif
