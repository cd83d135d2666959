// The number of inputs and outputs that an operator must have.
#ifndef MSLITE_MODEL_OPERANDS_H
#define MSLITE_MODEL_OPERANDS_H

#include <cstdint>

#include "model/internal_api.h"

namespace mslite {
/// Return the least number of inputs or outputs of an operator; -1 if the operator is not declared.
MSLITE_INTERNAL_API int32_t MinInputs(int32_t op);
MSLITE_INTERNAL_API int32_t MinOutputs(int32_t op);
}  // namespace mslite

#endif
