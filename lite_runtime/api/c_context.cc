// The C API of contexts.
#include <memory>
#include <string>
#include <utility>

#include "api/c_handles.h"
#include "include/c_api/context_c.h"
#include "include/mslite/run_control.h"

namespace {
using mslite::CContext;
using mslite::CDevice;

CContext *ToContext(const MSContextHandle handle) { return static_cast<CContext *>(handle); }
CDevice *ToDevice(const MSDeviceInfoHandle handle) { return static_cast<CDevice *>(handle); }
}  // namespace

MSContextHandle MSContextCreate() {
  return mslite::CallOrDefault([] { return new CContext; });
}

void MSContextDestroy(MSContextHandle *context) {
  if (context == nullptr) return;
  delete ToContext(*context);
  *context = nullptr;
}

void MSContextSetThreadNum(MSContextHandle context, int32_t thread_num) {
  if (context != nullptr) ToContext(context)->context->SetThreadNum(thread_num);
}
int32_t MSContextGetThreadNum(const MSContextHandle context) {
  return context == nullptr ? 0 : ToContext(context)->context->GetThreadNum();
}
void MSContextSetThreadAffinityMode(MSContextHandle context, int mode) {
  if (context != nullptr) ToContext(context)->context->SetThreadAffinity(mode);
}
int MSContextGetThreadAffinityMode(const MSContextHandle context) {
  return context == nullptr ? 0 : ToContext(context)->context->GetThreadAffinityMode();
}
void MSContextSetThreadAffinityCoreList(MSContextHandle context, const int32_t *core_list, size_t core_num) {
  if (context == nullptr || (core_list == nullptr && core_num != 0)) return;
  mslite::Logged(mslite::Guard([&]() -> mindspore::Status {
    if (core_num > mslite::kMaxItems) {
      return {mindspore::kLiteParamInvalid, "MSContextSetThreadAffinityCoreList: core_num is too large"};
    }
    std::vector<int32_t> cores(core_list, core_list + core_num);
    ToContext(context)->context->SetThreadAffinity(cores);
    ToContext(context)->cores = std::move(cores);
    return mindspore::kSuccess;
  }));
}
const int32_t *MSContextGetThreadAffinityCoreList(const MSContextHandle context, size_t *core_num) {
  if (context == nullptr || core_num == nullptr) return nullptr;
  *core_num = ToContext(context)->cores.size();
  return ToContext(context)->cores.data();
}
void MSContextSetEnableParallel(MSContextHandle context, bool is_parallel) {
  if (context != nullptr) ToContext(context)->context->SetEnableParallel(is_parallel);
}
bool MSContextGetEnableParallel(const MSContextHandle context) {
  return context != nullptr && ToContext(context)->context->GetEnableParallel();
}
bool MSContextSetRunLimits(MSContextHandle context, int64_t steps, int64_t milliseconds, int64_t bytes) {
  return context != nullptr && mslite::SetRunLimits(ToContext(context)->context, {steps, milliseconds, bytes}).IsOk();
}
void MSContextAddDeviceInfo(MSContextHandle context, MSDeviceInfoHandle device_info) {
  if (context == nullptr || device_info == nullptr) return;
  const std::unique_ptr<CDevice> device(ToDevice(device_info));
  mslite::LogFailure([&] { ToContext(context)->context->MutableDeviceInfo().push_back(device->info); });
}

MSDeviceInfoHandle MSDeviceInfoCreate(MSDeviceType device_type) {
  return mslite::CallOrDefault([device_type]() -> CDevice * {
    switch (device_type) {
      case kMSDeviceTypeCPU:
        return new CDevice{std::make_shared<mindspore::CPUDeviceInfo>(), "", ""};
      case kMSDeviceTypeGPU:
        return new CDevice{std::make_shared<mindspore::GPUDeviceInfo>(), "", ""};
      case kMSDeviceTypeKirinNPU:
        return new CDevice{std::make_shared<mindspore::KirinNPUDeviceInfo>(), "", ""};
      default:
        return nullptr;
    }
  });
}
void MSDeviceInfoDestroy(MSDeviceInfoHandle *device_info) {
  if (device_info == nullptr) return;
  delete ToDevice(*device_info);
  *device_info = nullptr;
}
void MSDeviceInfoSetProvider(MSDeviceInfoHandle device_info, const char *provider) {
  if (device_info == nullptr || provider == nullptr) return;
  mslite::LogFailure([&] {
    ToDevice(device_info)->provider = provider;
    ToDevice(device_info)->info->SetProvider(provider);
  });
}
const char *MSDeviceInfoGetProvider(const MSDeviceInfoHandle device_info) {
  return device_info == nullptr ? nullptr : ToDevice(device_info)->provider.c_str();
}
void MSDeviceInfoSetProviderDevice(MSDeviceInfoHandle device_info, const char *device) {
  if (device_info == nullptr || device == nullptr) return;
  mslite::LogFailure([&] {
    ToDevice(device_info)->provider_device = device;
    ToDevice(device_info)->info->SetProviderDevice(device);
  });
}
const char *MSDeviceInfoGetProviderDevice(const MSDeviceInfoHandle device_info) {
  return device_info == nullptr ? nullptr : ToDevice(device_info)->provider_device.c_str();
}
MSDeviceType MSDeviceInfoGetDeviceType(const MSDeviceInfoHandle device_info) {
  return device_info == nullptr ? kMSDeviceTypeInvalid
                                : static_cast<MSDeviceType>(ToDevice(device_info)->info->GetDeviceType());
}
void MSDeviceInfoSetEnableFP16(MSDeviceInfoHandle device_info, bool is_fp16) {
  if (device_info == nullptr) return;
  const auto &info = ToDevice(device_info)->info;
  if (const auto cpu = info->Cast<mindspore::CPUDeviceInfo>(); cpu != nullptr) cpu->SetEnableFP16(is_fp16);
  if (const auto gpu = info->Cast<mindspore::GPUDeviceInfo>(); gpu != nullptr) gpu->SetEnableFP16(is_fp16);
  if (const auto npu = info->Cast<mindspore::KirinNPUDeviceInfo>(); npu != nullptr) npu->SetEnableFP16(is_fp16);
}
bool MSDeviceInfoGetEnableFP16(const MSDeviceInfoHandle device_info) {
  if (device_info == nullptr) return false;
  const auto &info = ToDevice(device_info)->info;
  const auto cpu = info->Cast<mindspore::CPUDeviceInfo>();
  const auto gpu = info->Cast<mindspore::GPUDeviceInfo>();
  const auto npu = info->Cast<mindspore::KirinNPUDeviceInfo>();
  return (cpu != nullptr && cpu->GetEnableFP16()) || (gpu != nullptr && gpu->GetEnableFP16()) ||
         (npu != nullptr && npu->GetEnableFP16());
}
void MSDeviceInfoSetFrequency(MSDeviceInfoHandle device_info, int frequency) {
  if (device_info == nullptr) return;
  if (auto npu = ToDevice(device_info)->info->Cast<mindspore::KirinNPUDeviceInfo>(); npu != nullptr)
    npu->SetFrequency(frequency);
}
int MSDeviceInfoGetFrequency(const MSDeviceInfoHandle device_info) {
  if (device_info == nullptr) return -1;
  auto npu = ToDevice(device_info)->info->Cast<mindspore::KirinNPUDeviceInfo>();
  return npu == nullptr ? -1 : npu->GetFrequency();
}
