// Converts packed and quantized constants to the form that kernels read.
#include <algorithm>

#include "model/decode.h"
#include "model/dequantize.h"
#include "model/half.h"
#include "model/parts.h"

namespace mslite {
namespace {
constexpr int32_t kQuantWeight = 4;

Status WidenHalf(Loader *loader, Tensor *tensor) {
  const auto count = static_cast<int64_t>(tensor->size / 2);
  uint8_t *data = nullptr;
  MSLITE_TRY(AllocateConstant(loader->graph, tensor->name, count, 4, &data));
  const auto *source = reinterpret_cast<const uint16_t *>(tensor->data);
  std::transform(source, source + count, reinterpret_cast<float *>(data), HalfToFloat);
  tensor->data = data;
  tensor->size = static_cast<size_t>(count) * 4;
  tensor->type = MSLITE_FLOAT32;
  return mindspore::kSuccess;
}
}  // namespace

bool HasPackedBytes(const schema::Tensor &source) {
  const auto packing = source.weightQuantCompressType();
  const bool is_plain =
      packing == schema::WeightQuantCompressType_NONE || packing == schema::WeightQuantCompressType_BITPACKING;
  return !is_plain || source.enableHuffmanCode() || HasOddBits(PackedBits(source));
}

bool IsPacked(const schema::Tensor &source) {
  const auto *clusters = source.quantClusters();
  return HasPackedBytes(source) || (clusters != nullptr && clusters->size() > 0);
}

bool IsQuantizedWeight(const Graph &graph, const Node &node, size_t i) {
  if (node.quant_type != kQuantWeight) return false;
  const Tensor &tensor = graph.tensors[static_cast<size_t>(node.inputs[i])];
  const bool is_integer = IsQuantizedIntegerType(tensor.type) || tensor.type == MSLITE_INT32;
  if (!tensor.is_constant || tensor.quant.empty() || !is_integer) return false;
  const bool is_product = node.op == MSLITE_OP_MatMulFusion || node.op == MSLITE_OP_FullConnection;
  return !is_product || i != 1 || tensor.type != MSLITE_INT8;
}

Status DecodeConstants(Loader *loader) {
  Graph *graph = loader->graph;
  const auto *sources = loader->meta->allTensors();
  for (flatbuffers::uoffset_t i = 0; i < sources->size(); ++i) {
    Tensor &tensor = graph->tensors[i];
    if (!tensor.is_constant) continue;
    if (tensor.data == nullptr) {  // no elements
      if (tensor.type == MSLITE_FLOAT16) tensor.type = MSLITE_FLOAT32;
      continue;
    }
    if (const schema::Tensor &source = *sources->Get(i); IsPacked(source)) {
      const auto unpack = mslite_part_unpacking[0];
      MSLITE_TRY(RequirePart(Part::kUnpacking, unpack != nullptr, "constant '" + tensor.name + "'", graph));
      MSLITE_TRY(unpack(loader, source, &tensor));
    }
    if (tensor.type == MSLITE_FLOAT16) MSLITE_TRY(WidenHalf(loader, &tensor));
  }
  for (const Node &node : graph->nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!IsQuantizedWeight(*graph, node, i)) continue;
      const auto dequantize = mslite_part_weights[0];
      MSLITE_TRY(RequirePart(Part::kWeights, dequantize != nullptr, Describe(node), graph));
      return dequantize(graph);  // dequantizes for all nodes
    }
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
