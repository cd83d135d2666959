#include "opencl/opencl_storage.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "model/half.h"
#include "plan/half_precision.h"

namespace mslite {
std::string DefineOperand(const std::string &name, const char *type, OpenClForm form) {
  constexpr const char *kNames[] = {"array", "half", "image"};
  return "#define TYPE_" + name + " " + type + "\n#define FORM_" + name + " " + kNames[static_cast<int>(form)] + "\n";
}

int64_t BytesPerElement(OpenClForm form, int32_t type) {
  return form == OpenClForm::kHalf ? 2 : mslite_type_size(type);
}

std::vector<uint8_t> RoundToHalf(const float *numbers, size_t count) {
  std::vector<uint8_t> bytes(count * sizeof(uint16_t));
  for (size_t i = 0; i < count; ++i) {
    const uint16_t half = FloatToHalf(numbers[i]);
    std::memcpy(bytes.data() + i * sizeof half, &half, sizeof half);
  }
  return bytes;
}

Status OpenClStorage::ChooseImages(const OpenClDevice::Limits &limits) {
  const char *wanted = std::getenv("MSLITE_OPENCL_STORAGE");
  const std::string storage = wanted != nullptr                                 ? wanted
                              : limits.prefers_images && limits.image_width > 0 ? "image"
                                                                                : "buffer";
  if (storage != "image" && storage != "buffer") {
    return Fail(mindspore::kLiteParamInvalid,
                "OpenCL: MSLITE_OPENCL_STORAGE is '" + storage + "'; it can be 'buffer' or 'image'");
  }
  has_images_ = storage == "image";
  if (!has_images_ || limits.image_width > 0) return mindspore::kSuccess;
  return Fail(mindspore::kLiteNotSupport, "OpenCL: MSLITE_OPENCL_STORAGE is 'image', and the device has no images");
}

void OpenClStorage::Study(const Part &whole, const RunsOnDevice &runs) {
  exact_.clear();
  if (!is_half_) return;
  for (const size_t tensor : Float32TensorsOf(whole, runs)) exact_.insert(whole.tensors[tensor].source.impl().get());
}

std::vector<OpenClForm> OpenClStorage::FormsOf(const Part &part, const std::vector<int32_t> &roots) const {
  std::vector<OpenClForm> forms(part.tensors.size(), OpenClForm::kArray);
  if (!is_half_) return forms;
  std::fill(forms.begin(), forms.end(), OpenClForm::kHalf);
  const auto stay = [&](size_t tensor) { forms[static_cast<size_t>(roots[tensor])] = OpenClForm::kArray; };
  for (size_t i = 0; i < forms.size(); ++i) {
    const Part::Tensor &tensor = part.tensors[i];
    if (tensor.value.type != MSLITE_FLOAT32 || exact_.count(tensor.source.impl().get()) != 0) stay(i);
  }
  // Inputs and outputs of the partition are float32: the first kernels read float32, and the last ones write float32.
  for (const std::vector<int32_t> *border : {&part.inputs, &part.outputs}) {
    for (const int32_t tensor : *border) stay(static_cast<size_t>(tensor));
  }
  for (size_t i = 0; i < forms.size(); ++i) forms[i] = forms[static_cast<size_t>(roots[i])];
  return forms;
}

OpenClForm OpenClStorage::FormOfWeights(const std::vector<float> &numbers) const {
  return is_half_ && FitsHalf(numbers.data(), numbers.size()) ? OpenClForm::kHalf : OpenClForm::kArray;
}
}  // namespace mslite
