// The public face of OpenClUser.
#include "include/registry/opencl_device_access.h"
#include "model/message.h"
#include "opencl/opencl_user.h"

namespace mindspore::registry::opencl {
namespace {
// CL_DEVICE_IMAGE_PITCH_ALIGNMENT, of OpenCL 2.0 and of the extension for 1.2.
constexpr cl_device_info kPitchAlignment = 0x104A;
}  // namespace

Status DeviceAccess::Open() { return user_ != nullptr ? Status(kSuccess) : mslite::OpenClUser::Current(&user_); }

Status DeviceAccess::LoadSource(const std::string &program, const std::string &source) {
  MSLITE_TRY(Open());
  user_->KeepSource(program, source);
  return kSuccess;
}

Status DeviceAccess::BuildKernel(const std::string &program, const std::string &kernel,
                                 const std::vector<std::string> &options, _cl_kernel **built) {
  MSLITE_TRY(Open());
  return user_->Build(program, kernel, options, built);
}

Status DeviceAccess::SetMemoryArg(_cl_kernel *kernel, uint32_t index, void *memory) {
  MSLITE_TRY(Open());
  cl_mem object = nullptr;
  MSLITE_TRY(user_->memory().Find(memory, &object));
  return mslite::OpenClStatus(user_->device().library().clSetKernelArg(kernel, index, sizeof(cl_mem), &object),
                              ("argument " + std::to_string(index) + " of the kernel").c_str());
}

Status DeviceAccess::RunKernel(_cl_kernel *kernel, uint32_t dimensions, const size_t *global, const size_t *local,
                               _cl_command_queue *queue, _cl_event **event) {
  MSLITE_TRY(Open());
  return mslite::OpenClStatus(
      user_->device().library().clEnqueueNDRangeKernel(queue == nullptr ? user_->device().queue() : queue, kernel,
                                                       dimensions, nullptr, global, local, 0, nullptr, event),
      "clEnqueueNDRangeKernel");
}

Status DeviceAccess::SyncCommandQueue() {
  MSLITE_TRY(Open());
  return mslite::OpenClStatus(user_->device().library().clFinish(user_->device().queue()), "clFinish");
}

void *DeviceAccess::MapBuffer(void *memory, int flags, bool sync) {
  void *contents = nullptr;
  const bool is_mapped =
      Open().IsOk() && user_->memory().Map(memory, static_cast<cl_map_flags>(flags), sync, &contents).IsOk();
  return is_mapped ? contents : nullptr;
}

Status DeviceAccess::UnmapBuffer(void *memory) {
  MSLITE_TRY(Open());
  return user_->memory().Unmap(memory);
}

Status DeviceAccess::ReadImage(void *memory, void *contents) {
  MSLITE_TRY(Open());
  return user_->memory().ReadImage(memory, contents);
}

Status DeviceAccess::WriteImage(void *memory, const void *contents) {
  MSLITE_TRY(Open());
  return user_->memory().WriteImage(memory, contents);
}

std::shared_ptr<Allocator> DeviceAccess::GetAllocator() { return Open().IsOk() ? user_->allocator() : nullptr; }

uint64_t DeviceAccess::LimitOf(Limit limit) {
  if (Open().IsError()) return 0;
  switch (limit) {
    case Limit::kGroupSize:
      return user_->device().limits().group_size;
    case Limit::kImageWidth:
      return user_->memory().Limit(CL_DEVICE_IMAGE2D_MAX_WIDTH);
    case Limit::kImageHeight:
      return user_->memory().Limit(CL_DEVICE_IMAGE2D_MAX_HEIGHT);
    case Limit::kImagePitchAlignment:
      return user_->memory().Limit(kPitchAlignment);
  }
  return 0;
}
}  // namespace mindspore::registry::opencl
