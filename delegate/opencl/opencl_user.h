// OpenClUser: the OpenCL device for registered kernels, which use it through OpenCLRuntimeWrapper
// (include/registry/opencl_runtime_wrapper.h).
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_USER_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_USER_H

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "opencl/opencl_memory.h"
#include "registry/kernel_device.h"
#include "registry/opencl_access.h"

namespace mslite {
class OpenClUser : public KernelDevice, public OpenClAccess, public std::enable_shared_from_this<OpenClUser> {
 public:
  // Returns the object for the device with this index (OpenClDevice::Find), which all models on the device share.
  static Status Of(uint32_t number, std::shared_ptr<OpenClUser> *user);
  // Returns the object for the registered kernel that this thread is running; outside of kernels, for the first device.
  static Status Current(std::shared_ptr<OpenClUser> *user);
  explicit OpenClUser(const std::shared_ptr<OpenClDevice> &device) : device_(device), memory_(device) {}
  ~OpenClUser() override;
  OpenClUser(const OpenClUser &) = delete;
  OpenClUser &operator=(const OpenClUser &) = delete;

  KernelDevice *Enter() override;
  void Leave(KernelDevice *before) override;
  Status Make(const mslite_tensor &tensor, void **memory) override;
  Status Write(const mslite_tensor &tensor, const void *contents, void *memory) override;
  Status Read(const mslite_tensor &tensor, void *memory, void *contents) override;
  std::shared_ptr<mindspore::Allocator> allocator() override { return {shared_from_this(), &memory_}; }

  void KeepSource(const std::string &program, const std::string &source) override;
  Status Build(const std::string &program, const std::string &kernel, const std::vector<std::string> &options,
               cl_kernel *built) override;
  Status SetMemoryArg(cl_kernel kernel, uint32_t index, void *memory) override;
  Status Enqueue(cl_kernel kernel, uint32_t dimensions, const size_t *global, const size_t *local,
                 cl_command_queue queue, cl_event *event) override;
  Status Finish() override;
  Status Map(void *memory, int flags, bool waits, void **contents) override;
  Status Unmap(void *memory) override { return memory_.Unmap(memory); }
  Status ReadImage(void *memory, void *texels) override { return memory_.ReadImage(memory, texels); }
  Status WriteImage(void *memory, const void *texels) override { return memory_.WriteImage(memory, texels); }
  uint64_t LimitOf(Limit limit) override;

 private:
  Status Compile(const std::string &program, const std::string &source, const std::string &options,
                 cl_program *compiled);

  std::shared_ptr<OpenClDevice> device_;  // destroyed last
  OpenClMemory memory_;
  std::mutex building_;
  std::map<std::string, std::string> sources_;  // program name -> source
  std::map<std::string, cl_program> programs_;  // options and source -> program
};
}  // namespace mslite

#endif
