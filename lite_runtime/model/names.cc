#include "model/names.h"

#include <cstring>

namespace mslite {
namespace {
constexpr int16_t kNumbers[] = {
#define X(number, name, custom_type) number,
#include "op_names.inc"
#undef X
};
// One string in the order of the numbers: pointers would take more memory than the names.
constexpr char kOperatorNames[] =
#define X(number, name, custom_type) #name "\0"
#include "op_names.inc"
#undef X
    ;

struct NamedType {
  int16_t type;
  char name[14];
};
constexpr NamedType kTypes[] = {
    {MSLITE_UNKNOWN, "unknown"},   {MSLITE_STRING, "string"},       {MSLITE_TENSOR_LIST, "tensor list"},
    {MSLITE_BOOL, "bool"},         {MSLITE_INT8, "int8"},           {MSLITE_INT16, "int16"},
    {MSLITE_INT, "int32"},         {MSLITE_INT32, "int32"},         {MSLITE_INT64, "int64"},
    {MSLITE_UINT8, "uint8"},       {MSLITE_UINT16, "uint16"},       {MSLITE_UINT, "uint32"},
    {MSLITE_UINT32, "uint32"},     {MSLITE_UINT64, "uint64"},       {MSLITE_FLOAT16, "float16"},
    {MSLITE_FLOAT, "float32"},     {MSLITE_FLOAT32, "float32"},     {MSLITE_FLOAT64, "float64"},
    {MSLITE_BFLOAT16, "bfloat16"}, {MSLITE_COMPLEX64, "complex64"}, {MSLITE_COMPLEX128, "complex128"},
};
}  // namespace

std::string OperatorName(int32_t op) {
  const char *name = kOperatorNames;
  for (const int16_t number : kNumbers) {
    if (number == op) return name;
    name += std::strlen(name) + 1;
  }
  return "operator " + std::to_string(op);
}

std::string TypeName(int32_t type) {
  for (const NamedType &known : kTypes) {
    if (known.type == type) return known.name;
  }
  return "type " + std::to_string(type);
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
