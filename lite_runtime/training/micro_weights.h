// Writes weights for generated C.
#ifndef MSLITE_TRAINING_MICRO_WEIGHTS_H
#define MSLITE_TRAINING_MICRO_WEIGHTS_H

#include <vector>

#include "api/trainer.h"

namespace mslite {
// Returns the bytes of net<i>.bin for C that was generated with keep_original_weight, from the bytes of a `.ms` file
// for inference: the weights ordered by name, float32 or float16, and their signature. Errors: kLiteInputParamInvalid
// for names that are not weights; kLiteParamInvalid for finite values beyond float16.
Status WriteMicroWeights(const std::vector<uint8_t> &model, const MicroWeightSettings &settings,
                         std::vector<uint8_t> *weights);
}  // namespace mslite

#endif
