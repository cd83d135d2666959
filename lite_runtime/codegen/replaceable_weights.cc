#include "codegen/replaceable_weights.h"

#include <algorithm>

#include "model/message.h"
#include "schema/ops_generated.h"

namespace mslite::codegen {
namespace {
namespace schema = mindspore::schema;

constexpr uint32_t kCrcPolynomial = 0xedb88320U;

/// Returns the inputs that are weights if they are float32 constants, as a bit mask: bit i is input i.
uint32_t WeightInputs(int32_t op) {
  switch (op) {
    case MSLITE_OP_Gather:
      return 1;
    case MSLITE_OP_BiasAdd:
    case MSLITE_OP_PReLUFusion:
      return 2;
    case MSLITE_OP_AddFusion:
    case MSLITE_OP_SubFusion:
    case MSLITE_OP_MulFusion:
    case MSLITE_OP_DivFusion:
      return 3;
    case MSLITE_OP_Conv2DFusion:
    case MSLITE_OP_Conv2dTransposeFusion:
    case MSLITE_OP_FullConnection:
    case MSLITE_OP_ScaleFusion:
    case MSLITE_OP_LayerNormFusion:
    case MSLITE_OP_InstanceNorm:
    case MSLITE_OP_ChannelsLastInstanceNorm:
    case MSLITE_OP_BatchNorm:
      return 6;
    case MSLITE_OP_MatMulFusion:
      return 7;
    case MSLITE_OP_LSTM:
      return 14;
    case MSLITE_OP_FusedBatchNorm:
    case MSLITE_OP_GRU:
      return 30;
    default:
      return 0;
  }
}

bool IsNamed(const std::string &name, const std::string &wanted) {
  return name.compare(0, wanted.size(), wanted) == 0 && (name.size() == wanted.size() || name[wanted.size()] == '/');
}

/// Whether a tensor is float32 in the file. Quantized weights become float32 when they are loaded, but are not
/// replaceable.
bool IsFloat32InFile(const Graph &graph, int32_t tensor) {
  const auto *tensors = schema::GetMetaGraph(graph.file->data())->allTensors();
  return tensors != nullptr && static_cast<uint32_t>(tensor) < tensors->size() &&
         tensors->Get(static_cast<uint32_t>(tensor))->dataType() == MSLITE_FLOAT32;
}

ReplaceableWeights AllOf(const Graph &graph) {
  ReplaceableWeights all;
  const SubGraph &main = graph.subgraphs[0];
  for (const int32_t index : main.nodes) {
    const Node &node = graph.nodes[static_cast<size_t>(index)];
    const uint32_t places = WeightInputs(node.op);
    for (size_t i = 0; i < node.inputs.size() && places >> i != 0; ++i) {
      if ((places >> i & 1) == 0 || node.inputs[i] < 0) continue;
      const Tensor &tensor = graph.tensors[static_cast<size_t>(node.inputs[i])];
      const bool is_output = std::find(main.outputs.begin(), main.outputs.end(), node.inputs[i]) != main.outputs.end();
      const bool is_weight = tensor.is_constant && tensor.type == MSLITE_FLOAT32 && tensor.size != 0 && !is_output;
      if (is_weight && IsFloat32InFile(graph, node.inputs[i])) all[tensor.name] = &tensor;
    }
  }
  return all;
}

std::string Joined(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}
}  // namespace

Status FindReplaceableWeights(const Graph &graph, const std::vector<std::string> &wanted, ReplaceableWeights *weights) {
  const ReplaceableWeights all = AllOf(graph);
  std::vector<std::string> known;
  for (const auto &[name, tensor] : all) known.push_back(name);
  std::vector<std::string> unknown;
  for (const std::string &one : wanted) {
    if (std::none_of(known.begin(), known.end(), [&](const std::string &name) { return IsNamed(name, one); })) {
      unknown.push_back(one);
    }
  }
  if (!unknown.empty() || all.empty()) {
    return Fail(mindspore::kLiteInputParamInvalid,
                (unknown.empty() ? "keep_original_weight: "
                                 : "changeable_weights_name: " + Joined(unknown) + " is not a float32 weight; ") +
                    (all.empty() ? "the model has no float32 weights, and quantized ones are not replaceable"
                                 : "the float32 weights of the model are " + Joined(known)));
  }
  for (const auto &[name, tensor] : all) {
    const auto is_wanted = [&name = name](const std::string &one) { return IsNamed(name, one); };
    if (wanted.empty() || std::any_of(wanted.begin(), wanted.end(), is_wanted)) weights->emplace(name, tensor);
  }
  return mindspore::kSuccess;
}

uint32_t SignatureOf(const ReplaceableWeights &weights) {
  std::string text;
  for (const auto &[name, tensor] : weights) {
    text.append(name.c_str(), name.size() + 1);
    for (size_t i = 0; i < tensor->dims.size(); ++i) text += (i == 0 ? "" : "x") + std::to_string(tensor->dims[i]);
    text += '\n';
  }
  uint32_t crc = ~0U;
  for (const char byte : text) {
    crc ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (kCrcPolynomial & (0U - (crc & 1U)));
  }
  return ~crc;
}

}  // namespace mslite::codegen
