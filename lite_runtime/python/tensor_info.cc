#include "tensor_info.h"

#include <cstring>
#include <string>

#include "model/names.h"
#include "plan/shapes.h"

namespace mslite::python {

namespace {

mslite_tensor ToTensor(const TensorInfo &info) {
  mslite_tensor tensor = UnknownTensor();
  tensor.type = info.dtype;
  if (info.dims) {
    if (info.dims->size() > MSLITE_MAX_RANK) {
      throw nb::value_error(
          ("rank " + std::to_string(info.dims->size()) + " exceeds " + std::to_string(int{MSLITE_MAX_RANK})).c_str());
    }
    tensor.rank = static_cast<int32_t>(info.dims->size());
    for (size_t i = 0; i < info.dims->size(); ++i) {
      const int64_t dim = tensor.dims[i] = (*info.dims)[i];
      if (dim < 0 && !mslite_is_symbol(dim)) {
        throw nb::value_error(("dimension " + std::to_string(dim) + " is neither a size nor a symbol").c_str());
      }
    }
  }
  if (info.known && info.known->size() <= MSLITE_MAX_KNOWN) {
    tensor.known_count = static_cast<int32_t>(info.known->size());
    for (size_t i = 0; i < info.known->size(); ++i) tensor.known[i] = (*info.known)[i];
  }
  return tensor;
}

}  // namespace

TensorViews::TensorViews(const std::vector<TensorInfo> &infos) {
  quants_.reserve(infos.size());
  for (const TensorInfo &info : infos) {
    mslite_tensor tensor = ToTensor(info);
    if (!info.data.is_none() && mslite_type_size(tensor.type) != 0) {
      const Buffer &bytes = buffers_.emplace_back(info.data);
      const int64_t count = mslite_element_count(&tensor);
      if (count < 0 ||
          static_cast<size_t>(count) != bytes.size() / static_cast<size_t>(mslite_type_size(tensor.type)) ||
          bytes.size() % static_cast<size_t>(mslite_type_size(tensor.type)) != 0) {
        throw nb::value_error(
            (std::to_string(bytes.size()) + " bytes is not the size of " + TensorText(tensor)).c_str());
      }
      tensor.data = bytes.data();
      FillKnown(&tensor);
    }
    std::vector<mslite_quant> &quant = quants_.emplace_back();
    for (const auto &[scale, zero_point, source_type] : info.quant)
      quant.push_back({scale, zero_point, source_type, info.rounds_even ? 1 : 0});
    tensor.quant_count = static_cast<int32_t>(quant.size());
    tensor.quant = quant.empty() ? nullptr : quant.data();
    tensors.push_back(tensor);
  }
}

std::vector<const mslite_tensor *> TensorViews::Pointers() const {
  std::vector<const mslite_tensor *> pointers;
  for (const mslite_tensor &tensor : tensors) pointers.push_back(&tensor);
  return pointers;
}

TensorInfo ToInfo(const mslite_tensor &tensor) {
  TensorInfo info;
  info.dtype = tensor.type;
  if (tensor.rank >= 0) info.dims.emplace(tensor.dims, tensor.dims + tensor.rank);
  if (tensor.known_count >= 0) info.known.emplace(tensor.known, tensor.known + tensor.known_count);
  return info;
}

nb::object EmptyArray(const mslite_tensor &tensor) {
  const bool has_numpy_type = mslite_type_size(tensor.type) != 0 && tensor.type != MSLITE_BFLOAT16;
  if (!has_numpy_type) throw nb::type_error(("NumPy has no type " + TypeName(tensor.type)).c_str());
  nb::list shape;
  for (int32_t i = 0; i < tensor.rank; ++i) shape.append(tensor.dims[i]);
  return nb::module_::import_("numpy").attr("empty")(nb::tuple(shape), TypeName(tensor.type));
}

}  // namespace mslite::python
