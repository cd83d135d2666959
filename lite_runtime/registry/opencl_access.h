// The interface of OpenCL devices for kernels of applications, which DeviceAccess uses
// (include/registry/opencl_device_access.h). It is implemented in the folder delegate/, if the library has the OpenCL
// backend.
#ifndef MSLITE_REGISTRY_OPENCL_ACCESS_H
#define MSLITE_REGISTRY_OPENCL_ACCESS_H

#include <memory>
#include <string>
#include <vector>

#include "include/registry/opencl_device_access.h"
#include "model/message.h"

namespace mslite {
class OpenClAccess {
 public:
  using Limit = mindspore::registry::opencl::DeviceAccess::Limit;

  virtual ~OpenClAccess() = default;
  virtual void KeepSource(const std::string &program, const std::string &source) = 0;
  virtual Status Build(const std::string &program, const std::string &kernel, const std::vector<std::string> &options,
                       _cl_kernel **built) = 0;
  virtual Status SetMemoryArg(_cl_kernel *kernel, uint32_t index, void *memory) = 0;
  virtual Status Enqueue(_cl_kernel *kernel, uint32_t dimensions, const size_t *global, const size_t *local,
                         _cl_command_queue *queue, _cl_event **event) = 0;
  virtual Status Finish() = 0;
  virtual Status Map(void *memory, int flags, bool waits, void **contents) = 0;
  virtual Status Unmap(void *memory) = 0;
  virtual Status ReadImage(void *memory, void *texels) = 0;
  virtual Status WriteImage(void *memory, const void *texels) = 0;
  virtual std::shared_ptr<mindspore::Allocator> allocator() = 0;
  virtual uint64_t LimitOf(Limit limit) = 0;
};
}  // namespace mslite

#endif
