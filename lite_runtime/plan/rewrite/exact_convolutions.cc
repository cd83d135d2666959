#include "plan/rewrite/exact_convolutions.h"

#include <algorithm>
#include <string>
#include <utility>

#include "model/dequantize.h"
#include "model/loader.h"

namespace mslite {
namespace {
enum : uint8_t { kX = 0, kWeight = 1, kBias = 2 };
constexpr int64_t kExact = 1 << 24;  // float32 represents all integers up to 2^24

/// The sums of a convolution.
struct Sums {
  int64_t channels = 0;
  int64_t terms = 0;
  int32_t activation = 0;
  bool has_one_scale = false;  // supports only one scale
};

int64_t At(const mslite_longs &list, int64_t index) { return list.count > index ? list.at[index] : 1; }

/// Returns how many taps of `kernel` contribute to one output, in one dimension.
int64_t Meeting(int64_t kernel, int64_t stride, int64_t dilation) {
  return dilation == 1 && stride > 0 ? (kernel + stride - 1) / stride : kernel;
}

Sums SumsOf(const Graph &graph, const Node &node) {
  const std::vector<int64_t> &dims = graph.tensors[static_cast<size_t>(node.inputs[kWeight])].dims;
  Sums sums;
  if (node.params == nullptr || dims.size() != 4 || *std::min_element(dims.begin(), dims.end()) < 1) return sums;
  if (node.op == MSLITE_OP_Conv2DFusion) {
    const auto *params = static_cast<const mslite_Conv2DFusion *>(node.params);
    if (params->group != dims[0] || dims[3] != 1) return sums;
    sums.terms = dims[1] * dims[2];
    sums.channels = dims[0];
    sums.activation = params->activation_type;
  } else if (node.op == MSLITE_OP_Conv2dTransposeFusion) {
    const auto *params = static_cast<const mslite_Conv2dTransposeFusion *>(node.params);
    if (params->group != 1) return sums;
    sums.terms = Meeting(dims[1], At(params->stride, 0), At(params->dilation, 0)) *
                 Meeting(dims[2], At(params->stride, 1), At(params->dilation, 1)) * dims[0];
    sums.channels = dims[3];
    sums.activation = params->activation_type;
    // Before 1.8 the quantization parameters belonged to the input channels.
    sums.has_one_scale = graph.version < Version{1, 8, 0};
  }
  return sums;
}

bool KeepsImagesOnly(const mslite_DynamicQuant &rounding) {
  if (!rounding.activation_channel) return true;
  const mslite_ints &axes = rounding.prefer_axes;
  if (axes.count == 0) return mslite_normalize_axis(rounding.prefer_axis, 4) == 0;
  return axes.count == 1 && mslite_normalize_axis(axes.at[0], 4) == 0;
}
}  // namespace

bool ExactConvolutions::Fits(const Node &node, const Node &rounding) const {
  if (node.inputs.size() < 2 || node.inputs.size() > 3 || node.outputs.size() != 1) return false;
  if (node.inputs[kX] != rounding.outputs[0] || node.inputs[kWeight] < 0) return false;
  const Tensor &weight = TensorAt(node.inputs[kWeight]);
  if (!weight.is_constant || weight.type != MSLITE_INT8 || weight.quant.empty() || HasCorrections(weight)) return false;
  const bool is_symmetric = std::all_of(weight.quant.begin(), weight.quant.end(),
                                        [](const mslite_quant &record) { return record.zero_point == 0; });
  if (!QuantParamsProblem(weight).empty() || !is_symmetric) return false;
  const Sums sums = SumsOf(*graph_, node);
  const auto &params = *static_cast<const mslite_DynamicQuant *>(rounding.params);
  const int64_t largest = (params.symmetric ? INT8_MAX : UINT8_MAX) * (INT8_MAX + 1);
  if (sums.terms < 1 || sums.terms > kExact / largest || !KeepsImagesOnly(params)) return false;
  if (sums.activation != MSLITE_ACTIVATION_TYPE_NO_ACTIVATION && sums.activation != MSLITE_ACTIVATION_TYPE_RELU &&
      sums.activation != MSLITE_ACTIVATION_TYPE_RELU6) {
    return false;
  }
  const auto scales = static_cast<int64_t>(weight.quant.size());
  if (scales != 1 && (sums.has_one_scale || scales != sums.channels)) return false;
  if (node.inputs.size() <= kBias || node.inputs[kBias] < 0) return true;
  const Tensor &bias = TensorAt(node.inputs[kBias]);
  return bias.is_constant && bias.type == MSLITE_FLOAT32 && bias.dims == std::vector<int64_t>{sums.channels};
}

int32_t ExactConvolutions::AddRounding(const Node &rounding) {
  const std::string name = TensorAt(rounding.outputs[0]).name;
  Rounding made = {rounding, new_.AddValue(name + "_steps", MSLITE_FLOAT32),
                   new_.AddValue(name + "_steps_scale", MSLITE_FLOAT32)};
  auto *params = graph_->arena.Make<mslite_DynamicQuant>();
  *params = *static_cast<const mslite_DynamicQuant *>(rounding.params);
  params->dst_type = MSLITE_FLOAT32;
  Node node = rounding;
  node.params = params;
  node.primitive = nullptr;
  node.outputs = {made.steps, made.scale, new_.AddValue(name + "_steps_zero", MSLITE_INT8)};
  roundings_[rounding.outputs[0]] = std::move(made);
  return new_.AddNode(std::move(node));
}

bool ExactConvolutions::CanMultiply(const Node &node) const {
  if (node.inputs.empty()) return false;
  const auto place = roundings_.find(node.inputs[kX]);
  return place != roundings_.end() && Fits(node, place->second.node);
}

Status ExactConvolutions::AddWeight(const Tensor &weight, int32_t *index) {
  const uint8_t *from = weight.data;
  const size_t count = weight.size;
  uint8_t *data = nullptr;
  MSLITE_TRY(new_.AddConstant(weight.name, MSLITE_FLOAT32, weight.dims, &data, index));
  for (size_t i = 0; i < count; ++i)
    reinterpret_cast<float *>(data)[i] = static_cast<float>(static_cast<int8_t>(from[i]));
  return mindspore::kSuccess;
}

const void *ExactConvolutions::WithoutActivation(const Node &node) {
  if (node.op == MSLITE_OP_Conv2DFusion) {
    auto *params = graph_->arena.Make<mslite_Conv2DFusion>();
    *params = *static_cast<const mslite_Conv2DFusion *>(node.params);
    params->activation_type = MSLITE_ACTIVATION_TYPE_NO_ACTIVATION;
    return params;
  }
  auto *params = graph_->arena.Make<mslite_Conv2dTransposeFusion>();
  *params = *static_cast<const mslite_Conv2dTransposeFusion *>(node.params);
  params->activation_type = MSLITE_ACTIVATION_TYPE_NO_ACTIVATION;
  return params;
}

Status ExactConvolutions::Multiply(int32_t index, std::vector<int32_t> *nodes) {
  Node product = graph_->nodes[static_cast<size_t>(index)];
  const Rounding &rounding = roundings_.at(product.inputs[kX]);
  const std::string name = product.name;
  const int32_t y = product.outputs[0];
  const int32_t bias = product.inputs.size() > kBias ? product.inputs[kBias] : -1;
  const int32_t activation = SumsOf(*graph_, product).activation;
  const Tensor source = TensorAt(product.inputs[kWeight]);
  int32_t weight = 0;
  int32_t scales = 0;
  MSLITE_TRY(AddWeight(source, &weight));
  MSLITE_TRY(new_.AddScales(source, &scales));
  const int32_t sums = new_.AddValue(name + "_sum", MSLITE_FLOAT32);
  const int32_t scale = new_.AddValue(name + "_scale", MSLITE_FLOAT32);
  const int32_t scaled = bias < 0 ? y : new_.AddValue(name + "_scaled", MSLITE_FLOAT32);
  const auto multiply = [&](const std::string &label, int32_t a, int32_t b, int32_t result, bool is_last) {
    Node node;
    node.name = label;
    node.op = MSLITE_OP_MulFusion;
    auto *params = graph_->arena.Make<mslite_MulFusion>();
    if (is_last) params->activation_type = activation;
    node.params = params;
    node.inputs = {a, b};
    node.outputs = {result};
    nodes->push_back(new_.AddNode(std::move(node)));
  };
  product.params = WithoutActivation(product);
  product.primitive = nullptr;
  product.quant_type = 0;
  product.inputs = {rounding.steps, weight};
  product.outputs = {sums};
  graph_->nodes[static_cast<size_t>(index)] = std::move(product);
  nodes->push_back(index);
  multiply(name + "_scale", rounding.scale, scales, scale, false);
  multiply(name + "_scaled", sums, scale, scaled, bias < 0);
  if (bias < 0) return mindspore::kSuccess;
  Node add;
  add.name = name + "_bias";
  add.op = MSLITE_OP_AddFusion;
  auto *params = graph_->arena.Make<mslite_AddFusion>();
  params->activation_type = activation;
  add.params = params;
  add.inputs = {scaled, bias};
  add.outputs = {y};
  nodes->push_back(new_.AddNode(std::move(add)));
  return mindspore::kSuccess;
}
}  // namespace mslite
