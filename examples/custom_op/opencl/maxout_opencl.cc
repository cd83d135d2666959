// A plug-in with a kernel for the Custom operator "Maxout" that runs on a GPU with OpenCL.
//
// The tensors of such a kernel are images on the device. A texel has four channels; channels are the last dimension of
// a tensor. The texels of one position are adjacent, and the positions of a row follow each other.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "include/registry/opencl_runtime_wrapper.h"
#include "include/registry/register_kernel.h"
#include "include/registry/register_kernel_interface.h"

namespace {
using mindspore::kLiteError;
using mindspore::kLiteInferError;
using mindspore::kLiteInvalidOpAttr;
using mindspore::MSTensor;
using mindspore::Status;
using mindspore::kernel::Kernel;
using mindspore::schema::Primitive;

// One work item writes one texel: four output elements.
constexpr char kSource[] = R"(
__constant sampler_t at = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;

float Channel(__read_only image2d_t image, int begin, int row, int channel) {
  const float4 texel = READ_IMAGE(image, at, (int2)(begin + channel / 4, row));
  const int place = channel % 4;
  return place == 0 ? texel.x : place == 1 ? texel.y : place == 2 ? texel.z : texel.w;
}

__kernel void Maxout(__read_only image2d_t x, __write_only image2d_t y, int pieces, float scale, int4 sizes) {
  const int texels = sizes.x, results = sizes.y, read = sizes.z, rows = sizes.w;
  const int column = get_global_id(0), row = get_global_id(1);
  if (row >= rows) return;
  float found[4] = {0, 0, 0, 0};
  for (int i = 0; i < 4; ++i) {
    const int result = column % texels * 4 + i;
    if (result >= results) break;
    float best = Channel(x, column / texels * read, row, result * pieces);
    for (int k = 1; k < pieces; ++k) best = fmax(best, Channel(x, column / texels * read, row, result * pieces + k));
    found[i] = scale * best;
  }
  WRITE_IMAGE(y, (int2)(column, row), (float4)(found[0], found[1], found[2], found[3]));
}
)";

// Reads an attribute, which must have the size of T.
template <typename T>
bool Read(const std::string &bytes, T *value) {
  if (bytes.size() != sizeof *value) return false;
  std::memcpy(value, bytes.data(), sizeof *value);
  return true;
}

int Quarters(int64_t channels) { return static_cast<int>((channels + 3) / 4); }

class MaxoutOnGpu : public Kernel {
 public:
  using Kernel::Kernel;

  // Called once for each model. The program is compiled here.
  int Prepare() override {
    const bool is_read = Read(GetAttr("pieces"), &pieces_) && Read(GetAttr("scale"), &scale_);
    if (!is_read || pieces_ < 1) return static_cast<int>(kLiteInvalidOpAttr);
    Status status = opencl_.LoadSource("maxout", kSource);
    if (status.IsOk()) status = opencl_.BuildKernel(&kernel_, "maxout", "Maxout");
    if (status.IsError())
      throw std::runtime_error(status.GetErrDescription());  // becomes the error message of Model::Build
    return 0;
  }

  int ReSize() override { return 0; }

  // Inputs and outputs are images on the device. The runtime waits for the enqueued kernels.
  int Execute() override {
    const std::vector<int64_t> &shape = outputs_[0].Shape();
    const size_t rank = shape.size();
    const int64_t beside = rank > 2 ? shape[rank - 2] : 1;
    int64_t rows = 1;
    for (size_t i = 0; i + (rank > 2 ? 2 : 1) < rank; ++i) rows *= shape[i];
    const int texels = Quarters(shape.back());
    const cl_int4 sizes = {
        {texels, static_cast<int>(shape.back()), Quarters(inputs_[0].Shape().back()), static_cast<int>(rows)}};
    const bool is_set = opencl_.SetKernelArg(kernel_, 0, inputs_[0].MutableData()).IsOk() &&
                        opencl_.SetKernelArg(kernel_, 1, outputs_[0].MutableData()).IsOk() &&
                        opencl_.SetKernelArg(kernel_, 2, static_cast<cl_int>(pieces_)).IsOk() &&
                        opencl_.SetKernelArg(kernel_, 3, scale_).IsOk() &&
                        opencl_.SetKernelArg(kernel_, 4, sizes).IsOk();
    if (!is_set) return static_cast<int>(kLiteError);
    const cl::NDRange global(static_cast<size_t>(beside * texels), static_cast<size_t>(rows));
    return opencl_.RunKernel(kernel_, global, cl::NullRange).IsOk() ? 0 : static_cast<int>(kLiteError);
  }

 private:
  mindspore::registry::opencl::OpenCLRuntimeWrapper opencl_;
  cl::Kernel kernel_;
  int64_t pieces_ = 0;
  float scale_ = 0;
};

// [..., channels] -> [..., channels / pieces]
class MaxoutRule : public mindspore::kernel::KernelInterface {
 public:
  Status Infer(std::vector<MSTensor> *inputs, std::vector<MSTensor> *outputs, const Primitive *,
               const Kernel *kernel) override {
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
  return std::make_shared<MaxoutOnGpu>(inputs, outputs, primitive, context);
}

std::shared_ptr<mindspore::kernel::KernelInterface> MakeMaxoutRule() { return std::make_shared<MaxoutRule>(); }

constexpr auto kFloat32 = mindspore::DataType::kNumberTypeFloat32;
}  // namespace

// GPU: used if the context prefers a GPU to the CPU.
REGISTER_CUSTOM_KERNEL(GPU, Example, kFloat32, Maxout, MakeMaxout)
REGISTER_CUSTOM_KERNEL_INTERFACE(Example, Maxout, MakeMaxoutRule)
