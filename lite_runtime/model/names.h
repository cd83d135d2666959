// Names of operators and element types, for messages, and kinds of element types.
#ifndef MSLITE_MODEL_NAMES_H
#define MSLITE_MODEL_NAMES_H

#include <string>

#include "kernel.h"
#include "model/internal_api.h"

namespace mslite {

/// "Conv2DFusion"; "operator 4711" for a number that is not declared.
MSLITE_INTERNAL_API std::string OperatorName(int32_t op);

/// "float32", ..., as NumPy spells it; "type 99" for a number that is not declared.
MSLITE_INTERNAL_API std::string TypeName(int32_t type);

/// "float32[1,?,3]"; "float32[...]" when not even the rank is known.
MSLITE_INTERNAL_API std::string TensorText(const mslite_tensor &tensor);

/// The types of quantized values: 8-bit and 16-bit integers.
inline bool IsNarrowType(int32_t type) {
  return type == MSLITE_INT8 || type == MSLITE_UINT8 || type == MSLITE_INT16 || type == MSLITE_UINT16;
}

}  // namespace mslite

#endif
