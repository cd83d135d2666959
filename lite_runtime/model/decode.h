// Constants that are packed, or quantized though their node computes on float values: parts that few models need.
#ifndef MSLITE_MODEL_DECODE_H
#define MSLITE_MODEL_DECODE_H

#include "model/loader.h"

namespace mslite {
/// Of one value of the constant, as its records say.
inline int32_t PackedBits(const schema::Tensor &source) {
  const auto *records = source.quantParams();
  const bool has_record = records != nullptr && records->size() > 0 && records->Get(0) != nullptr;
  return has_record ? records->Get(0)->numBits() : 8;
}
/// True when values of so many bits are packed without gaps.
inline bool HasOddBits(int32_t bits) { return bits >= 1 && bits < 16 && bits != 8; }

/// True when the bytes of the constant are not its elements, or are indices of a code book.
bool IsPacked(const schema::Tensor &source);
/// Gives a packed constant its elements. Errors: kLiteGraphFileError, kLiteNotSupport, kLiteMemoryFailed.
Status UnpackConstant(Loader *loader, const schema::Tensor &source, Tensor *tensor);

/// True when input `i` of a node with quantized weights has to become float32. Matrices wait for ExpandQuantized: there
/// are kernels that read them as they are stored.
bool IsQuantizedWeight(const Graph &graph, const Node &node, size_t i);
/// Gives nodes with quantized weights, which compute in float32, such weights. Errors: those of Dequantizer.
Status DequantizeWeights(Graph *graph);

using UnpackFunction = decltype(&UnpackConstant);
extern "C" const UnpackFunction mslite_part_unpacking[1];
using DequantizeFunction = decltype(&DequantizeWeights);
extern "C" const DequantizeFunction mslite_part_weights[1];
}  // namespace mslite

#endif
