// The backends of this library, and the backend of each device of a context.
#include <algorithm>

#include "engine/engine_delegate.h"
#include "engine/support_probe.h"
#include "include/api/context.h"
#include "model/message.h"
#include "registry/engines.h"
#ifdef MSLITE_COREML
#include "coreml/coreml_engine.h"
#endif
#ifdef MSLITE_NNAPI
#include "nnapi/nnapi_engine.h"
#endif
#ifdef MSLITE_NNRT
#include "nnrt/nnrt_engine.h"
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

// HiAI is MindSpore Lite's backend for Huawei's NPU.
constexpr const char *kNoHiAi =
    "; HiAI, Huawei's library on Android, is not supported because it has no C interface; on Android, "
    "Context::SetBuiltInDelegate(kNNAPI) may use the same NPU";

#ifdef MSLITE_OPENCL
constexpr char kGlTextures[] = "the OpenCL backend does not support GL textures (SetEnableGLTexture)";
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

// Returns true for a GPU without a provider: kernels of providers may also run on a GPU (registry/register_kernel.h).
bool IsOpenCl(const DeviceInfoContext &device) {
  const std::string provider = device.GetProvider();
  return device.GetDeviceType() == mindspore::kGPU && provider != "openvino" && provider != "nnapi" &&
         provider != "nnrt";
}

[[maybe_unused]] bool IsHalf(DeviceInfoContext *device) {
  const auto cpu = device->Cast<mindspore::CPUDeviceInfo>();
  const auto gpu = device->Cast<mindspore::GPUDeviceInfo>();
  const auto npu = device->Cast<mindspore::KirinNPUDeviceInfo>();
  return (cpu != nullptr && cpu->GetEnableFP16()) || (gpu != nullptr && gpu->GetEnableFP16()) ||
         (npu != nullptr && npu->GetEnableFP16());
}

// Returns the backend of Context::SetBuiltInDelegate; null, with the reason, if this library does not have it.
std::shared_ptr<mindspore::Delegate> BuiltInEngine(mindspore::Context *context, std::string *reason) {
  [[maybe_unused]] const auto &devices = context->MutableDeviceInfo();
  [[maybe_unused]] const bool is_half = std::any_of(
      devices.begin(), devices.end(), [](const auto &device) { return device != nullptr && IsHalf(device.get()); });
  switch (context->GetBuiltInDelegate()) {
    case mindspore::kCoreML:
#ifdef MSLITE_COREML
      return std::make_shared<EngineDelegate>(std::make_shared<CoreMlEngine>());
#else
      *reason = "this library was built without Core ML (MSLITE_COREML)";
      return nullptr;
#endif
    case mindspore::kNNAPI:
#ifdef MSLITE_NNAPI
      return std::make_shared<EngineDelegate>(std::make_shared<NnapiEngine>("", is_half));
#else
      *reason = "this library was built without NNAPI (MSLITE_NNAPI)";
      return nullptr;
#endif
    default:
      *reason = "this library has no built-in delegate with the value " + std::to_string(context->GetBuiltInDelegate());
      return nullptr;
  }
}

// Returns the backend of a device; null, with the reason, if this library has none or it does not support the settings
// of the device. `threads`: number of threads of the context.
std::shared_ptr<mindspore::Delegate> EngineOf(DeviceInfoContext *device, [[maybe_unused]] int32_t threads,
                                              std::string *reason) {
  *reason = "this library has no backend for " + DeviceName(*device);
  const std::string provider = device->GetProvider();
#ifdef MSLITE_OPENVINO
  if (provider == "openvino") {
    std::string name = device->GetProviderDevice();
    if (name.empty()) name = device->GetDeviceType() == mindspore::kGPU ? "GPU" : "CPU";
    return std::make_shared<EngineDelegate>(std::make_shared<OpenVinoEngine>(std::move(name), threads));
  }
#endif
#ifdef MSLITE_NNAPI
  if (provider == "nnapi") {
    return std::make_shared<EngineDelegate>(std::make_shared<NnapiEngine>(device->GetProviderDevice(), IsHalf(device)));
  }
#endif
#ifdef MSLITE_NNRT
  if (provider == "nnrt" || (device->GetDeviceType() == mindspore::kKirinNPU && provider.empty())) {
    const auto npu = device->Cast<mindspore::KirinNPUDeviceInfo>();
    return std::make_shared<EngineDelegate>(std::make_shared<NnrtEngine>(
        NnrtSettings{device->GetProviderDevice(), IsHalf(device), npu == nullptr ? 0 : npu->GetFrequency(),
                     npu == nullptr ? "" : kNoHiAi}));
  }
#endif
  if (device->GetDeviceType() == mindspore::kKirinNPU) {
    *reason += "; it was built without NNRT (MSLITE_NNRT)" + std::string(kNoHiAi);
  }
#ifdef MSLITE_OPENCL
  if (IsOpenCl(*device)) {
    const auto gpu = device->Cast<mindspore::GPUDeviceInfo>();
    if (gpu->GetEnableGLTexture()) {
      *reason = kGlTextures;
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
  if (context->GetBuiltInDelegate() != mindspore::kNoDelegate) {
    std::string reason;
    if (auto engine = BuiltInEngine(context, &reason); engine != nullptr) {
      engines.push_back(std::move(engine));
    } else {
      missing->push_back(reason);
    }
  }
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
  surveys.push_back(std::make_shared<SupportProbe>(std::make_shared<OpenClEngine>()));
#endif
#ifdef MSLITE_OPENVINO
  surveys.push_back(std::make_shared<SupportProbe>(std::make_shared<OpenVinoEngine>("CPU")));
#endif
#ifdef MSLITE_NNAPI
  surveys.push_back(std::make_shared<SupportProbe>(std::make_shared<NnapiEngine>("", false)));
#endif
#ifdef MSLITE_NNRT
  surveys.push_back(std::make_shared<SupportProbe>(std::make_shared<NnrtEngine>(NnrtSettings{"", false, 0, ""})));
#endif
#ifdef MSLITE_COREML
  surveys.push_back(std::make_shared<SupportProbe>(std::make_shared<CoreMlEngine>()));
#endif
  return surveys;
}

Status KernelDeviceOf(mindspore::Context *context, [[maybe_unused]] std::shared_ptr<KernelDevice> *kernel_device) {
  for (const auto &device : context->MutableDeviceInfo()) {
    if (device == nullptr) continue;
    if (device->GetDeviceType() == mindspore::kCPU && device->GetProvider().empty()) break;
    if (!IsOpenCl(*device)) continue;
#ifdef MSLITE_OPENCL
    const auto gpu = device->Cast<mindspore::GPUDeviceInfo>();
    if (gpu->GetEnableGLTexture()) return Fail(mindspore::kLiteNotSupport, kGlTextures);
    std::shared_ptr<OpenClUser> user;
    MSLITE_TRY(OpenClUser::Of(gpu->GetDeviceID(), &user));
    *kernel_device = std::move(user);
    return mindspore::kSuccess;
#else
    return Fail(mindspore::kLiteNotSupport, "this library has no backend for GPU");
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
  return Fail(mindspore::kLiteNotSupport, "this library has no OpenCL backend");
#endif
}
}  // namespace mslite
