// Which engine of ours runs on which device of a context.
#include "include/api/context.h"
#include "registry/engines.h"
#ifdef MSLITE_OPENCL
#include "engine/engine_delegate.h"
#include "opencl/opencl_engine.h"
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

// Null where this library has none.
std::shared_ptr<mindspore::Delegate> EngineOf(DeviceInfoContext *device) {
  const std::string provider = device->GetProvider();
#ifdef MSLITE_OPENCL
  if (device->GetDeviceType() == mindspore::kGPU && (provider.empty() || provider == "opencl")) {
    return std::make_shared<EngineDelegate>(std::make_shared<OpenClEngine>());
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
    auto engine = EngineOf(device.get());
    if (engine != nullptr) {
      engines.push_back(std::move(engine));
    } else if (device->GetDeviceType() != mindspore::kCPU) {  // kernels may be registered for other providers
      missing->push_back("this library has no engine for " + DeviceName(*device));
    }
  }
  return engines;
}
}  // namespace mslite
