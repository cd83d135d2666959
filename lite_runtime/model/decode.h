// Decodes constants that are packed, or quantized although their node computes in float. Few models need this code.
#ifndef MSLITE_MODEL_DECODE_H
#define MSLITE_MODEL_DECODE_H

#include "model/loader.h"

namespace mslite {
/// Returns the bits of one value of the constant, according to its quantization parameters.
inline int32_t PackedBits(const schema::Tensor &source) {
  const auto *records = source.quantParams();
  const bool has_record = records != nullptr && records->size() > 0 && records->Get(0) != nullptr;
  return has_record ? records->Get(0)->numBits() : 8;
}
/// Returns whether values of this width are packed without gaps.
inline bool HasOddBits(int32_t bits) { return bits >= 1 && bits < 16 && bits != 8; }

/// Returns whether the bytes of the constant are not its elements, or are indices of a code book.
bool IsPacked(const schema::Tensor &source);
/// Unpacks a constant. Errors: kLiteGraphFileError, kLiteNotSupport, kLiteMemoryFailed.
Status UnpackConstant(Loader *loader, const schema::Tensor &source, Tensor *tensor);

/// Returns whether input `i` of a node with quantized weights must become float32. Matrices are left to
/// ExpandQuantized, because some kernels read them as they are stored.
bool IsQuantizedWeight(const Graph &graph, const Node &node, size_t i);
/// Dequantizes the weights of nodes with quantized weights that compute in float32. Errors: those of Dequantizer.
Status DequantizeWeights(Graph *graph);

using UnpackFunction = decltype(&UnpackConstant);
extern "C" const UnpackFunction mslite_part_unpacking[1];
using DequantizeFunction = decltype(&DequantizeWeights);
extern "C" const DequantizeFunction mslite_part_weights[1];
}  // namespace mslite

#endif
