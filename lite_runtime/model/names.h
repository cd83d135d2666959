// Names of operators and data types for messages, and kinds of data types.
#ifndef MSLITE_MODEL_NAMES_H
#define MSLITE_MODEL_NAMES_H

#include <string>

#include "kernel.h"
#include "model/internal_api.h"

namespace mslite {

/// Returns the name, such as "Conv2DFusion"; "operator 4711" if the number is not declared.
MSLITE_INTERNAL_API std::string OperatorName(int32_t op);

/// Returns NumPy's name, such as "float32"; "type 99" if the number is not declared.
MSLITE_INTERNAL_API std::string TypeName(int32_t type);

/// Returns "float32[1,?,3]"; "float32[...]" if the rank is unknown.
MSLITE_INTERNAL_API std::string TensorText(const mslite_tensor &tensor);

/// Returns true for the data types of quantized values: 8-bit and 16-bit integers.
inline bool IsQuantizedIntegerType(int32_t type) {
  return type == MSLITE_INT8 || type == MSLITE_UINT8 || type == MSLITE_INT16 || type == MSLITE_UINT16;
}

}  // namespace mslite

#endif
