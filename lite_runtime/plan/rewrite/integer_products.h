// Products of what DynamicQuant rounds at run time with constant 8-bit weights, computed on the integers.
#ifndef MSLITE_PLAN_REWRITE_INTEGER_PRODUCTS_H
#define MSLITE_PLAN_REWRITE_INTEGER_PRODUCTS_H

#include <map>
#include <vector>

#include "plan/rewrite/new_nodes.h"

namespace mslite {
/// Rewrites convolutions and matrix products of a subgraph to ConvInteger and MatMulInteger: sums of integers, then
/// the scales, as TensorFlow Lite computes them. Sums are exact, so every machine has the same bits.
///
/// Others stay products of float values (of depthwise and transposed convolutions see plan/rewrite/exact_products.h),
/// as does what has scales inside of its sums.
class IntegerProducts {
 public:
  explicit IntegerProducts(Graph *graph) : graph_(graph), new_(graph) {}

  /// True when `node` multiplies the integers that `rounding`, a DynamicQuant, makes.
  bool Fits(const Node &node, const Node &rounding) const;

  /// Node `index`, a DynamicQuant, gets its scales and zero points as further outputs.
  void KeepRanges(int32_t index);

  /// True when input 0 of the node comes with its range and the node fits.
  bool CanMultiply(const Node &node) const;

  /// Rewrites node `index`, for which CanMultiply; appends what takes its place to `nodes`. Errors: kLiteMemoryFailed.
  Status Multiply(int32_t index, std::vector<int32_t> *nodes);

 private:
  const Tensor &TensorAt(int32_t index) const { return graph_->tensors[static_cast<size_t>(index)]; }
  Status AddWeight(const Node &node, int32_t *index);
  Status AddZeros(const Tensor &weight, int32_t *index);
  Status AddNoBias(const Node &node, int32_t *index);
  const void *ParamsOf(const Node &node);

  Graph *graph_;
  NewNodes new_;
  std::map<int32_t, int32_t> roundings_;  // integers with ranges -> the DynamicQuant
};
}  // namespace mslite

#endif
