// Limits of a run, and how another thread ends it. Beyond MindSpore Lite's API.
#ifndef MSLITE_INCLUDE_MSLITE_RUN_CONTROL_H_
#define MSLITE_INCLUDE_MSLITE_RUN_CONTROL_H_

#include <cstdint>
#include <memory>

#include "include/api/context.h"
#include "include/api/model.h"

namespace mslite {

// What one Predict may take; 0: no limit. A model file may hold a loop that never ends.
struct RunLimits {
  int64_t steps = 0;         // operators, and calls of subgraphs
  int64_t milliseconds = 0;  // wall time
  int64_t bytes = 0;         // activations, values and results together; 0: what the machine has
};

// For all models that are built with this context afterwards. A run that reaches a limit ends between two operators:
// Predict returns kLiteServiceDeny, or kLiteMemoryFailed for the last one, and the model can be run again.
// Errors: kLiteNullptr without a context, kLiteParamInvalid for negative limits.
MS_API mindspore::Status SetRunLimits(const std::shared_ptr<mindspore::Context> &context, const RunLimits &limits);

// Ends the Predict of this model that runs at this moment, from any thread (callbacks, too): it returns
// kLiteServiceDeny before its next operator. Returns false, and does nothing, when none runs; requests of PredictAsync
// that still wait are not ended.
MS_API bool CancelPredict(const mindspore::Model &model);

}  // namespace mslite

#endif  // MSLITE_INCLUDE_MSLITE_RUN_CONTROL_H_
