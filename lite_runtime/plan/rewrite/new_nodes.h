// Tensors and nodes that a rewriting of the graph adds.
#ifndef MSLITE_PLAN_REWRITE_NEW_NODES_H
#define MSLITE_PLAN_REWRITE_NEW_NODES_H

#include <string>
#include <vector>

#include "model/graph.h"

namespace mslite {
class MSLITE_INTERNAL_API NewNodes {
 public:
  explicit NewNodes(Graph *graph) : graph_(graph) {}

  /// Indices of what is added. The shapes of tensors are found when the plan is made.
  int32_t Add(Tensor tensor);
  int32_t AddValue(const std::string &name, int32_t type);
  int32_t AddLike(int32_t tensor, int32_t type, const std::string &suffix);  // of its shape, named after it
  int32_t AddNode(Node node);

  /// A constant whose contents are still to be written. Errors: kLiteMemoryFailed.
  Status AddConstant(const std::string &name, int32_t type, std::vector<int64_t> dims, uint8_t **data, int32_t *index);

  /// float32 [1 or channels]: the scales of the tensor's records. Errors: kLiteMemoryFailed.
  Status AddScales(const Tensor &weight, int32_t *index);

  /// A node that only applies the function.
  int32_t AddActivation(const std::string &name, int32_t activation, int32_t input, int32_t output);

  /// A node that makes rows of `columns` elements of its input. Errors: kLiteMemoryFailed.
  Status AddRows(const std::string &name, int64_t columns, int32_t input, int32_t output, int32_t *index);

 private:
  Graph *graph_;
};
}  // namespace mslite

#endif
