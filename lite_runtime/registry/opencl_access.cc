#include "registry/opencl_access.h"

#include "registry/engines.h"

namespace mindspore::registry::opencl {
Status DeviceAccess::Open() {
  if (access_ != nullptr) return kSuccess;
  if (mslite::mslite_engines[0].opencl == nullptr) {
    return mslite::Fail(kLiteNotSupport,
                        "this runtime was cropped and has no OpenCL backend (mslite-crop --engines keeps it)");
  }
  return mslite::mslite_engines[0].opencl(&access_);
}

Status DeviceAccess::LoadSource(const std::string &program, const std::string &source) {
  MSLITE_TRY(Open());
  access_->KeepSource(program, source);
  return kSuccess;
}

Status DeviceAccess::BuildKernel(const std::string &program, const std::string &kernel,
                                 const std::vector<std::string> &options, _cl_kernel **built) {
  MSLITE_TRY(Open());
  return access_->Build(program, kernel, options, built);
}

Status DeviceAccess::SetMemoryArg(_cl_kernel *kernel, uint32_t index, void *memory) {
  MSLITE_TRY(Open());
  return access_->SetMemoryArg(kernel, index, memory);
}

Status DeviceAccess::RunKernel(_cl_kernel *kernel, uint32_t dimensions, const size_t *global, const size_t *local,
                               _cl_command_queue *queue, _cl_event **event) {
  MSLITE_TRY(Open());
  return access_->Enqueue(kernel, dimensions, global, local, queue, event);
}

Status DeviceAccess::SyncCommandQueue() {
  MSLITE_TRY(Open());
  return access_->Finish();
}

void *DeviceAccess::MapBuffer(void *memory, int flags, bool sync) {
  void *contents = nullptr;
  return Open().IsOk() && access_->Map(memory, flags, sync, &contents).IsOk() ? contents : nullptr;
}

Status DeviceAccess::UnmapBuffer(void *memory) {
  MSLITE_TRY(Open());
  return access_->Unmap(memory);
}

Status DeviceAccess::ReadImage(void *memory, void *contents) {
  MSLITE_TRY(Open());
  return access_->ReadImage(memory, contents);
}

Status DeviceAccess::WriteImage(void *memory, const void *contents) {
  MSLITE_TRY(Open());
  return access_->WriteImage(memory, contents);
}

std::shared_ptr<Allocator> DeviceAccess::GetAllocator() { return Open().IsOk() ? access_->allocator() : nullptr; }

uint64_t DeviceAccess::LimitOf(Limit limit) { return Open().IsOk() ? access_->LimitOf(limit) : 0; }
}  // namespace mindspore::registry::opencl
