// Extracts the part of MindSpore's training graphs that inference needs.
#include <algorithm>
#include <string>

#include "model/load.h"
#include "model/optimizers.h"

namespace mslite {
namespace {
// Returns whether the node is an optimizer that updates its inputs in place, because it does not output all its states.
bool ChangesOperands(const Node &node) {
  const OptimizerOperands *optimizer = FindOptimizer(node.op);
  return optimizer != nullptr && node.outputs.size() <= static_cast<size_t>(optimizer->state_count);
}

// Returns whether inference may apply this operator to the loss's input: to get probabilities, or another layout.
bool ShowsResults(int32_t op) {
  return op == MSLITE_OP_Softmax || op == MSLITE_OP_Activation || op == MSLITE_OP_Transpose ||
         op == MSLITE_OP_Squeeze || op == MSLITE_OP_Reshape;
}

constexpr int kMaxShown = 4;  // limit for the number of such nodes

// If a loss reads logits, or channels in the last dimension, inference returns the result of such nodes: of the last
// one, if no node reads it.
int32_t AsGiven(const Graph &graph, int32_t result, const std::vector<std::string> &loss_names) {
  const SubGraph &main = graph.subgraphs[0];
  const auto node_at = [&graph](int32_t index) -> const Node & { return graph.nodes[static_cast<size_t>(index)]; };
  const auto shows = [&](int32_t tensor) {
    return std::find_if(main.nodes.begin(), main.nodes.end(), [&](int32_t index) {
      const Node &node = node_at(index);
      const bool is_first = !node.inputs.empty() && node.inputs[0] == tensor;
      return is_first && ShowsResults(node.op) && !IsLoss(node, loss_names) &&
             node.name.find("Gradients") == std::string::npos;
    });
  };
  int32_t given = result;
  for (int step = 0; step < kMaxShown; ++step) {
    const auto next = shows(given);
    if (next == main.nodes.end()) break;
    given = node_at(*next).outputs[0];
  }
  const auto reads = [&](int32_t index) {
    const std::vector<int32_t> &inputs = node_at(index).inputs;
    return std::find(inputs.begin(), inputs.end(), given) != inputs.end();
  };
  const bool is_output = std::find(main.outputs.begin(), main.outputs.end(), given) != main.outputs.end();
  return is_output || std::any_of(main.nodes.begin(), main.nodes.end(), reads) ? result : given;
}

// Converts a layer to its inference form: Dropout without its seed copies its input; masks and statistics that no node
// reads are removed.
void KeepFirst(const std::vector<uint8_t> &is_used, Node *node) {
  if (node->op == MSLITE_OP_Dropout && !node->inputs.empty()) node->inputs.resize(1);
  if (node->op != MSLITE_OP_Dropout && node->op != MSLITE_OP_FusedBatchNorm && node->op != MSLITE_OP_LayerNormFusion) {
    return;
  }
  while (node->outputs.size() > 1 && !is_used[static_cast<size_t>(node->outputs.back())]) node->outputs.pop_back();
}
}  // namespace

std::vector<std::string> DefaultLossNames() { return {"loss_fct", "_loss_fn", "SigmoidCrossEntropy"}; }

bool IsLoss(const Node &node, const std::vector<std::string> &loss_names) {
  const auto named = [&node](const std::string &text) { return node.name.find(text) != std::string::npos; };
  return std::any_of(loss_names.begin(), loss_names.end(), named) && !named("Gradients");
}

std::vector<int32_t> InferenceOutputs(const std::vector<std::string> &loss_names, const Graph &graph) {
  const SubGraph &main = graph.subgraphs[0];
  const auto node_at = [&graph](int32_t index) -> const Node & { return graph.nodes[static_cast<size_t>(index)]; };
  if (graph.subgraphs.size() != 1 || std::none_of(main.nodes.begin(), main.nodes.end(),
                                                  [&](int32_t index) { return ChangesOperands(node_at(index)); })) {
    return {};
  }
  // Graph inputs, results of the loss, and results found so far.
  std::vector<uint8_t> is_inner(graph.tensors.size(), 0);
  for (const int32_t input : main.inputs) is_inner[static_cast<size_t>(input)] = 1;
  for (const int32_t index : main.nodes) {
    if (!IsLoss(node_at(index), loss_names)) continue;
    for (const int32_t output : node_at(index).outputs) is_inner[static_cast<size_t>(output)] = 1;
  }
  std::vector<int32_t> results;
  for (const int32_t index : main.nodes) {
    if (!IsLoss(node_at(index), loss_names)) continue;
    for (const int32_t input : node_at(index).inputs) {
      const auto at = static_cast<size_t>(input);
      if (is_inner[at] || graph.tensors[at].is_constant) continue;
      is_inner[at] = 1;
      results.push_back(input);
    }
  }
  for (int32_t &result : results) result = AsGiven(graph, result, loss_names);
  return results;
}

void PruneToInference(const std::vector<std::string> &loss_names, Graph *graph) {
  const std::vector<int32_t> results = InferenceOutputs(loss_names, *graph);
  if (results.empty()) return;
  SubGraph &main = graph->subgraphs[0];
  const auto node_at = [graph](int32_t index) -> const Node & { return graph->nodes[static_cast<size_t>(index)]; };
  std::vector<uint8_t> is_used(graph->tensors.size(), 0);
  for (const int32_t result : results) is_used[static_cast<size_t>(result)] = 1;
  std::vector<int32_t> kept;
  for (auto index = main.nodes.rbegin(); index != main.nodes.rend(); ++index) {
    const Node &node = node_at(*index);
    const auto is_read = [&is_used](int32_t output) { return is_used[static_cast<size_t>(output)] != 0; };
    if (std::none_of(node.outputs.begin(), node.outputs.end(), is_read)) continue;
    kept.push_back(*index);
    KeepFirst(is_used, &graph->nodes[static_cast<size_t>(*index)]);
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
