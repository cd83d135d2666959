// Convolutions and matmuls of DynamicQuant's results with constant 8-bit weights, computed on integers.
#ifndef MSLITE_PLAN_REWRITE_INTEGER_MATMULS_H
#define MSLITE_PLAN_REWRITE_INTEGER_MATMULS_H

#include <map>
#include <vector>

#include "plan/rewrite/new_nodes.h"

namespace mslite {
/// Rewrites convolutions and matmuls of a subgraph to ConvInteger and MatMulInteger: integer sums, then the scales, as
/// TensorFlow Lite computes them. The sums are exact, so all machines compute the same bits.
///
/// Others are computed in float (for depthwise and transposed convolutions see plan/rewrite/exact_convolutions.h), as
/// are those whose scale differs between the terms of a sum.
class IntegerMatmuls {
 public:
  explicit IntegerMatmuls(Graph *graph) : graph_(graph), new_(graph) {}

  /// Returns whether `node` multiplies the result of `rounding`, a DynamicQuant, and can be rewritten.
  bool Fits(const Node &node, const Node &rounding) const;

  /// Adds scales and zero points as outputs of node `index`, a DynamicQuant.
  void KeepRanges(int32_t index);

  /// Returns whether input 0 of the node comes from such a DynamicQuant and the node fits.
  bool CanMultiply(const Node &node) const;

  /// Rewrites node `index`, for which CanMultiply is true. Appends the nodes that replace it to `nodes`. Errors:
  /// kLiteMemoryFailed.
  Status Multiply(int32_t index, std::vector<int32_t> *nodes);

 private:
  const Tensor &TensorAt(int32_t index) const { return graph_->tensors[static_cast<size_t>(index)]; }
  Status AddWeight(const Node &node, int32_t *index);
  Status AddZeros(const Tensor &weight, int32_t *index);
  Status AddNoBias(const Node &node, int32_t *index);
  const void *ParamsOf(const Node &node);

  Graph *graph_;
  NewNodes new_;
  std::map<int32_t, int32_t> roundings_;  // tensor of integers -> its DynamicQuant
};
}  // namespace mslite

#endif
