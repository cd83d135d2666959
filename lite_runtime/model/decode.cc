#include "model/decode.h"

#include <algorithm>

#include "model/dequantize.h"
#include "model/packing.h"

namespace mslite {
namespace {
constexpr int64_t kMaximumUnpacked = INT32_MAX;  // bytes: the largest constant of a file without packing

using Unpacker = std::string (*)(const PackedConstant &, uint8_t *);

std::string UnpackIntegers(const PackedConstant &packed, uint8_t *target) {
  return UnpackEntropy(packed, true, target);
}

std::string UnpackFloats(const PackedConstant &packed, uint8_t *target) { return UnpackEntropy(packed, false, target); }

// Finds the function that unpacks the constant; nullptr if it is not packed.
Status FindUnpacker(const Loader &loader, const schema::Tensor &source, const Tensor &tensor, Unpacker *unpacker) {
  const int32_t bits = PackedBits(source);
  switch (source.weightQuantCompressType()) {
    case schema::WeightQuantCompressType_INDEXING:
      *unpacker = UnpackIndexed;
      break;
    case schema::WeightQuantCompressType_SPARSE:
      *unpacker = UnpackSparse;
      break;
    case schema::WeightQuantCompressType_FSE:
    case schema::WeightQuantCompressType_FSE_INFER:
      *unpacker = UnpackFloats;
      break;
    case schema::WeightQuantCompressType_FSE_INT:
      *unpacker = UnpackIntegers;
      break;
    case schema::WeightQuantCompressType_NONE:
    case schema::WeightQuantCompressType_BITPACKING:
      *unpacker = source.enableHuffmanCode() ? UnpackHuffman : HasOddBits(bits) ? UnpackBits : nullptr;
      break;
    default:
      return loader.Unsupported("constant '" + tensor.name + "': unknown packing");
  }
  return mindspore::kSuccess;
}

Status Unpack(Loader *loader, const schema::Tensor &source, Unpacker unpacker, Tensor *tensor) {
  const std::string label = "constant '" + tensor->name + "': ";
  const bool is_float = unpacker == UnpackFloats;
  if (!is_float && tensor->type != MSLITE_INT8 && tensor->type != MSLITE_INT16) {
    return loader->Error(label + "packed " + TypeName(tensor->type));
  }
  PackedConstant packed;
  packed.data = tensor->data;
  packed.size = tensor->size;
  packed.bits = PackedBits(source);
  packed.element = tensor->type == MSLITE_INT16 ? 2 : 1;
  for (const mslite_quant &record : tensor->quant) packed.zero_points.push_back(record.zero_point);
  const int64_t element = is_float ? 4 : packed.element;
  if (!CountElements(tensor->dims, &packed.count)) return loader->Error(label + "unknown size");
  if (packed.count > kMaximumUnpacked / element) return loader->Unsupported(label + "2 GiB or more when unpacked");
  if (std::any_of(packed.zero_points.begin(), packed.zero_points.end(),
                  [&](int32_t zero) { return !FitsElement(packed.element, zero); })) {
    return loader->Error(label + QuantParamsProblem(*tensor));
  }
  uint8_t *data = nullptr;
  MSLITE_TRY(AllocateConstant(loader->graph, tensor->name, packed.count, element, &data));
  if (const std::string error = unpacker(packed, data); !error.empty()) return loader->Error(label + error);
  tensor->data = data;
  tensor->size = static_cast<size_t>(packed.count * element);
  if (is_float) {  // the unpacked values are floats already
    tensor->type = MSLITE_FLOAT32;
    tensor->quant.clear();
    tensor->corrections.clear();
  }
  return mindspore::kSuccess;
}

// Replaces k-means indices by the values of their code book: value = clusters[index + 128].
Status LookUp(Loader *loader, const flatbuffers::Vector<float> &clusters, Tensor *tensor) {
  if (tensor->type != MSLITE_INT8)
    return loader->Error("constant '" + tensor->name + "': has a code book, but is not int8");
  const auto *indices = reinterpret_cast<const int8_t *>(tensor->data);
  const auto count = static_cast<int64_t>(tensor->size);
  uint8_t *data = nullptr;
  MSLITE_TRY(AllocateConstant(loader->graph, tensor->name, count, 4, &data));
  for (int64_t i = 0; i < count; ++i) {
    const auto entry = static_cast<flatbuffers::uoffset_t>(indices[i] + 128);
    if (entry >= clusters.size()) {
      return loader->Error(Format("constant '%.200s': entry %u of a code book of %u entries", tensor->name.c_str(),
                                  entry, clusters.size()));
    }
    reinterpret_cast<float *>(data)[i] = clusters.Get(entry);
  }
  tensor->data = data;
  tensor->size = static_cast<size_t>(count) * 4;
  tensor->type = MSLITE_FLOAT32;
  tensor->quant.clear();
  tensor->corrections.clear();
  return mindspore::kSuccess;
}
}  // namespace

Status UnpackConstant(Loader *loader, const schema::Tensor &source, Tensor *tensor) {
  Unpacker unpacker = nullptr;
  MSLITE_TRY(FindUnpacker(*loader, source, *tensor, &unpacker));
  if (unpacker != nullptr) MSLITE_TRY(Unpack(loader, source, unpacker, tensor));
  const auto *clusters = source.quantClusters();
  return clusters == nullptr || clusters->size() == 0 ? mindspore::kSuccess : LookUp(loader, *clusters, tensor);
}

Status DequantizeWeights(Graph *graph) {
  Dequantizer dequantizer(graph);
  for (Node &node : graph->nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (IsQuantizedWeight(*graph, node, i)) MSLITE_TRY(dequantizer.Constant(node, i, &node.inputs[i]));
    }
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
