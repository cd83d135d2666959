/// Implementation of OpenCLRuntimeWrapper: access to an OpenCL device without the header CL/cl.h.
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
/// Access to an OpenCL device. In a kernel that a model calls, it is the device of the model; elsewhere the device that
/// a model would use by default. Without a device or without the OpenCL backend, functions return kLiteNotSupport, a
/// null pointer or 0.
class MS_API DeviceAccess {
 public:
  Status LoadSource(const std::string &program, const std::string &source);
  /// Compiles a kernel, which the caller releases.
  Status BuildKernel(const std::string &program, const std::string &kernel, const std::vector<std::string> &options,
                     _cl_kernel **built);
  Status SetMemoryArg(_cl_kernel *kernel, uint32_t index, void *memory);
  /// Starts a kernel. If `local` is null, the driver chooses the work-group size. If `queue` is null, the queue of the
  /// device is used. `event` may be null; if not, the caller releases the event.
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

  std::shared_ptr<mslite::OpenClAccess> access_;  // set by the first call
};
}  // namespace mindspore::registry::opencl

#endif
