// Weights that generated C reads unpacked (keep_original_weight), so that they can be replaced at run time.
#ifndef MSLITE_CODEGEN_REPLACEABLE_WEIGHTS_H
#define MSLITE_CODEGEN_REPLACEABLE_WEIGHTS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/graph.h"

namespace mslite::codegen {

/// Weights by name. They are contiguous in net<i>.bin, in this order.
using ReplaceableWeights = std::map<std::string, const Tensor *>;

/// Finds the float32 constants that nodes of the main graph read as weights. `wanted`: names of weights, or their
/// beginnings up to a '/'; empty: all. Errors: kLiteInputParamInvalid for names that are not weights, and for models
/// without weights.
Status FindReplaceableWeights(const Graph &graph, const std::vector<std::string> &wanted, ReplaceableWeights *weights);

/// Returns the signature after the weights in net<i>.bin: zlib's CRC-32 of "<name>\0<size>x<size>\n" of each weight. It
/// detects weights of another model or in another order.
uint32_t SignatureOf(const ReplaceableWeights &weights);

}  // namespace mslite::codegen

#endif
