// Which engine of ours runs on which device of a context.
#include "include/api/context.h"
#include "registry/engines.h"
#if defined(MSLITE_OPENCL) || defined(MSLITE_OPENVINO)
#include "engine/engine_delegate.h"
#endif
#ifdef MSLITE_OPENCL
#include "opencl/opencl_engine.h"
#endif
#ifdef MSLITE_OPENVINO
#include "openvino/openvino_engine.h"
#endif

namespace mslite {
namespace {
using mindspore::DeviceInfoContext;

std::string DeviceName(const DeviceInfoContext &device) {
  switch (device.GetDeviceType()) {
    case mindspore::kCPU:
      return "CPU";
    case mindspore::kGPU:
      return "GPU";
    case mindspore::kKirinNPU:
      return "Kirin NPU";
    case mindspore::kAscend:
    case mindspore::kAscend310:
    case mindspore::kAscend910:
      return "Ascend";
    default:
      return "device " + std::to_string(device.GetDeviceType());
  }
}

// Null where this library has none, or where it cannot do what the device's settings ask for; `reason` says which.
// `threads`: of the context.
std::shared_ptr<mindspore::Delegate> EngineOf(DeviceInfoContext *device, [[maybe_unused]] int32_t threads,
                                              std::string *reason) {
  *reason = "this library has no engine for " + DeviceName(*device);
  const std::string provider = device->GetProvider();
#ifdef MSLITE_OPENVINO
  if (provider == "openvino") {
    std::string name = device->GetProviderDevice();
    if (name.empty()) name = device->GetDeviceType() == mindspore::kGPU ? "GPU" : "CPU";
    return std::make_shared<EngineDelegate>(std::make_shared<OpenVinoEngine>(std::move(name), threads));
  }
#endif
#ifdef MSLITE_OPENCL
  if (device->GetDeviceType() == mindspore::kGPU && (provider.empty() || provider == "opencl")) {
    const auto gpu = device->Cast<mindspore::GPUDeviceInfo>();
    if (gpu->GetEnableGLTexture()) {
      *reason = "the OpenCL engine does not take GL textures (SetEnableGLTexture)";
      return nullptr;
    }
    const bool is_half = gpu->GetEnableFP16() || gpu->GetPrecisionMode() == "fp16";
    return std::make_shared<EngineDelegate>(std::make_shared<OpenClEngine>(gpu->GetDeviceID(), is_half));
  }
#endif
  return nullptr;
}
}  // namespace

std::vector<std::shared_ptr<mindspore::Delegate>> EnginesOf(mindspore::Context *context,
                                                            std::vector<std::string> *missing) {
  std::vector<std::shared_ptr<mindspore::Delegate>> engines;
  for (const auto &device : context->MutableDeviceInfo()) {
    if (device == nullptr) continue;
    if (device->GetDeviceType() == mindspore::kCPU && device->GetProvider().empty()) break;
    std::string reason;
    auto engine = EngineOf(device.get(), context->GetThreadNum(), &reason);
    if (engine != nullptr) {
      engines.push_back(std::move(engine));
    } else if (device->GetDeviceType() != mindspore::kCPU) {  // kernels may be registered for other providers
      missing->push_back(reason);
    }
  }
  return engines;
}
}  // namespace mslite
