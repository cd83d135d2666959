#include "training/mixed_precision.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "plan/rewrite/new_nodes.h"

namespace mslite {
namespace {
constexpr float kMinScale = 1.0f;
constexpr float kLargestScale = 65536.0f;

bool IsNamed(const Node &node, const std::vector<std::string> &fragments) {
  return std::any_of(fragments.begin(), fragments.end(),
                     [&node](const std::string &fragment) { return node.name.find(fragment) != std::string::npos; });
}

// Returns whether the node belongs to a loss: by its name, or because the operator computes a loss.
bool IsOfLoss(const Node &node, const std::vector<std::string> &loss_names) {
  switch (node.op) {
    case MSLITE_OP_SoftmaxCrossEntropyWithLogits:
    case MSLITE_OP_SparseSoftmaxCrossEntropyWithLogits:
    case MSLITE_OP_SigmoidCrossEntropyWithLogits:
    case MSLITE_OP_SigmoidCrossEntropyWithLogitsGrad:
    case MSLITE_OP_SmoothL1Loss:
    case MSLITE_OP_SmoothL1LossGrad:
    case MSLITE_OP_BinaryCrossEntropy:
    case MSLITE_OP_BinaryCrossEntropyGrad:
    case MSLITE_OP_NLLLoss:
    case MSLITE_OP_NLLLossGrad:
      return true;
    default:
      return IsNamed(node, loss_names);
  }
}

bool IsBatchNorm(int32_t op) {
  return op == MSLITE_OP_BatchNorm || op == MSLITE_OP_FusedBatchNorm || op == MSLITE_OP_BatchNormGrad ||
         op == MSLITE_OP_BatchNormTraining;
}

// Returns the tensors that the losses are computed from.
std::set<int32_t> UsedByLosses(const TrainingGraph &training) {
  const SubGraph &main = training.graph->subgraphs[0];
  std::set<int32_t> used(main.outputs.begin(), main.outputs.begin() + static_cast<std::ptrdiff_t>(training.loss_count));
  for (auto index = main.nodes.rbegin(); index != main.nodes.rend(); ++index) {
    const Node &node = training.graph->nodes[static_cast<size_t>(*index)];
    const bool is_used = std::any_of(node.outputs.begin(), node.outputs.end(),
                                     [&used](int32_t output) { return used.count(output) != 0; });
    if (is_used) used.insert(node.inputs.begin(), node.inputs.end());
  }
  return used;
}

// Adds a variable with the initial value 1, and sets `read` to its value.
int32_t AddVariable(const std::string &variable, Graph *graph, int32_t *read) {
  static const float kOne = 1.0f;
  NewNodes made(graph);
  Tensor first;
  first.name = variable;
  first.type = MSLITE_FLOAT32;
  first.has_rank = first.is_constant = true;
  first.data = reinterpret_cast<const uint8_t *>(&kOne);
  first.size = sizeof kOne;
  const int32_t constant = made.Add(std::move(first));
  const int32_t value = made.AddLike(constant, MSLITE_FLOAT32, "/read");
  char *name = graph->arena.MakeArray<char>(variable.size() + 1);
  std::memcpy(name, variable.c_str(), variable.size());
  Node node;
  node.name = variable + "/read";
  node.op = MSLITE_OP_ReadVariable;
  auto *params = graph->arena.Make<mslite_ReadVariable>();
  params->variable = name;
  node.params = params;
  node.inputs = {constant};
  node.outputs = {value};
  *read = made.AddNode(std::move(node));
  return value;
}
}  // namespace

Status CheckMixedPrecision(const mindspore::TrainCfg &config) {
  switch (config.optimization_level_) {
    case mindspore::kO0:
    case mindspore::kO2:
    case mindspore::kO3:
    case mindspore::kAuto:
      break;
    default:
      return Fail(mindspore::kLiteParamInvalid, "TrainCfg::optimization_level_: must be kO0, kO2, kO3 or kAuto");
  }
  const float scale = config.mix_precision_cfg_.loss_scale_;
  if (std::isfinite(scale) && scale > 0.0f) return mindspore::kSuccess;
  return Fail(mindspore::kLiteParamInvalid, "TrainCfg::mix_precision_cfg_.loss_scale_: must be above 0");
}

bool IsMixed(const mindspore::TrainCfg &config, bool prefers_half) {
  if (config.mix_precision_cfg_.is_raw_mix_precision_) return false;  // its file contains the complete configuration
  if (config.optimization_level_ == mindspore::kAuto) return prefers_half;
  return config.optimization_level_ != mindspore::kO0;
}

std::shared_ptr<const NodeTypes> FloatNodes(const Graph &graph, const std::vector<std::string> &loss_names,
                                            mindspore::OptimizationLevel level) {
  auto types = std::make_shared<NodeTypes>();
  for (const Node &node : graph.nodes) {
    const bool is_optimizer = node.name.find("optimizer") != std::string::npos;
    const bool is_kept = IsBatchNorm(node.op) && level != mindspore::kO3;
    if (is_optimizer || is_kept || IsOfLoss(node, loss_names)) (*types)[node.name] = MSLITE_FLOAT32;
  }
  return types;
}

Status ScaleLoss(const std::vector<std::string> &loss_names, const std::string &variable, TrainingGraph *training) {
  Graph &graph = *training->graph;
  const auto node_at = [&graph](int32_t index) -> Node & { return graph.nodes[static_cast<size_t>(index)]; };
  const std::set<int32_t> forward = UsedByLosses(*training);
  const auto is_backward = [&](const Node &node) {
    return !IsOfLoss(node, loss_names) &&
           std::none_of(node.outputs.begin(), node.outputs.end(),
                        [&forward](int32_t output) { return forward.count(output) != 0; });
  };
  std::vector<int32_t> nodes;
  nodes.emplace_back();
  const int32_t scale = AddVariable(variable, &graph, &nodes[0]);
  const std::vector<int32_t> before = graph.subgraphs[0].nodes;
  std::set<int32_t> scaled;  // tensor -> scaled
  for (const int32_t index : before) {
    nodes.push_back(index);
    const std::vector<int32_t> outputs = node_at(index).outputs;
    const std::vector<int32_t> &operands = node_at(index).inputs;
    if (std::any_of(operands.begin(), operands.end(), [&](int32_t input) { return scaled.count(input) != 0; })) {
      scaled.insert(outputs.begin(), outputs.end());
      continue;
    }
    if (!IsOfLoss(node_at(index), loss_names)) continue;
    for (const int32_t output : outputs) {
      if (graph.tensors[static_cast<size_t>(output)].type != MSLITE_FLOAT32) continue;
      std::vector<int32_t> readers;
      for (const int32_t reader : before) {
        const std::vector<int32_t> &inputs = node_at(reader).inputs;
        const bool reads = std::find(inputs.begin(), inputs.end(), output) != inputs.end();
        if (reads && is_backward(node_at(reader))) readers.push_back(reader);
      }
      if (readers.empty()) continue;
      Node product;
      product.name = graph.tensors[static_cast<size_t>(output)].name + "/" + loss_names[0] + "/scaled";
      product.op = MSLITE_OP_MulFusion;
      product.params = graph.arena.Make<mslite_MulFusion>();
      const int32_t result = NewNodes(&graph).AddLike(output, MSLITE_FLOAT32, "/scaled");
      product.inputs = {output, scale};
      product.outputs = {result};
      scaled.insert(result);
      nodes.push_back(NewNodes(&graph).AddNode(std::move(product)));
      for (const int32_t reader : readers) {
        std::vector<int32_t> &inputs = node_at(reader).inputs;
        std::replace(inputs.begin(), inputs.end(), output, result);
      }
    }
  }
  if (nodes.size() == before.size() + 1) {
    return Fail(mindspore::kLiteGraphFileError,
                "file '" + graph.file->name() +
                    "': no gradient comes from a node of the loss, so that the loss cannot be scaled; "
                    "train without mixed precision (TrainCfg::optimization_level_ = kO0)");
  }
  graph.subgraphs[0].nodes = std::move(nodes);
  return mindspore::kSuccess;
}

void LossScale::Follow(bool are_finite) {
  if (!config_.dynamic_loss_scale_) return;
  if (!are_finite) {
    value_ = std::max(value_ / 2, kMinScale);
    good_ = 0;
  } else if (++good_ >= config_.num_of_not_nan_iter_th_) {
    value_ = std::min(value_ * 2, kLargestScale);
    good_ = 0;
  }
}
}  // namespace mslite
