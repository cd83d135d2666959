// Weights that generated C reads as the model has them (keep_original_weight), so that others may take their place.
#ifndef MSLITE_CODEGEN_REPLACEABLE_WEIGHTS_H
#define MSLITE_CODEGEN_REPLACEABLE_WEIGHTS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/graph.h"

namespace mslite::codegen {

/// By name, which is their order in net<i>.bin, where nothing is between them.
using ReplaceableWeights = std::map<std::string, const Tensor *>;

/// The float32 constants that nodes of the main graph read as weights. `wanted` are names of some, or their beginnings
/// up to a '/'; none: all. Errors: kLiteInputParamInvalid for a name of no weight, and for a model that has none.
Status FindReplaceableWeights(const Graph &graph, const std::vector<std::string> &wanted, ReplaceableWeights *weights);

/// What stands behind the weights in net<i>.bin: the CRC-32 (as zlib's) of "<name>\0<size>x<size>\n" of each. Weights
/// of another model, or in another order, have another one.
uint32_t SignatureOf(const ReplaceableWeights &weights);

}  // namespace mslite::codegen

#endif
