#include "tensors.h"

#include <cstring>
#include <stdexcept>

namespace mslite::python {

void Check(const ms::Status &status) {
  if (status.IsOk()) return;
  const std::string reason = status.GetErrDescription();  // more specific than the name of the code
  throw std::runtime_error(reason.empty() ? status.ToString() : reason);
}

Meta MetaOf(const ms::MSTensor &tensor) {
  return {tensor.Name(), static_cast<int>(tensor.DataType()), tensor.Shape(), static_cast<int64_t>(tensor.format())};
}

std::vector<Meta> MetasOf(const std::vector<ms::MSTensor> &tensors) {
  std::vector<Meta> metas;
  for (const ms::MSTensor &tensor : tensors) metas.push_back(MetaOf(tensor));
  return metas;
}

namespace {
/// Returns NumPy's name of a data type, or nullptr.
const char *NumpyName(ms::DataType type) {
  switch (type) {
    case ms::DataType::kNumberTypeBool:
      return "bool";
    case ms::DataType::kNumberTypeInt8:
      return "int8";
    case ms::DataType::kNumberTypeInt16:
      return "int16";
    case ms::DataType::kNumberTypeInt32:
      return "int32";
    case ms::DataType::kNumberTypeInt64:
      return "int64";
    case ms::DataType::kNumberTypeUInt8:
    case ms::DataType::kObjectTypeString:  // the packed bytes
      return "uint8";
    case ms::DataType::kNumberTypeUInt16:
    case ms::DataType::kNumberTypeBFloat16:  // the bit patterns
      return "uint16";
    case ms::DataType::kNumberTypeUInt32:
      return "uint32";
    case ms::DataType::kNumberTypeUInt64:
      return "uint64";
    case ms::DataType::kNumberTypeFloat16:
      return "float16";
    case ms::DataType::kNumberTypeFloat32:
      return "float32";
    case ms::DataType::kNumberTypeFloat64:
      return "float64";
    case ms::DataType::kNumberTypeComplex64:
      return "complex64";
    case ms::DataType::kNumberTypeComplex128:
      return "complex128";
    default:
      return nullptr;
  }
}
}  // namespace

nb::object EmptyArray(const ms::MSTensor &tensor) {
  const char *name = NumpyName(tensor.DataType());
  if (name == nullptr) {
    throw nb::type_error(("tensor '" + tensor.Name() + "' has data type " +
                          std::to_string(static_cast<int>(tensor.DataType())) + ", which NumPy does not have")
                             .c_str());
  }
  nb::list shape;
  if (tensor.DataType() == ms::DataType::kObjectTypeString) {
    shape.append(tensor.DataSize());
  } else {
    for (const int64_t dim : tensor.Shape()) shape.append(dim);
  }
  return nb::module_::import_("numpy").attr("empty")(nb::tuple(shape), name);
}

nb::object CopyOf(const ms::MSTensor &tensor) {
  nb::object array = EmptyArray(tensor);
  const Buffer copy(array, true);
  if (copy.size() != tensor.DataSize())
    throw std::runtime_error("tensor '" + tensor.Name() + "': the size of its data does not match its shape");
  if (copy.size() != 0) std::memcpy(copy.data(), tensor.Data().get(), copy.size());
  return array;
}

ms::MSTensor Over(const Meta &meta, void *data, size_t bytes) {
  const auto &[name, type, shape, format] = meta;
  ms::MSTensor *made =
      bytes == 0 ? ms::MSTensor::CreateTensor(name, static_cast<ms::DataType>(type), shape, nullptr, 0)
                 : ms::MSTensor::CreateRefTensor(name, static_cast<ms::DataType>(type), shape, data, bytes, false);
  if (made == nullptr) throw std::runtime_error("tensor '" + name + "': invalid type, shape or data");
  ms::MSTensor tensor = *made;
  ms::MSTensor::DestroyTensorPtr(made);
  if (bytes == 0) tensor.SetData(data, false);
  tensor.SetFormat(static_cast<ms::Format>(format));
  return tensor;
}

BorrowedTensors::BorrowedTensors(const std::vector<Value> &values) {
  memory_.reserve(values.size());
  for (const auto &[meta, array] : values) {
    const Buffer &buffer = memory_.emplace_back(array, false);
    tensors_.push_back(Over(meta, buffer.data(), buffer.size()));
  }
}

}  // namespace mslite::python
