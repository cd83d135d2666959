// Depthwise and transposed convolutions of DynamicQuant's results, computed exactly in float32.
#ifndef MSLITE_PLAN_REWRITE_EXACT_CONVOLUTIONS_H
#define MSLITE_PLAN_REWRITE_EXACT_CONVOLUTIONS_H

#include <map>
#include <vector>

#include "plan/rewrite/new_nodes.h"

namespace mslite {
/// Rewrites these convolutions so that float kernels multiply the integers minus their zero point by the integer
/// weights. Such sums are exact in any order while they stay below 2^24, so all machines compute the same bits. Scales,
/// bias and activation are applied by nodes after them.
class ExactConvolutions {
 public:
  explicit ExactConvolutions(Graph *graph) : graph_(graph), new_(graph) {}

  /// Returns whether `node` convolves the result of `rounding`, a DynamicQuant, and all its sums are exact.
  bool Fits(const Node &node, const Node &rounding) const;

  /// Adds a copy of `rounding`, a DynamicQuant, that returns integers as float32, with their scales and zero points.
  /// Returns its index.
  int32_t AddRounding(const Node &rounding);

  /// Returns whether input 0 of the node comes from such a copy and the node fits.
  bool CanMultiply(const Node &node) const;

  /// Rewrites node `index`, for which CanMultiply is true. Appends the nodes that replace it to `nodes`. Errors:
  /// kLiteMemoryFailed.
  Status Multiply(int32_t index, std::vector<int32_t> *nodes);

 private:
  const Tensor &TensorAt(int32_t index) const { return graph_->tensors[static_cast<size_t>(index)]; }
  Status AddWeight(const Tensor &weight, int32_t *index);
  const void *WithoutActivation(const Node &node);

  struct Rounding {
    Node node;  // as in the file
    int32_t steps, scale;
  };

  Graph *graph_;
  NewNodes new_;
  std::map<int32_t, Rounding> roundings_;  // by the tensor of integers
};
}  // namespace mslite

#endif
