// OpenClDevice: a device with its context and queue, which models on the device share.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_DEVICE_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_DEVICE_H

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "opencl/opencl_cache.h"
#include "opencl/opencl_counts.h"
#include "opencl/opencl_library.h"
#include "opencl/opencl_tuning.h"

namespace mslite {
// Device memory, which the destructor frees.
class OpenClBuffer {
 public:
  OpenClBuffer(const OpenClLibrary &library, cl_mem memory) : library_(library), memory_(memory) {}
  ~OpenClBuffer() { library_.clReleaseMemObject(memory_); }
  OpenClBuffer(const OpenClBuffer &) = delete;
  OpenClBuffer &operator=(const OpenClBuffer &) = delete;
  cl_mem memory() const { return memory_; }

 private:
  const OpenClLibrary &library_;
  cl_mem memory_;
};

// A kernel of a program. Each launch has its own object, because it stores the arguments.
class OpenClKernel {
 public:
  OpenClKernel(const OpenClLibrary &library, cl_kernel kernel) : library_(library), kernel_(kernel) {}
  ~OpenClKernel() { library_.clReleaseKernel(kernel_); }
  OpenClKernel(const OpenClKernel &) = delete;
  OpenClKernel &operator=(const OpenClKernel &) = delete;
  cl_kernel kernel() const { return kernel_; }

 private:
  const OpenClLibrary &library_;
  cl_kernel kernel_;
};

class OpenClDevice {
 public:
  struct Limits {
    size_t group_size = 1;   // maximum size of a work-group
    size_t alignment = 128;  // of sub-buffers, in bytes
    uint64_t largest_buffer = 0;
    uint64_t local_bytes = 0;  // local memory of a work-group
    size_t image_width = 0;    // maximum size of 2-D images; 0: no images
    size_t image_height = 0;
    bool prefers_images = false;  // reading them is faster than reading buffers
  };

  // Finds the device with MSLITE_OPENCL_DEVICE in its name or platform, else the GPU with this index. Errors:
  // kLiteNotSupport, with the available devices, if there is none.
  static mindspore::Status Find(uint32_t number, std::shared_ptr<OpenClDevice> *device);
  ~OpenClDevice();
  OpenClDevice(const OpenClDevice &) = delete;
  OpenClDevice &operator=(const OpenClDevice &) = delete;

  const std::string &name() const { return name_; }
  const Limits &limits() const { return limits_; }
  const OpenClLibrary &library() const { return library_; }
  cl_command_queue queue() const { return queue_; }
  cl_context context() const { return context_; }
  cl_device_id id() const { return device_; }
  // Returns true if the device shares the memory of the host.
  bool shares_memory() const { return shares_memory_; }
  OpenClTuning &tuning() { return *tuning_; }
  // Called after a failed run, which may have lost the device. The next model gets a new context.
  void MarkFailed() { has_failed_ = true; }

  mindspore::Status MakeBuffer(size_t bytes, std::unique_ptr<OpenClBuffer> *buffer) const;
  // Creates a buffer over host memory without a copy.
  mindspore::Status ShareBuffer(void *memory, size_t bytes, bool is_written,
                                std::unique_ptr<OpenClBuffer> *buffer) const;
  // Creates a buffer for bytes [offset, offset + bytes) of `whole`, which must outlive it.
  mindspore::Status MakeSubBuffer(const OpenClBuffer &whole, size_t offset, size_t bytes,
                                  std::unique_ptr<OpenClBuffer> *buffer) const;
  // Creates an image with four float16 or float32 channels.
  mindspore::Status MakeImage(size_t width, size_t height, bool is_half, std::unique_ptr<OpenClBuffer> *image) const;
  // Builds a kernel of a file in kernels/gpu, with these lines before its source ("#define RANK 4\n"). Programs are
  // cached.
  mindspore::Status MakeKernel(const std::string &file, const std::string &defines, const std::string &function,
                               std::unique_ptr<OpenClKernel> *kernel, OpenClBuildCounts *counts);
  // Returns the maximum work-group size of a kernel.
  size_t GroupSizeOf(const OpenClKernel &kernel) const;
  // Measures the time of a launch in seconds, while nothing else runs. It needs tuning to be enabled.
  mindspore::Status Measure(const OpenClKernel &kernel, const std::array<size_t, 3> &items,
                            const std::array<size_t, 3> &group, double *seconds) const;
  mindspore::Status Enqueue(const OpenClKernel &kernel, const std::array<size_t, 3> &items,
                            const std::array<size_t, 3> &group, cl_event *event = nullptr) const;
  // Returns the key of tuning results: device, driver, source of the kernel, sizes of the launch.
  Digest TuningKeyOf(const OpenClLaunch &launch, const std::string &defines) const;

 private:
  OpenClDevice(const OpenClLibrary &library, cl_device_id device) : library_(library), device_(device) {}
  mindspore::Status Start();
  mindspore::Status Build(const std::string &file, const std::string &defines, cl_program *program,
                          OpenClBuildCounts *counts);
  mindspore::Status Compile(const std::string &what, const std::string &source, cl_program *program) const;
  cl_program FromCache(const std::string &source) const;
  std::vector<uint8_t> BinaryOf(cl_program program) const;

  const OpenClLibrary &library_;
  cl_device_id device_;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  std::string name_;
  std::string identity_;  // description of driver and device, a part of cache keys
  Limits limits_;
  bool shares_memory_ = false;
  std::atomic<bool> has_failed_{false};
  std::mutex building_;
  std::map<std::string, cl_program> programs_;
  std::unique_ptr<OpenClCache> cache_;
  std::unique_ptr<OpenClTuning> tuning_;
};
}  // namespace mslite

#endif
