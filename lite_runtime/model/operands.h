// How many operands an operator must have.
#ifndef MSLITE_MODEL_OPERANDS_H
#define MSLITE_MODEL_OPERANDS_H

#include <cstdint>

#include "model/internal_api.h"

namespace mslite {
/// Least number of operands that an operator must have; -1 for an operator that is not declared.
MSLITE_INTERNAL_API int32_t LeastInputs(int32_t op);
MSLITE_INTERNAL_API int32_t LeastOutputs(int32_t op);
}  // namespace mslite

#endif
