#include "model/names.h"

namespace mslite {

std::string OperatorName(int32_t op) {
  switch (op) {
#define X(number, name, custom_type) \
  case number:                       \
    return #name;
#include "op_names.inc"
#undef X
    default:
      return "operator " + std::to_string(op);
  }
}

std::string TypeName(int32_t type) {
  switch (type) {
    case MSLITE_UNKNOWN:
      return "unknown";
    case MSLITE_STRING:
      return "string";
    case MSLITE_TENSOR_LIST:
      return "tensor list";
    case MSLITE_BOOL:
      return "bool";
    case MSLITE_INT8:
      return "int8";
    case MSLITE_INT16:
      return "int16";
    case MSLITE_INT:
    case MSLITE_INT32:
      return "int32";
    case MSLITE_INT64:
      return "int64";
    case MSLITE_UINT8:
      return "uint8";
    case MSLITE_UINT16:
      return "uint16";
    case MSLITE_UINT:
    case MSLITE_UINT32:
      return "uint32";
    case MSLITE_UINT64:
      return "uint64";
    case MSLITE_FLOAT16:
      return "float16";
    case MSLITE_FLOAT:
    case MSLITE_FLOAT32:
      return "float32";
    case MSLITE_FLOAT64:
      return "float64";
    case MSLITE_BFLOAT16:
      return "bfloat16";
    case MSLITE_COMPLEX64:
      return "complex64";
    case MSLITE_COMPLEX128:
      return "complex128";
    default:
      return "type " + std::to_string(type);
  }
}

std::string TensorText(const mslite_tensor &tensor) {
  std::string text = TypeName(tensor.type) + "[";
  if (tensor.rank < 0) return text + "...]";
  for (int32_t i = 0; i < tensor.rank; ++i) {
    if (i > 0) text += ',';
    text += mslite_is_symbol(tensor.dims[i]) ? "?" : std::to_string(tensor.dims[i]);
  }
  return text + "]";
}

}  // namespace mslite
