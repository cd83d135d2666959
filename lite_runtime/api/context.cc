#include "include/api/context.h"

#include <utility>

#include "api/context_limits.h"
#include "api/log.h"

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
  bool falls_back = true;
};

Context::Context() : data_(std::make_shared<Data>()) {}
void Context::SetThreadNum(int32_t thread_num) { data_->thread_num = thread_num; }
int32_t Context::GetThreadNum() const { return data_->thread_num; }
void Context::SetInterOpParallelNum(int32_t parallel_num) { data_->inter_op_parallel_num = parallel_num; }
int32_t Context::GetInterOpParallelNum() const { return data_->inter_op_parallel_num; }
void Context::SetThreadAffinity(int mode) { data_->affinity_mode = mode < 0 || mode > 2 ? 0 : mode; }
int Context::GetThreadAffinityMode() const { return data_->affinity_mode; }
void Context::SetThreadAffinity(const std::vector<int> &core_list) {
  mslite::LogFailure([&] { data_->affinity_cores = core_list; });
}
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

void Context::SetFallback(bool is_allowed) { data_->falls_back = is_allowed; }
bool Context::GetFallback() const { return data_->falls_back; }

mslite::RunLimits &ContextLimits::Of(const Context &context) { return context.data_->limits; }
std::shared_ptr<Context> ContextLimits::Copy(const Context &context) {
  auto copy = std::make_shared<Context>();
  *copy->data_ = *context.data_;
  return copy;
}

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
  // Ascend
  std::string insert_op_config_path;
  std::string input_format;
  std::string input_shape;
  std::map<int, std::vector<int>> input_shape_map;
  std::string dynamic_batch_size;
  std::string dynamic_image_size;
  DataType output_type = DataType::kTypeUnknown;
  std::string op_select_impl_mode;
  std::string fusion_switch_config_path;
  std::string buffer_optimize_mode;
};

DeviceInfoContext::DeviceInfoContext() : data_(std::make_shared<Data>()) {}
std::string DeviceInfoContext::GetProvider() const { return data_->provider; }
void DeviceInfoContext::SetProvider(const std::string &provider) {
  mslite::LogFailure([&] { data_->provider = provider; });
}
std::string DeviceInfoContext::GetProviderDevice() const { return data_->provider_device; }
void DeviceInfoContext::SetProviderDevice(const std::string &device) {
  mslite::LogFailure([&] { data_->provider_device = device; });
}
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
void GPUDeviceInfo::SetPrecisionMode(const std::string &mode) {
  mslite::LogFailure([&] { data_->precision_mode = mode; });
}
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
void AscendDeviceInfo::SetPrecisionMode(const std::string &mode) {
  mslite::LogFailure([&] { data_->precision_mode = mode; });
}
std::string AscendDeviceInfo::GetPrecisionMode() const {
  return data_->precision_mode.empty() ? "enforce_fp16" : data_->precision_mode;
}
void AscendDeviceInfo::SetInsertOpConfigPath(const std::string &path) {
  mslite::LogFailure([&] { data_->insert_op_config_path = path; });
}
std::string AscendDeviceInfo::GetInsertOpConfigPath() const { return data_->insert_op_config_path; }
void AscendDeviceInfo::SetInputFormat(const std::string &format) {
  mslite::LogFailure([&] { data_->input_format = format; });
}
std::string AscendDeviceInfo::GetInputFormat() const { return data_->input_format; }
void AscendDeviceInfo::SetInputShape(const std::string &shape) {
  mslite::LogFailure([&] { data_->input_shape = shape; });
}
std::string AscendDeviceInfo::GetInputShape() const { return data_->input_shape; }
void AscendDeviceInfo::SetDynamicImageSize(const std::string &image_size) {
  mslite::LogFailure([&] { data_->dynamic_image_size = image_size; });
}
std::string AscendDeviceInfo::GetDynamicImageSize() const { return data_->dynamic_image_size; }
void AscendDeviceInfo::SetOpSelectImplMode(const std::string &mode) {
  mslite::LogFailure([&] { data_->op_select_impl_mode = mode; });
}
std::string AscendDeviceInfo::GetOpSelectImplMode() const {
  return data_->op_select_impl_mode.empty() ? "high_performance" : data_->op_select_impl_mode;
}
void AscendDeviceInfo::SetFusionSwitchConfigPath(const std::string &path) {
  mslite::LogFailure([&] { data_->fusion_switch_config_path = path; });
}
std::string AscendDeviceInfo::GetFusionSwitchConfigPath() const { return data_->fusion_switch_config_path; }
void AscendDeviceInfo::SetBufferOptimizeMode(const std::string &mode) {
  mslite::LogFailure([&] { data_->buffer_optimize_mode = mode; });
}
std::string AscendDeviceInfo::GetBufferOptimizeMode() const {
  return data_->buffer_optimize_mode.empty() ? "l2_optimize" : data_->buffer_optimize_mode;
}
void AscendDeviceInfo::SetInputShapeMap(const std::map<int, std::vector<int>> &shape) {
  mslite::LogFailure([&] { data_->input_shape_map = shape; });
}
std::map<int, std::vector<int>> AscendDeviceInfo::GetInputShapeMap() const { return data_->input_shape_map; }
void AscendDeviceInfo::SetDynamicBatchSize(const std::vector<size_t> &batch_sizes) {
  mslite::LogFailure([&] {
    std::string text;
    for (const size_t size : batch_sizes) text += (text.empty() ? "" : ",") + std::to_string(size);
    data_->dynamic_batch_size = std::move(text);
  });
}
std::string AscendDeviceInfo::GetDynamicBatchSize() const { return data_->dynamic_batch_size; }
void AscendDeviceInfo::SetOutputType(enum DataType type) { data_->output_type = type; }
enum DataType AscendDeviceInfo::GetOutputType() const { return data_->output_type; }
}  // namespace mindspore
