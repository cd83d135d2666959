// A plug-in that teaches the runtime the Custom operator "Maxout": its kernel, and the rule that tells its shape.
//
// The node's attributes are bytes, as the converter wrote them (../converter/maxout_plugin.py): "pieces" is an int64,
// "scale" a float32.
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

// Reads an attribute that must be a T.
template <typename T>
bool Read(const std::string &bytes, T *value) {
  if (bytes.size() != sizeof *value) return false;
  std::memcpy(value, bytes.data(), sizeof *value);
  return true;
}

class MaxoutKernel : public Kernel {
 public:
  using Kernel::Kernel;

  // Once per model. Whatever is not 0 ends the build; the message names the node.
  int Prepare() override {
    const bool is_read = Read(GetAttr("pieces"), &pieces_) && Read(GetAttr("scale"), &scale_);
    return is_read && pieces_ > 0 ? 0 : static_cast<int>(kLiteInvalidOpAttr);
  }

  // When the shapes have changed: nothing is kept that depends on them.
  int ReSize() override { return 0; }

  // The memory is there: the runtime plans that of registered kernels together with its own.
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
    static_cast<void>(primitive);  // the tables of the model file; their attributes are GetAttr's, too
    std::vector<int64_t> shape = (*inputs)[0].Shape();
    int64_t pieces = 0;
    if (!Read(kernel->GetAttr("pieces"), &pieces) || pieces < 1)
      return {kLiteInferError, "it needs pieces of 1 or more"};
    if (shape.empty() || shape.back() % pieces != 0) {
      return {kLiteInferError, "the channels cannot be divided into groups of " + std::to_string(pieces)};
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

// Device, provider, type of the first input, type of the Custom node, and what makes the kernel.
REGISTER_CUSTOM_KERNEL(CPU, Example, kFloat32, Maxout, MakeMaxout)
REGISTER_CUSTOM_KERNEL_INTERFACE(Example, Maxout, MakeMaxoutRule)
