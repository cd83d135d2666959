// Which engines this library has, and which of them runs on which device of a context.
#include "include/api/context.h"
#include "model/message.h"
#include "registry/engines.h"
#if defined(MSLITE_OPENCL) || defined(MSLITE_OPENVINO)
#include "engine/engine_delegate.h"
#include "engine/engine_survey.h"
#endif
#ifdef MSLITE_OPENCL
#include "opencl/opencl_engine.h"
#include "opencl/opencl_user.h"
#endif
#ifdef MSLITE_OPENVINO
#include "openvino/openvino_engine.h"
#endif

namespace mslite {
namespace {
using mindspore::DeviceInfoContext;

#ifdef MSLITE_OPENCL
constexpr char kGlTextures[] = "the OpenCL engine does not take GL textures (SetEnableGLTexture)";
#endif

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
  // Other providers' kernels run there, too (registry/register_kernel.h).
  if (device->GetDeviceType() == mindspore::kGPU && provider != "openvino") {
    const auto gpu = device->Cast<mindspore::GPUDeviceInfo>();
    if (gpu->GetEnableGLTexture()) {
      *reason = kGlTextures;
      return nullptr;
    }
    return std::make_shared<EngineDelegate>(std::make_shared<OpenClEngine>(gpu->GetDeviceID()));
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

std::vector<std::shared_ptr<mindspore::Delegate>> SurveysOfEngines() {
  std::vector<std::shared_ptr<mindspore::Delegate>> surveys;
#ifdef MSLITE_OPENCL
  surveys.push_back(std::make_shared<EngineSurvey>(std::make_shared<OpenClEngine>()));
#endif
#ifdef MSLITE_OPENVINO
  surveys.push_back(std::make_shared<EngineSurvey>(std::make_shared<OpenVinoEngine>("CPU")));
#endif
  return surveys;
}

Status KernelDeviceOf(mindspore::Context *context, [[maybe_unused]] std::shared_ptr<KernelDevice> *kernel_device) {
  for (const auto &device : context->MutableDeviceInfo()) {
    if (device == nullptr) continue;
    if (device->GetDeviceType() == mindspore::kCPU && device->GetProvider().empty()) break;
    if (device->GetDeviceType() != mindspore::kGPU || device->GetProvider() == "openvino") continue;
#ifdef MSLITE_OPENCL
    const auto gpu = device->Cast<mindspore::GPUDeviceInfo>();
    if (gpu->GetEnableGLTexture()) return Fail(mindspore::kLiteNotSupport, kGlTextures);
    std::shared_ptr<OpenClUser> user;
    MSLITE_TRY(OpenClUser::Of(gpu->GetDeviceID(), &user));
    *kernel_device = std::move(user);
    return mindspore::kSuccess;
#else
    return Fail(mindspore::kLiteNotSupport, "this library has no engine for GPU");
#endif
  }
  return Fail(mindspore::kLiteNotSupport, "the context prefers no GPU to the CPU");
}

Status OpenClOfThread([[maybe_unused]] std::shared_ptr<OpenClAccess> *access) {
#ifdef MSLITE_OPENCL
  std::shared_ptr<OpenClUser> user;
  MSLITE_TRY(OpenClUser::Current(&user));
  *access = std::move(user);
  return mindspore::kSuccess;
#else
  return Fail(mindspore::kLiteNotSupport, "this library has no OpenCL engine");
#endif
}
}  // namespace mslite
