// Adds tensors and nodes to a graph, for rewriting passes.
#ifndef MSLITE_PLAN_REWRITE_NEW_NODES_H
#define MSLITE_PLAN_REWRITE_NEW_NODES_H

#include <string>
#include <vector>

#include "model/graph.h"

namespace mslite {
class MSLITE_INTERNAL_API NewNodes {
 public:
  explicit NewNodes(Graph *graph) : graph_(graph) {}

  /// Return the index of the added tensor. Shapes are inferred when the plan is made.
  int32_t Add(Tensor tensor);
  int32_t AddValue(const std::string &name, int32_t type);
  int32_t AddLike(int32_t tensor, int32_t type, const std::string &suffix);  // same shape; name plus suffix
  int32_t AddNode(Node node);

  /// Adds a constant; the caller writes its contents. Errors: kLiteMemoryFailed.
  Status AddConstant(const std::string &name, int32_t type, std::vector<int64_t> dims, uint8_t **data, int32_t *index);

  /// Adds float32 [1 or channels] with the scales of the tensor's quantization parameters. Errors: kLiteMemoryFailed.
  Status AddScales(const Tensor &weight, int32_t *index);

  /// Adds a node that applies the activation function.
  int32_t AddActivation(const std::string &name, int32_t activation, int32_t input, int32_t output);

  /// Adds a node that reshapes its input to rows of `columns` elements. Errors: kLiteMemoryFailed.
  Status AddRows(const std::string &name, int64_t columns, int32_t input, int32_t output, int32_t *index);

 private:
  Graph *graph_;
};
}  // namespace mslite

#endif
