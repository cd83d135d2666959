#include "plan/rewrite/residual_adds.h"

#include <algorithm>
#include <utility>

#include "model/loader.h"
#include "plan/rewrite/new_nodes.h"

namespace mslite {
namespace {
enum : uint8_t { kWeight = 1, kBias = 2 };

class Finder {
 public:
  explicit Finder(Graph *graph) : graph_(graph), new_(graph), uses_(graph->tensors.size(), 0) {
    const auto count = [this](const std::vector<int32_t> &tensors) {
      for (const int32_t tensor : tensors) ++uses_[static_cast<size_t>(tensor)];
    };
    count(graph->outputs);
    for (const SubGraph &subgraph : graph->subgraphs) {
      count(subgraph.outputs);
      for (const int32_t node : subgraph.nodes) count(NodeAt(node).inputs);
    }
  }

  Status Find(SubGraph *subgraph) {
    std::vector<int32_t> producer(uses_.size(), -1);  // of tensors that are read once: a convolution without activation
    for (const int32_t index : subgraph->nodes) {
      const Node &node = NodeAt(index);
      if (IsPlainConvolution(node) && uses_[static_cast<size_t>(node.outputs[0])] == 1) {
        producer[static_cast<size_t>(node.outputs[0])] = index;
      }
      if (!IsSum(node)) continue;
      for (size_t i = 0; i < 2; ++i) {
        const int32_t convolution = producer[static_cast<size_t>(node.inputs[i])];
        if (convolution < 0) continue;
        Fusion fusion = {convolution, index, {}};
        MSLITE_TRY(MakeCall(NodeAt(convolution), node, node.inputs[1 - i], &fusion.call));
        subgraph->fusions.push_back(std::move(fusion));
      }
    }
    return mindspore::kSuccess;
  }

 private:
  const Node &NodeAt(int32_t index) const { return graph_->nodes[static_cast<size_t>(index)]; }
  const Tensor &TensorAt(int32_t index) const { return graph_->tensors[static_cast<size_t>(index)]; }

  static bool IsPlain(const Node &node, int32_t op) {
    return node.op == op && node.params != nullptr && node.quant_type == 0 && node.problem.empty() &&
           node.outputs.size() == 1;
  }

  bool IsPlainConvolution(const Node &node) const {
    if (!IsPlain(node, MSLITE_OP_Conv2DFusion) || node.inputs.size() < 2 || node.inputs.size() > 3) return false;
    const auto &params = *static_cast<const mslite_Conv2DFusion *>(node.params);
    const Tensor &weight = TensorAt(node.inputs[kWeight]);
    const bool has_bias = node.inputs.size() > kBias;
    return params.activation_type == MSLITE_ACTIVATION_TYPE_NO_ACTIVATION && params.group >= 0 && params.group <= 1 &&
           weight.type == MSLITE_FLOAT32 && (has_bias || (weight.dims.size() == 4 && weight.dims[0] > 0));
  }

  static bool IsSum(const Node &node) { return IsPlain(node, MSLITE_OP_AddFusion) && node.inputs.size() == 2; }

  Status MakeCall(const Node &convolution, const Node &sum, int32_t residual, Node *call) {
    const auto &from = *static_cast<const mslite_Conv2DFusion *>(convolution.params);
    auto *params = graph_->arena.Make<mslite_Conv2DAddFusion>();
    params->format = from.format;
    params->kernel_size = from.kernel_size;
    params->stride = from.stride;
    params->dilation = from.dilation;
    params->pad_mode = from.pad_mode;
    params->pad_list = from.pad_list;
    params->group = 1;
    params->activation_type = static_cast<const mslite_AddFusion *>(sum.params)->activation_type;
    call->name = convolution.name;
    call->op = MSLITE_OP_Conv2DAddFusion;
    call->params = params;
    call->inputs = convolution.inputs;
    if (call->inputs.size() == kBias) {
      int32_t bias = 0;
      MSLITE_TRY(AddNoBias(convolution, &bias));
      call->inputs.push_back(bias);
    }
    call->inputs.push_back(residual);
    call->outputs = sum.outputs;
    return mindspore::kSuccess;
  }

  // Adds a bias of -0, which does not change any sum.
  Status AddNoBias(const Node &convolution, int32_t *index) {
    const int64_t channels = TensorAt(convolution.inputs[kWeight]).dims[0];
    uint8_t *data = nullptr;
    MSLITE_TRY(new_.AddConstant(convolution.name + "_bias", MSLITE_FLOAT32, {channels}, &data, index));
    std::fill_n(reinterpret_cast<float *>(data), channels, -0.0F);
    return mindspore::kSuccess;
  }

  Graph *graph_;
  NewNodes new_;
  std::vector<int32_t> uses_;  // per tensor of the file, in all subgraphs
};
}  // namespace

Status FindResidualAdds(Graph *graph) {
  Finder finder(graph);
  for (SubGraph &subgraph : graph->subgraphs) MSLITE_TRY(finder.Find(&subgraph));
  return mindspore::kSuccess;
}
}  // namespace mslite
