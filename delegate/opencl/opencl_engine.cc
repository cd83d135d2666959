#include "opencl/opencl_engine.h"

#include "engine/costs.h"
#include "model/message.h"
#include "opencl/opencl_part.h"
#include "opencl/opencl_plan.h"

namespace mslite {
std::string OpenClEngine::name() const {
  if (device_ == nullptr) return "OpenCL";
  return "OpenCL (" + device_->name() + (storage_->is_half() ? ", float16)" : ")");
}

Status OpenClEngine::Start() {
  MSLITE_TRY(OpenClDevice::Find(number_, &device_));
  return storage_->ChooseImages(device_->limits());
}

std::string OpenClEngine::UnsupportedReason(const mslite_node &node) const {
  const OpenClOperator *entry = FindOpenClOperator(node.op);
  if (entry == nullptr) return "no OpenCL kernel for the operator";
  if (node.quant_type == 4) return "the operator is quantized";
  for (int32_t side = 0; side < 2; ++side) {
    const mslite_tensor *const *tensors = side == 0 ? node.inputs : node.outputs;
    for (int32_t i = 0; i < (side == 0 ? node.input_count : node.output_count); ++i) {
      const mslite_tensor &tensor = *tensors[i];
      if (OpenClType(tensor.type) == nullptr) return "a data type that OpenCL C does not have";
      // Quantization parameters of a float32 tensor only hold its range from calibration.
      if (tensor.quant_count > 0 && tensor.type != MSLITE_FLOAT32) return "a tensor is quantized";
      const int64_t count = CountOf(tensor);
      if (count == 0) return "a tensor is empty";
      // Kernels use 32-bit indices.
      if (count < 0 || count > INT32_MAX / 16)
        return "a tensor of more than " + std::to_string(INT32_MAX / 16) + " elements";
    }
  }
  return entry->why_not(node);
}

double OpenClEngine::FlopsPerSecond() const {
  cl_device_type type = 0;
  const bool is_cpu =
      device_ != nullptr &&
      device_->library().clGetDeviceInfo(device_->id(), CL_DEVICE_TYPE, sizeof type, &type, nullptr) == CL_SUCCESS &&
      (type & CL_DEVICE_TYPE_CPU) != 0;
  return is_cpu ? kFlopsPerSecond : Engine::FlopsPerSecond();
}

Status OpenClEngine::Compile(const Part &part, std::unique_ptr<CompiledPart> *compiled) {
  *compiled = std::make_unique<OpenClPart>(part, device_, storage_);
  return mindspore::kSuccess;
}
}  // namespace mslite
