#include "training/lstm_gradients.h"

#include <algorithm>

#include "plan/rewrite/new_nodes.h"

namespace mslite {
namespace {
constexpr size_t kIntermediate = 3;      // result of LSTM, and input of LSTMGradWeight
constexpr size_t kDataIntermediate = 7;  // input of LSTMGradData

Status Error(const Graph &graph, const Node &node, const std::string &reason) {
  return Fail(mindspore::kLiteGraphFileError, "file '" + graph.file->name() + "': " + Describe(node) + ": " + reason);
}

Status JoinOne(int32_t index, Graph *graph) {
  const auto node_at = [graph](size_t place) -> Node & { return graph->nodes[place]; };
  const auto data = static_cast<size_t>(index);
  if (node_at(data).inputs.size() <= kDataIntermediate || node_at(data).outputs.size() != 3 ||
      node_at(data).params == nullptr) {
    return Error(*graph, node_at(data), "must have 8 inputs and 3 outputs");
  }
  const int32_t kept = node_at(data).inputs[kDataIntermediate];
  const Node *layer = nullptr;
  Node *weight = nullptr;
  for (Node &node : graph->nodes) {
    if (node.op == MSLITE_OP_LSTM && node.inputs.size() == 4 && node.outputs.size() > kIntermediate &&
        node.outputs[kIntermediate] == kept) {
      layer = &node;
    }
    if (node.op == MSLITE_OP_LSTMGradWeight && node.inputs.size() > kIntermediate && node.outputs.size() == 1 &&
        node.inputs[kIntermediate] == kept) {
      weight = &node;
    }
  }
  if (layer == nullptr) {
    return Error(*graph, node_at(data), "no LSTM with flat weights gives the intermediate results that it reads");
  }
  const std::vector<int32_t> from = node_at(data).inputs;
  std::vector<int32_t> outputs = node_at(data).outputs;
  outputs.push_back(NewNodes(graph).AddLike(layer->inputs[3], MSLITE_FLOAT32, "/gradient"));
  if (weight != nullptr) std::swap(outputs.back(), weight->outputs[0]);  // no node reads this output any more
  std::vector<int32_t> inputs = layer->inputs;
  inputs.insert(inputs.end(), {from[0], layer->outputs[1], layer->outputs[2], from[1], from[2], from[3]});
  const auto *given = static_cast<const mslite_LSTMGradData *>(node_at(data).params);
  auto *params = graph->arena.Make<mslite_LSTMGrad>();
  params->bidirectional = given->bidirectional;
  params->has_bias = given->has_bias;
  params->input_size = given->input_size;
  params->hidden_size = given->hidden_size;
  params->num_layers = given->num_layers;
  params->num_directions = given->num_directions;
  params->dropout = given->dropout;
  params->zoneout_cell = given->zoneout_cell;
  params->zoneout_hidden = given->zoneout_hidden;
  Node &joined = node_at(data);
  joined.op = MSLITE_OP_LSTMGrad;
  joined.params = params;
  joined.primitive = nullptr;
  joined.inputs = std::move(inputs);
  joined.outputs = std::move(outputs);
  return mindspore::kSuccess;
}
}  // namespace

Status JoinLstmGradients(Graph *graph) {
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    if (graph->nodes[i].op == MSLITE_OP_LSTMGradData) MSLITE_TRY(JoinOne(static_cast<int32_t>(i), graph));
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
