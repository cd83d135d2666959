#include "plan/rewrite/needed_passes.h"

#include <algorithm>

#include "model/parts.h"
#include "plan/quantized.h"

namespace mslite {
namespace {
template <typename Predicate>
bool AnyOperand(const Graph &graph, const Node &node, const Predicate &holds) {
  for (const std::vector<int32_t> *list : {&node.inputs, &node.outputs}) {
    const bool found = std::any_of(list->begin(), list->end(), [&](int32_t index) {
      return index >= 0 && holds(graph.tensors[static_cast<size_t>(index)]);
    });
    if (found) return true;
  }
  return false;
}

// Returns the first node of all subgraphs for which `needs` is true, or nullptr.
const Node *First(const Graph &graph, bool (*needs)(const Graph &graph, const Node &node)) {
  for (const SubGraph &subgraph : graph.subgraphs) {
    for (const int32_t index : subgraph.nodes) {
      const Node &node = graph.nodes[static_cast<size_t>(index)];
      if (needs(graph, node)) return &node;
    }
  }
  return nullptr;
}

bool ComputesOnIntegers(const Graph &graph, const Node &node) {
  return node.op == MSLITE_OP_DynamicQuant || HasQuantizedOperands(graph, node);
}
}  // namespace

bool HasQuantizedOperands(const Graph &graph, const Node &node) {
  const bool is_quantized = IsQuantizedKind(node.quant_type);
  return AnyOperand(graph, node, [&](const Tensor &tensor) {
    return IsQuantizedIntegerType(tensor.type) && (is_quantized || !tensor.quant.empty());
  });
}

bool HasOtherTypes(const Graph &graph, const Node &node) {
  return AnyOperand(graph, node, [](const Tensor &tensor) {
    return !tensor.is_constant && tensor.type != MSLITE_FLOAT32 && tensor.quant.empty();
  });
}

Status ExpandQuantizedIfNeeded(Graph *graph) {
  const Node *node = First(*graph, ComputesOnIntegers);
  if (node == nullptr) return mindspore::kSuccess;
  const auto expand = mslite_part_integers[0];
  MSLITE_TRY(RequirePart(Part::kIntegers, expand != nullptr, Describe(*node), graph));
  return expand(graph);
}

Status ExpandTypesIfNeeded(Graph *graph, const std::function<bool(const Node &)> &keeps) {
  const Node *node = First(*graph, HasOtherTypes);
  if (node == nullptr) return mindspore::kSuccess;
  const auto expand = mslite_part_types[0];
  MSLITE_TRY(RequirePart(Part::kTypes, expand != nullptr, Describe(*node), graph));
  return expand(graph, keeps);
}
}  // namespace mslite
