// Quantizes the weights of exported files to 8 bits.
#ifndef MSLITE_TRAINING_QUANTIZE_H
#define MSLITE_TRAINING_QUANTIZE_H

#include "include/api/status.h"

namespace mindspore::schema {
struct MetaGraphT;
}

namespace mslite {
using mindspore::Status;

// Quantizes the float32 weights of convolutions and matmuls symmetrically if that makes the file smaller: with one
// scale per output channel if `per_channel`, or one for the whole weight. Nodes that read the weights still compute in
// float32. Errors: kLiteParamInvalid for a weight that is not finite.
Status QuantizeWeights(bool per_channel, mindspore::schema::MetaGraphT *model);
}  // namespace mslite

#endif
