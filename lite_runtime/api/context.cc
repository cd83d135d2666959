#include "include/api/context.h"

#include <utility>

#include "api/context_limits.h"

namespace mindspore {
struct Context::Data {
  int32_t thread_num = 0;
  int32_t inter_op_parallel_num = 0;
  int affinity_mode = 0;
  std::vector<int32_t> affinity_cores;
  bool enable_parallel = false;
  bool multi_modal = false;
  DelegateMode delegate_mode = kNoDelegate;
  std::shared_ptr<AbstractDelegate> abstract_delegate;
  std::shared_ptr<Delegate> delegate;
  std::string group_info_file;
  std::vector<std::shared_ptr<DeviceInfoContext>> devices;
  mslite::RunLimits limits;
};

Context::Context() : data_(std::make_shared<Data>()) {}
void Context::SetThreadNum(int32_t thread_num) { data_->thread_num = thread_num; }
int32_t Context::GetThreadNum() const { return data_->thread_num; }
void Context::SetInterOpParallelNum(int32_t parallel_num) { data_->inter_op_parallel_num = parallel_num; }
int32_t Context::GetInterOpParallelNum() const { return data_->inter_op_parallel_num; }
void Context::SetThreadAffinity(int mode) { data_->affinity_mode = mode < 0 || mode > 2 ? 0 : mode; }
int Context::GetThreadAffinityMode() const { return data_->affinity_mode; }
void Context::SetThreadAffinity(const std::vector<int> &core_list) { data_->affinity_cores = core_list; }
std::vector<int32_t> Context::GetThreadAffinityCoreList() const { return data_->affinity_cores; }
void Context::SetEnableParallel(bool is_parallel) { data_->enable_parallel = is_parallel; }
bool Context::GetEnableParallel() const { return data_->enable_parallel; }
void Context::SetBuiltInDelegate(DelegateMode mode) { data_->delegate_mode = mode; }
DelegateMode Context::GetBuiltInDelegate() const { return data_->delegate_mode; }
void Context::set_delegate(const std::shared_ptr<AbstractDelegate> &delegate) { data_->abstract_delegate = delegate; }
std::shared_ptr<AbstractDelegate> Context::get_delegate() const { return data_->abstract_delegate; }
void Context::SetDelegate(const std::shared_ptr<Delegate> &delegate) { data_->delegate = delegate; }
std::shared_ptr<Delegate> Context::GetDelegate() const { return data_->delegate; }
void Context::SetMultiModalHW(bool float_mode) { data_->multi_modal = float_mode; }
bool Context::GetMultiModalHW() const { return data_->multi_modal; }
void Context::SetGroupInfoFile(std::string file) { data_->group_info_file = std::move(file); }
std::string Context::GetGroupInfoFile() const { return data_->group_info_file; }
std::vector<std::shared_ptr<DeviceInfoContext>> &Context::MutableDeviceInfo() { return data_->devices; }

mslite::RunLimits &ContextLimits::Of(const Context &context) { return context.data_->limits; }

struct DeviceInfoContext::Data {
  std::string provider;
  std::string provider_device;
  std::shared_ptr<Allocator> allocator;
  bool enable_fp16 = false;
  int frequency = 3;
  uint32_t device_id = 0;
  uint32_t rank_id = 0;
  std::string precision_mode;
  bool gl_texture = false;
  void *gl_context = nullptr;
  void *gl_display = nullptr;
};

DeviceInfoContext::DeviceInfoContext() : data_(std::make_shared<Data>()) {}
std::string DeviceInfoContext::GetProvider() const { return data_->provider; }
void DeviceInfoContext::SetProvider(const std::string &provider) { data_->provider = provider; }
std::string DeviceInfoContext::GetProviderDevice() const { return data_->provider_device; }
void DeviceInfoContext::SetProviderDevice(const std::string &device) { data_->provider_device = device; }
void DeviceInfoContext::SetAllocator(const std::shared_ptr<Allocator> &allocator) { data_->allocator = allocator; }
std::shared_ptr<Allocator> DeviceInfoContext::GetAllocator() const { return data_->allocator; }

void CPUDeviceInfo::SetEnableFP16(bool is_fp16) { data_->enable_fp16 = is_fp16; }
bool CPUDeviceInfo::GetEnableFP16() const { return data_->enable_fp16; }

void KirinNPUDeviceInfo::SetEnableFP16(bool is_fp16) { data_->enable_fp16 = is_fp16; }
bool KirinNPUDeviceInfo::GetEnableFP16() const { return data_->enable_fp16; }
void KirinNPUDeviceInfo::SetFrequency(int frequency) { data_->frequency = frequency; }
int KirinNPUDeviceInfo::GetFrequency() const { return data_->frequency; }

void GPUDeviceInfo::SetDeviceID(uint32_t device_id) { data_->device_id = device_id; }
uint32_t GPUDeviceInfo::GetDeviceID() const { return data_->device_id; }
void GPUDeviceInfo::SetPrecisionMode(const std::string &mode) { data_->precision_mode = mode; }
std::string GPUDeviceInfo::GetPrecisionMode() const {
  return data_->precision_mode.empty() ? "origin" : data_->precision_mode;
}
void GPUDeviceInfo::SetEnableFP16(bool is_fp16) { data_->enable_fp16 = is_fp16; }
bool GPUDeviceInfo::GetEnableFP16() const { return data_->enable_fp16; }
void GPUDeviceInfo::SetEnableGLTexture(bool is_enabled) { data_->gl_texture = is_enabled; }
bool GPUDeviceInfo::GetEnableGLTexture() const { return data_->gl_texture; }
void GPUDeviceInfo::SetGLContext(void *context) { data_->gl_context = context; }
void *GPUDeviceInfo::GetGLContext() const { return data_->gl_context; }
void GPUDeviceInfo::SetGLDisplay(void *display) { data_->gl_display = display; }
void *GPUDeviceInfo::GetGLDisplay() const { return data_->gl_display; }

void AscendDeviceInfo::SetDeviceID(uint32_t device_id) { data_->device_id = device_id; }
uint32_t AscendDeviceInfo::GetDeviceID() const { return data_->device_id; }
void AscendDeviceInfo::SetRankID(uint32_t rank_id) { data_->rank_id = rank_id; }
uint32_t AscendDeviceInfo::GetRankID() const { return data_->rank_id; }
void AscendDeviceInfo::SetPrecisionMode(const std::string &mode) { data_->precision_mode = mode; }
std::string AscendDeviceInfo::GetPrecisionMode() const {
  return data_->precision_mode.empty() ? "enforce_fp16" : data_->precision_mode;
}
}  // namespace mindspore
