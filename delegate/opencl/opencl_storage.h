// The storage of tensors and weights on the device: float32 or float16 buffers, or images.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_STORAGE_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_STORAGE_H

#include <string>
#include <unordered_set>
#include <vector>

#include "engine/part.h"
#include "opencl/opencl_device.h"
#include "opencl/opencl_float32_tensors.h"

namespace mslite {
// The FORM of kernels/gpu/common.cl.
enum class OpenClForm { kArray, kHalf, kImage };

// Returns the definitions for an operand, such as "#define TYPE_x float\n#define FORM_x half\n". `type`: data type of
// its elements in OpenCL C.
std::string DefineOperand(const std::string &name, const char *type, OpenClForm form);

int64_t BytesPerElement(OpenClForm form, int32_t type);

// Converts to float16, rounding to nearest even. Values above 65504 become infinite.
std::vector<uint8_t> RoundToHalf(const float *numbers, size_t count);

// How the float values of a model are stored.
class OpenClStorage {
 public:
  // `is_half`: tensors are stored as float16, except those that Float32TensorsOf selects.
  explicit OpenClStorage(bool is_half) : is_half_(is_half) {}

  bool is_half() const { return is_half_; }
  bool has_images() const { return has_images_; }
  // Decides if images are used: if the device prefers them, or as MSLITE_OPENCL_STORAGE requests. Errors:
  // kLiteParamInvalid for an unknown value of the variable.
  Status ChooseImages(const OpenClDevice::Limits &limits);
  // Finds the tensors that stay in float32.
  void Study(const Part &whole, const RunsOnDevice &runs);
  // Returns the form of each tensor of a partition. `roots`: for each tensor, the tensor that has its memory.
  std::vector<OpenClForm> FormsOf(const Part &part, const std::vector<int32_t> &roots) const;
  OpenClForm FormOfWeights(const std::vector<float> &numbers) const;
  OpenClForm scratch_form() const { return is_half_ ? OpenClForm::kHalf : OpenClForm::kArray; }

 private:
  bool is_half_;
  bool has_images_ = false;
  std::unordered_set<const void *> exact_;  // MSTensor::Impl of tensors that stay in float32
};
}  // namespace mslite

#endif
