// A plug-in with the Custom operator "Maxout" for the runtime: its kernel and its shape inference.
//
// Attributes of the node are bytes, which ../converter/maxout_plugin.py has written: "pieces" is an int64, "scale" a
// float32.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "include/registry/register_kernel.h"
#include "include/registry/register_kernel_interface.h"

namespace {
using mindspore::kLiteInferError;
using mindspore::kLiteInvalidOpAttr;
using mindspore::MSTensor;
using mindspore::Status;
using mindspore::kernel::Kernel;
using mindspore::schema::Primitive;

// Reads an attribute, which must have the size of T.
template <typename T>
bool Read(const std::string &bytes, T *value) {
  if (bytes.size() != sizeof *value) return false;
  std::memcpy(value, bytes.data(), sizeof *value);
  return true;
}

class MaxoutKernel : public Kernel {
 public:
  using Kernel::Kernel;

  // Called once for each model. If it does not return 0, the build fails with an error that names the node.
  int Prepare() override {
    const bool is_read = Read(GetAttr("pieces"), &pieces_) && Read(GetAttr("scale"), &scale_);
    return is_read && pieces_ > 0 ? 0 : static_cast<int>(kLiteInvalidOpAttr);
  }

  // Called if shapes change. This kernel stores nothing that depends on shapes.
  int ReSize() override { return 0; }

  // The runtime has allocated the tensors: it plans the memory of registered kernels in the arena.
  int Execute() override {
    const auto *x = static_cast<const float *>(inputs_[0].Data().get());
    auto *y = static_cast<float *>(outputs_[0].MutableData());
    for (int64_t i = 0; i < outputs_[0].ElementNum(); ++i) {
      y[i] = scale_ * *std::max_element(x + i * pieces_, x + (i + 1) * pieces_);
    }
    return 0;
  }

 private:
  int64_t pieces_ = 0;
  float scale_ = 0;
};

// [..., channels] -> [..., channels / pieces]
class MaxoutRule : public mindspore::kernel::KernelInterface {
 public:
  Status Infer(std::vector<MSTensor> *inputs, std::vector<MSTensor> *outputs, const Primitive *primitive,
               const Kernel *kernel) override {
    static_cast<void>(primitive);  // the table of the model file; GetAttr returns its attributes too
    std::vector<int64_t> shape = (*inputs)[0].Shape();
    int64_t pieces = 0;
    if (!Read(kernel->GetAttr("pieces"), &pieces) || pieces < 1)
      return {kLiteInferError, "attribute 'pieces' must be at least 1"};
    if (shape.empty() || shape.back() % pieces != 0) {
      return {kLiteInferError, "the number of channels is not a multiple of " + std::to_string(pieces)};
    }
    shape.back() /= pieces;
    (*outputs)[0].SetDataType((*inputs)[0].DataType());
    (*outputs)[0].SetFormat((*inputs)[0].format());
    (*outputs)[0].SetShape(shape);
    return mindspore::kSuccess;
  }
};

std::shared_ptr<Kernel> MakeMaxout(const std::vector<MSTensor> &inputs, const std::vector<MSTensor> &outputs,
                                   const Primitive *primitive, const mindspore::Context *context) {
  return std::make_shared<MaxoutKernel>(inputs, outputs, primitive, context);
}

std::shared_ptr<mindspore::kernel::KernelInterface> MakeMaxoutRule() { return std::make_shared<MaxoutRule>(); }

constexpr auto kFloat32 = mindspore::DataType::kNumberTypeFloat32;
}  // namespace

// Arch, provider, type of the first input, type of the Custom node, and the function that creates the kernel.
REGISTER_CUSTOM_KERNEL(CPU, Example, kFloat32, Maxout, MakeMaxout)
REGISTER_CUSTOM_KERNEL_INTERFACE(Example, Maxout, MakeMaxoutRule)
