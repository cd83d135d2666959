// Depthwise and transposed convolutions of what DynamicQuant rounds at run time, computed on whole numbers in float32.
#ifndef MSLITE_PLAN_REWRITE_EXACT_PRODUCTS_H
#define MSLITE_PLAN_REWRITE_EXACT_PRODUCTS_H

#include <map>
#include <vector>

#include "plan/rewrite/new_nodes.h"

namespace mslite {
/// Rewrites them so that the kernels of float values multiply the integers less their zero point with the integers of
/// the weights. Such sums are exact in any order while they stay below 2^24, and so every machine has the same bits.
/// Scales, bias and function follow as nodes of their own.
class ExactProducts {
 public:
  explicit ExactProducts(Graph *graph) : graph_(graph), new_(graph) {}

  /// True when `node` multiplies what `rounding`, a DynamicQuant, makes, and all its sums are exact.
  bool Fits(const Node &node, const Node &rounding) const;

  /// Adds a DynamicQuant like `rounding` that gives whole numbers, their scales and zero points. Returns its index.
  int32_t AddRounding(const Node &rounding);

  /// True when input 0 of the node comes from such a rounding and the node fits.
  bool CanMultiply(const Node &node) const;

  /// Rewrites node `index`, for which CanMultiply; appends what takes its place to `nodes`. Errors: kLiteMemoryFailed.
  Status Multiply(int32_t index, std::vector<int32_t> *nodes);

 private:
  const Tensor &TensorAt(int32_t index) const { return graph_->tensors[static_cast<size_t>(index)]; }
  Status AddWeight(const Tensor &weight, int32_t *index);
  const void *WithoutActivation(const Node &node);

  struct Rounding {
    Node node;  // as the file has it
    int32_t steps, scale;
  };

  Graph *graph_;
  NewNodes new_;
  std::map<int32_t, Rounding> roundings_;  // by the integers
};
}  // namespace mslite

#endif
