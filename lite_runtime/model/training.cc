// Training graphs of MindSpore, which a session loads for inference.
#include <algorithm>
#include <string>

#include "model/loader.h"

namespace mslite {
namespace {
// How many results an optimiser has that gives its state, too, in place of changing its operands; 0: no optimiser.
size_t FunctionalResults(int32_t op) {
  switch (op) {
    case MSLITE_OP_ApplyMomentum:
      return 2;
    case MSLITE_OP_Adam:
    case MSLITE_OP_AdamWeightDecay:
    case MSLITE_OP_SGD:
      return 3;
    default:
      return 0;
  }
}

bool IsLoss(const Node &node) {
  const auto named = [&node](const char *text) { return node.name.find(text) != std::string::npos; };
  return (named("loss_fct") || named("_loss_fn") || named("SigmoidCrossEntropy")) && !named("Gradients");
}
}  // namespace

void KeepInference(Graph *graph) {
  SubGraph &main = graph->subgraphs[0];
  const auto node_at = [graph](int32_t index) -> const Node & { return graph->nodes[static_cast<size_t>(index)]; };
  if (graph->subgraphs.size() != 1 || std::none_of(main.nodes.begin(), main.nodes.end(), [&](int32_t index) {
        const Node &node = node_at(index);
        return node.outputs.size() < FunctionalResults(node.op);
      })) {
    return;
  }
  std::vector<uint8_t> is_inner(graph->tensors.size(), 0);  // given to the graph, or made by the loss
  std::vector<uint8_t> is_used(graph->tensors.size(), 0);
  for (const int32_t input : main.inputs) is_inner[static_cast<size_t>(input)] = 1;
  for (const int32_t index : main.nodes) {
    if (!IsLoss(node_at(index))) continue;
    for (const int32_t output : node_at(index).outputs) is_inner[static_cast<size_t>(output)] = 1;
  }
  std::vector<int32_t> results;
  for (const int32_t index : main.nodes) {
    if (!IsLoss(node_at(index))) continue;
    for (const int32_t input : node_at(index).inputs) {
      const auto at = static_cast<size_t>(input);
      if (is_inner[at] || is_used[at] || graph->tensors[at].is_constant) continue;
      is_used[at] = 1;
      results.push_back(input);
    }
  }
  if (results.empty()) return;
  std::vector<int32_t> kept;
  for (auto index = main.nodes.rbegin(); index != main.nodes.rend(); ++index) {
    const Node &node = node_at(*index);
    const auto is_read = [&is_used](int32_t output) { return is_used[static_cast<size_t>(output)] != 0; };
    if (std::none_of(node.outputs.begin(), node.outputs.end(), is_read)) continue;
    kept.push_back(*index);
    for (const int32_t input : node.inputs) is_used[static_cast<size_t>(input)] = 1;
  }
  main.nodes.assign(kept.rbegin(), kept.rend());
  const auto is_unread = [&is_used](int32_t input) { return is_used[static_cast<size_t>(input)] == 0; };
  for (std::vector<int32_t> *inputs : {&main.inputs, &graph->inputs}) {
    inputs->erase(std::remove_if(inputs->begin(), inputs->end(), is_unread), inputs->end());
  }
  main.outputs = results;
  graph->outputs = results;
}
}  // namespace mslite
