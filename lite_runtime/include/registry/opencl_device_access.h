/// What OpenCLRuntimeWrapper stands on: an OpenCL device in the types of CL/cl.h, which need not be there.
#ifndef MINDSPORE_INCLUDE_REGISTRY_OPENCL_DEVICE_ACCESS_H
#define MINDSPORE_INCLUDE_REGISTRY_OPENCL_DEVICE_ACCESS_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "include/api/allocator.h"
#include "include/api/status.h"
#include "include/api/visible.h"

struct _cl_command_queue;
struct _cl_event;
struct _cl_kernel;

namespace mslite {
class OpenClAccess;
}

namespace mindspore::registry::opencl {
/// In a kernel that a model calls it is the device of that model, elsewhere the first one that models would get. Where
/// there is none, or the library has no OpenCL engine, functions give kLiteNotSupport, a null pointer or 0.
class MS_API DeviceAccess {
 public:
  Status LoadSource(const std::string &program, const std::string &source);
  /// The caller gets the kernel, and releases it.
  Status BuildKernel(const std::string &program, const std::string &kernel, const std::vector<std::string> &options,
                     _cl_kernel **built);
  Status SetMemoryArg(_cl_kernel *kernel, uint32_t index, void *memory);
  /// `local` null: the driver chooses. `queue` null: that of the device. `event` may be null; else the caller releases
  /// it.
  Status RunKernel(_cl_kernel *kernel, uint32_t dimensions, const size_t *global, const size_t *local,
                   _cl_command_queue *queue, _cl_event **event);
  Status SyncCommandQueue();
  void *MapBuffer(void *memory, int flags, bool sync);
  Status UnmapBuffer(void *memory);
  Status ReadImage(void *memory, void *contents);
  Status WriteImage(void *memory, const void *contents);
  std::shared_ptr<Allocator> GetAllocator();

  enum class Limit { kGroupSize, kImageWidth, kImageHeight, kImagePitchAlignment };
  uint64_t LimitOf(Limit limit);

 private:
  Status Open();

  std::shared_ptr<mslite::OpenClAccess> access_;  // of the first call
};
}  // namespace mindspore::registry::opencl

#endif
