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

// "#define TYPE_x float\n#define FORM_x half\n", for an operand of that name whose elements are of that type of OpenCL
// C.
std::string DefineOperand(const std::string &name, const char *type, OpenClForm form);

int64_t BytesPerElement(OpenClForm form, int32_t type);

// Float values rounded to float16, to the nearest and then to even; beyond 65504: infinite.
std::vector<uint8_t> RoundToHalf(const float *numbers, size_t count);

// How the float values of a model are stored.
class OpenClStorage {
 public:
  // `is_half`: as float16, except for the tensors that would overflow in it, or lose their meaning.
  explicit OpenClStorage(bool is_half) : is_half_(is_half) {}

  bool is_half() const { return is_half_; }
  bool has_images() const { return has_images_; }
  // Whether images are used as well as buffers: where the device prefers them, or MSLITE_OPENCL_STORAGE says so.
  // Errors: kLiteParamInvalid for another word there.
  Status ChooseImages(const OpenClDevice::Limits &limits);
  // Finds the tensors that stay in float32.
  void Study(const Part &whole, const RunsOnDevice &runs);
  // The form of each tensor of a part of the model. `roots`: of each tensor, the one whose memory it has.
  std::vector<OpenClForm> FormsOf(const Part &part, const std::vector<int32_t> &roots) const;
  OpenClForm FormOfWeights(const std::vector<float> &numbers) const;
  OpenClForm scratch_form() const { return is_half_ ? OpenClForm::kHalf : OpenClForm::kArray; }

 private:
  bool is_half_;
  bool has_images_ = false;
  std::unordered_set<const void *> exact_;  // tensors that stay float32, by the objects that hold them
};
}  // namespace mslite

#endif
