/// OpenCL for kernels of applications, which are registered for the arch GPU.
///
/// The header needs Khronos' C++ header (CL/opencl.hpp; Debian: opencl-clhpp-headers). A program that uses cl::Kernel,
/// cl::Event and so on must link to the OpenCL loader (-lOpenCL; Debian: ocl-icd-opencl-dev). mslite itself does not
/// link to it.
#ifndef MINDSPORE_INCLUDE_REGISTRY_OPENCL_RUNTIME_WRAPPER_H
#define MINDSPORE_INCLUDE_REGISTRY_OPENCL_RUNTIME_WRAPPER_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#ifndef CL_HPP_TARGET_OPENCL_VERSION
#define CL_HPP_TARGET_OPENCL_VERSION 120
#endif
#ifndef CL_HPP_MINIMUM_OPENCL_VERSION
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#endif
#if __has_include("CL/opencl.hpp")
#include "CL/opencl.hpp"
#else
#include "CL/cl2.hpp"
#endif

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "include/registry/opencl_device_access.h"

namespace mindspore::registry::opencl {
/// OpenCL functions for one kernel, which has an OpenCLRuntimeWrapper as a member, as in MindSpore Lite. All wrappers
/// of a device share its command queue and compiled programs.
class OpenCLRuntimeWrapper {
 public:
  /// Sets the source of a program, which BuildKernel compiles. It replaces a previous source with the same name.
  Status LoadSource(const std::string &program_name, const std::string &source) {
    return device_.LoadSource(program_name, source);
  }

  /// Compiles a kernel as OpenCL C 1.2. The macros FLT, FLT4, FLT16, READ_IMAGE and WRITE_IMAGE are defined for
  /// float32.
  Status BuildKernel(cl::Kernel *kernel, const std::string &program_name, const std::string &kernel_name,
                     const std::vector<std::string> &build_options_ext = {}) {
    cl_kernel built = nullptr;
    const Status status = device_.BuildKernel(program_name, kernel_name, build_options_ext, &built);
    if (status.IsOk()) *kernel = cl::Kernel(built);
    return status;
  }

  /// Sets an argument to device memory: the data of a tensor, or memory of GetAllocator.
  Status SetKernelArg(const cl::Kernel &kernel, uint32_t index, void *const value) {
    return device_.SetMemoryArg(kernel(), index, value);
  }

  template <typename T>
  typename std::enable_if<!std::is_pointer<T>::value, Status>::type SetKernelArg(const cl::Kernel &kernel,
                                                                                 uint32_t index, const T value) {
    const cl_int error = const_cast<cl::Kernel &>(kernel).setArg(index, value);
    if (error == CL_SUCCESS) return kSuccess;
    return Status(kLiteError, "kernel argument " + std::to_string(index) + ": OpenCL error " + std::to_string(error));
  }

  /// Starts a kernel without waiting for it. If `local` is cl::NullRange, the driver chooses the work-group size.
  Status RunKernel(const cl::Kernel &kernel, const cl::NDRange &global, const cl::NDRange &local,
                   cl::CommandQueue *command_queue = nullptr, cl::Event *event = nullptr) {
    cl_event made = nullptr;
    const Status status =
        device_.RunKernel(kernel(), static_cast<uint32_t>(global.dimensions()), global.get(),
                          local.dimensions() == 0 ? nullptr : local.get(),
                          command_queue == nullptr ? nullptr : (*command_queue)(), event == nullptr ? nullptr : &made);
    if (status.IsOk() && event != nullptr) *event = cl::Event(made);
    return status;
  }

  Status SyncCommandQueue() { return device_.SyncCommandQueue(); }

  /// Maps device memory until UnmapBuffer. `flags` are those of OpenCL, for example CL_MAP_READ. Returns null on
  /// failure.
  void *MapBuffer(void *host_ptr, int flags, bool sync = true) { return device_.MapBuffer(host_ptr, flags, sync); }
  /// Unmaps memory. `host_ptr` is the argument or the result of MapBuffer.
  Status UnmapBuffer(void *host_ptr) { return device_.UnmapBuffer(host_ptr); }

  /// Reads all texels of an image, without gaps between rows.
  Status ReadImage(void *buffer, void *dst_data) { return device_.ReadImage(buffer, dst_data); }
  Status WriteImage(void *buffer, void *src_data) { return device_.WriteImage(buffer, src_data); }

  /// Returns the allocator of device memory: buffers, and images with four channels. Its pointers are only valid as
  /// arguments of SetKernelArg, MapBuffer, ReadImage and WriteImage and must not be dereferenced.
  std::shared_ptr<Allocator> GetAllocator() { return device_.GetAllocator(); }

  uint64_t DeviceMaxWorkGroupSize() { return device_.LimitOf(DeviceAccess::Limit::kGroupSize); }
  uint64_t GetMaxImage2DWidth() { return device_.LimitOf(DeviceAccess::Limit::kImageWidth); }
  uint64_t GetMaxImage2DHeight() { return device_.LimitOf(DeviceAccess::Limit::kImageHeight); }
  uint64_t GetImagePitchAlignment() { return device_.LimitOf(DeviceAccess::Limit::kImagePitchAlignment); }

 private:
  DeviceAccess device_;
};
}  // namespace mindspore::registry::opencl

#endif
