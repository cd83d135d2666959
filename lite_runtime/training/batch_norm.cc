#include "training/batch_norm.h"

#include <algorithm>

#include "plan/rewrite/new_nodes.h"

namespace mslite {
void RepeatBatchNorm(int32_t node, Graph *graph) {
  Node &norm = graph->nodes[static_cast<size_t>(node)];
  const auto *settings = static_cast<const mslite_FusedBatchNorm *>(norm.params);
  auto *params = graph->arena.Make<mslite_BatchNormTraining>();
  params->epsilon = settings->epsilon;
  params->momentum = settings->momentum;
  // For matrices MindSpore Lite keeps the biased variance.
  const Tensor &x = graph->tensors[static_cast<size_t>(norm.inputs[0])];
  params->biased = x.has_rank && x.dims.size() == 2;
  norm.op = MSLITE_OP_BatchNormTraining;
  norm.params = params;
  norm.primitive = nullptr;
}

void TrainBatchNorm(int32_t node, std::map<int32_t, int32_t> *latest, Graph *graph) {
  RepeatBatchNorm(node, graph);
  Node &norm = graph->nodes[static_cast<size_t>(node)];
  for (size_t i = 1; i <= 2; ++i) {
    const int32_t copy = norm.outputs[i], operand = norm.inputs[i];
    for (Node &reader : graph->nodes) std::replace(reader.inputs.begin(), reader.inputs.end(), copy, operand);
    int32_t &statistic = norm.inputs[i + 2];
    const int32_t made = NewNodes(graph).AddLike(statistic, MSLITE_FLOAT32, "/next");
    const int32_t running = statistic;
    if (const auto before = latest->find(running); before != latest->end()) statistic = before->second;
    (*latest)[running] = norm.outputs[i] = made;
  }
}

void UseBatchStatistics(Graph *graph) {
  const Version &version = graph->version;
  const bool is_old = version.major == 1 && version.minor <= 3;
  for (Node &node : graph->nodes) {
    if (!is_old || node.op != MSLITE_OP_BatchNormGrad || node.params == nullptr) continue;
    auto *params = graph->arena.Make<mslite_BatchNormGrad>();
    *params = *static_cast<const mslite_BatchNormGrad *>(node.params);
    params->is_training = 1;
    node.params = params;
  }
}
}  // namespace mslite
