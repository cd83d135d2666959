// Limits of a run and cancellation from another thread. mslite extension.
#ifndef MSLITE_INCLUDE_MSLITE_RUN_CONTROL_H_
#define MSLITE_INCLUDE_MSLITE_RUN_CONTROL_H_

#include <cstdint>
#include <memory>

#include "include/api/context.h"
#include "include/api/model.h"

namespace mslite {

// Limits of one Predict; 0: no limit. They protect a program from model files with endless loops.
struct RunLimits {
  int64_t steps = 0;         // number of operators and calls of subgraphs
  int64_t milliseconds = 0;  // wall time
  int64_t bytes = 0;         // memory of activations and outputs; 0: the memory of the machine
};

// Sets the limits of all models that are built with this context afterwards. A run that reaches a limit ends between
// two operators: Predict returns kLiteServiceDeny, or kLiteMemoryFailed for the limit of memory. The model can run
// again.
// Errors: kLiteNullptr without a context; kLiteParamInvalid for negative limits.
MS_API mindspore::Status SetRunLimits(const std::shared_ptr<mindspore::Context> &context, const RunLimits &limits);

// Cancels the current Predict of a model, from any thread or from a callback. The Predict returns kLiteServiceDeny
// before its next operator. Returns false if the model is not running. Waiting requests of PredictAsync are not
// canceled.
MS_API bool CancelPredict(const mindspore::Model &model);

}  // namespace mslite

#endif  // MSLITE_INCLUDE_MSLITE_RUN_CONTROL_H_
