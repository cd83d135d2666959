// Weights for generated C.
#ifndef MSLITE_TRAINING_MICRO_WEIGHTS_H
#define MSLITE_TRAINING_MICRO_WEIGHTS_H

#include <vector>

#include "api/trainer.h"

namespace mslite {
// The bytes of net<i>.bin for C that was made with keep_original_weight: of the bytes of a `.ms` file for inference,
// the weights in the order of their names, float32 or float16, and their signature. Errors: kLiteInputParamInvalid for
// names of no weights; kLiteParamInvalid for finite numbers that are beyond float16.
Status WriteMicroWeights(const std::vector<uint8_t> &model, const MicroWeightSettings &settings,
                         std::vector<uint8_t> *weights);
}  // namespace mslite

#endif
