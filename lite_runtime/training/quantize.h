// Weights of exported files as 8-bit integers.
#ifndef MSLITE_TRAINING_QUANTIZE_H
#define MSLITE_TRAINING_QUANTIZE_H

#include "include/api/status.h"

namespace mindspore::schema {
struct MetaGraphT;
}

namespace mslite {
using mindspore::Status;

// Quantizes the float32 weights of convolutions and products, where that makes the file smaller: symmetrically, by the
// largest magnitude of each output channel where `per_channel`, or of the whole weight. Nodes that read one compute in
// float32 still. Errors: kLiteParamInvalid for a weight that is not finite.
Status QuantizeWeights(bool per_channel, mindspore::schema::MetaGraphT *model);
}  // namespace mslite

#endif
