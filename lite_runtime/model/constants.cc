// Constants in packed or quantised form, rewritten to what kernels read.
#include <algorithm>

#include "model/half.h"
#include "model/loader.h"

namespace mslite {
namespace {
constexpr int32_t kQuantWeight = 4;

const char *PackingName(const schema::Tensor &source) {
  switch (source.weightQuantCompressType()) {
    case schema::WeightQuantCompressType_INDEXING:
      return "INDEXING";
    case schema::WeightQuantCompressType_SPARSE:
      return "SPARSE";
    case schema::WeightQuantCompressType_FSE:
      return "FSE";
    case schema::WeightQuantCompressType_FSE_INT:
      return "FSE_INT";
    case schema::WeightQuantCompressType_FSE_INFER:
      return "FSE_INFER";
    case schema::WeightQuantCompressType_NONE:
    case schema::WeightQuantCompressType_BITPACKING:
      return source.enableHuffmanCode() ? "Huffman" : nullptr;
    default:
      return "unknown";
  }
}

int32_t Bits(const schema::Tensor &source) {
  const auto *records = source.quantParams();
  return records == nullptr || records->size() == 0 ? 8 : records->Get(0)->numBits();
}

// Adds memory for a rewritten constant to the graph.
Status Allocate(Loader *loader, const Tensor &tensor, int64_t count, int64_t element, uint8_t **data) {
  AlignedBuffer buffer = count > INT64_MAX / element ? nullptr : MakeAligned(static_cast<size_t>(count * element));
  if (buffer == nullptr) {
    return Fail(mindspore::kLiteMemoryFailed, "no memory to decode the constant '" + tensor.name + "'");
  }
  *data = buffer.get();
  loader->graph->decoded.push_back(std::move(buffer));
  return mindspore::kSuccess;
}

// Values of `bits` bits, offset by 2^(bits-1), least significant bit first, to int8 or int16.
Status UnpackBits(Loader *loader, int32_t bits, Tensor *tensor) {
  int64_t count = 0;
  if (!CountElements(tensor->dims, &count)) return loader->Error("constant '" + tensor->name + "': unknown size");
  if (tensor->type != MSLITE_INT8 && tensor->type != MSLITE_INT16) {
    return loader->Error("constant '" + tensor->name + "': bit-packed " + TypeName(tensor->type));
  }
  if (count > INT64_MAX / 16 || static_cast<uint64_t>(count * bits + 7) / 8 > tensor->size) {
    return loader->Error(Format("constant '%.200s': %lld values of %d bits need more than its %zu bytes",
                                tensor->name.c_str(), static_cast<long long>(count), static_cast<int>(bits),
                                tensor->size));
  }
  const int64_t element = mslite_type_size(tensor->type);
  uint8_t *data = nullptr;
  MSLITE_TRY(Allocate(loader, *tensor, count, element, &data));
  // Words of 8 and of 16 little-endian bits give the same stream of bits.
  uint32_t window = 0;
  int32_t available = 0;
  const uint8_t *source = tensor->data;
  for (int64_t i = 0; i < count; ++i) {
    while (available < bits) {
      window |= static_cast<uint32_t>(*source++) << available;
      available += 8;
    }
    const int32_t value = static_cast<int32_t>(window & ((1u << bits) - 1)) - (1 << (bits - 1));
    window >>= bits;
    available -= bits;
    if (element == 1) {
      reinterpret_cast<int8_t *>(data)[i] = static_cast<int8_t>(value);
    } else {
      reinterpret_cast<int16_t *>(data)[i] = static_cast<int16_t>(value);
    }
  }
  tensor->data = data;
  tensor->size = static_cast<size_t>(count * element);
  return mindspore::kSuccess;
}

Status WidenHalf(Loader *loader, Tensor *tensor) {
  const auto count = static_cast<int64_t>(tensor->size / 2);
  uint8_t *data = nullptr;
  MSLITE_TRY(Allocate(loader, *tensor, count, 4, &data));
  const auto *source = reinterpret_cast<const uint16_t *>(tensor->data);
  std::transform(source, source + count, reinterpret_cast<float *>(data), HalfToFloat);
  tensor->data = data;
  tensor->size = static_cast<size_t>(count) * 4;
  tensor->type = MSLITE_FLOAT32;
  return mindspore::kSuccess;
}

// The dimension that per-channel records of input `input` belong to.
int32_t ChannelAxis(const Graph &graph, const Node &node, size_t input, int32_t rank) {
  const bool is_old = graph.version < Version{1, 6, 0};
  if (node.op == MSLITE_OP_MatMulFusion && input < 2) {
    const auto *params = static_cast<const mslite_MatMulFusion *>(node.params);
    const bool transposed = input == 0 ? params->transpose_a : params->transpose_b;
    const int32_t rows = is_old ? 0 : rank - 2;
    const int32_t columns = is_old ? 1 : rank - 1;
    return (input == 0) == transposed ? columns : rows;
  }
  if (node.op == MSLITE_OP_Conv2dTransposeFusion && !(graph.version < Version{1, 8, 0})) {
    const auto *params = static_cast<const mslite_Conv2dTransposeFusion *>(node.params);
    const bool is_depthwise = params->group == params->in_channel && params->group == params->out_channel;
    return is_depthwise ? 0 : rank - 1;
  }
  if (node.op == MSLITE_OP_Gather && !is_old && node.inputs.size() > 2) {
    const Tensor &axis = graph.tensors[static_cast<size_t>(node.inputs[2])];
    if (axis.is_constant && axis.type == MSLITE_INT32 && axis.size >= 4) {
      return mslite_normalize_axis(*reinterpret_cast<const int32_t *>(axis.data), rank);
    }
  }
  return 0;
}

int64_t StoredValue(const Tensor &tensor, int64_t index) {
  switch (tensor.type) {
    case MSLITE_INT8:
      return reinterpret_cast<const int8_t *>(tensor.data)[index];
    case MSLITE_INT16:
      return reinterpret_cast<const int16_t *>(tensor.data)[index];
    default:
      return reinterpret_cast<const int32_t *>(tensor.data)[index];
  }
}

// real = scale * (q - zero point), per channel then * varCorr + meanCorr.
Status Dequantize(Loader *loader, const Node &node, const schema::Tensor &source, int32_t axis, Tensor *tensor) {
  int64_t count = 0;
  if (!CountElements(tensor->dims, &count)) return loader->Error("constant '" + tensor->name + "': unknown size");
  const size_t records = tensor->quant.size();
  int64_t channels = 1;
  int64_t inner = count;
  if (records > 1) {
    if (axis < 0 || axis >= static_cast<int32_t>(tensor->dims.size()) ||
        static_cast<uint64_t>(tensor->dims[static_cast<size_t>(axis)]) != records) {
      return loader->Error(Describe(node) + Format(": %zu quantisation records do not fit its constant '%.200s'",
                                                   records, tensor->name.c_str()));
    }
    channels = static_cast<int64_t>(records);
    inner = 1;
    for (size_t i = static_cast<size_t>(axis) + 1; i < tensor->dims.size(); ++i) inner *= tensor->dims[i];
  }
  uint8_t *data = nullptr;
  MSLITE_TRY(Allocate(loader, *tensor, count, 4, &data));
  auto *values = reinterpret_cast<float *>(data);
  for (int64_t i = 0; i < count; ++i) {
    const auto channel = static_cast<size_t>(inner == 0 ? 0 : i / inner % channels);
    const mslite_quant &quant = tensor->quant[channel];
    double value = quant.scale * static_cast<double>(StoredValue(*tensor, i) - quant.zero_point);
    if (records > 1 && source.quantParams()->size() == records) {
      const auto *record = source.quantParams()->Get(static_cast<flatbuffers::uoffset_t>(channel));
      const double correction = record->varCorr();
      value = value * (correction < 0 || correction > 10 ? 1 : correction) + static_cast<double>(record->meanCorr());
    }
    values[i] = static_cast<float>(value);
  }
  tensor->data = data;
  tensor->size = static_cast<size_t>(count) * 4;
  tensor->type = MSLITE_FLOAT32;
  tensor->quant.clear();
  return mindspore::kSuccess;
}

Status DequantizeInputs(Loader *loader, Node *node) {
  Graph &graph = *loader->graph;
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    const int32_t index = node->inputs[i];
    const Tensor &original = graph.tensors[static_cast<size_t>(index)];
    const bool is_integer =
        original.type == MSLITE_INT8 || original.type == MSLITE_INT16 || original.type == MSLITE_INT32;
    if (!original.is_constant || original.quant.empty() || !is_integer) continue;
    const int32_t axis = ChannelAxis(graph, *node, i, static_cast<int32_t>(original.dims.size()));
    const auto [place, is_new] =
        loader->dequantized.try_emplace({index, axis}, static_cast<int32_t>(graph.tensors.size()));
    if (is_new) {
      Tensor decoded = original;
      const auto *source = loader->meta->allTensors()->Get(static_cast<flatbuffers::uoffset_t>(index));
      MSLITE_TRY(Dequantize(loader, *node, *source, axis, &decoded));
      graph.tensors.push_back(std::move(decoded));
    }
    node->inputs[i] = place->second;
  }
  return mindspore::kSuccess;
}
}  // namespace

Status DecodeConstants(Loader *loader) {
  const auto *sources = loader->meta->allTensors();
  for (flatbuffers::uoffset_t i = 0; i < sources->size(); ++i) {
    Tensor &tensor = loader->graph->tensors[i];
    if (!tensor.is_constant || tensor.data == nullptr) continue;
    const schema::Tensor &source = *sources->Get(i);
    if (const char *packing = PackingName(source); packing != nullptr) {
      return loader->Unsupported("constant '" + tensor.name + "': weights packed as " + packing + " are not supported");
    }
    if (source.quantClusters() != nullptr && source.quantClusters()->size() > 0) {
      return loader->Unsupported("constant '" + tensor.name + "': a k-means code book is not supported");
    }
    const int32_t bits = Bits(source);
    if ((bits >= 1 && bits < 8) || (bits > 8 && bits < 16)) MSLITE_TRY(UnpackBits(loader, bits, &tensor));
    if (tensor.type == MSLITE_FLOAT16) MSLITE_TRY(WidenHalf(loader, &tensor));
  }
  for (Node &node : loader->graph->nodes) {
    if (node.quant_type == kQuantWeight) MSLITE_TRY(DequantizeInputs(loader, &node));
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
