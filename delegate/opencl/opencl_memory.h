// Device memory for registered kernels, identified by pointers: buffers, and images in MindSpore Lite's layout.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_MEMORY_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_MEMORY_H

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "include/api/allocator.h"
#include "kernel.h"
#include "opencl/opencl_device.h"

// CALL(name) for each OpenCL function that only OpenClMemory needs.
#define MSLITE_OPENCL_MEMORY_FUNCTIONS(CALL) \
  CALL(clCreateImage)                        \
  CALL(clEnqueueReadImage)                   \
  CALL(clEnqueueWriteImage)                  \
  CALL(clEnqueueMapBuffer)                   \
  CALL(clEnqueueMapImage)                    \
  CALL(clEnqueueUnmapMemObject)

namespace mslite {
// The image of a tensor. A texel has four channels; channels are the last dimension. [N, D, H, W, C] has N * D * H rows
// of W * ceil(C / 4) texels, or, if that is too wide, N * D * H * W rows of ceil(C / 4) texels.
struct OpenClTexels {
  size_t width = 1;
  size_t height = 1;
  size_t places = 1;    // pixels: N * D * H * W
  size_t channels = 1;  // C
  int32_t type = 0;
};

class OpenClMemory : public mindspore::Allocator {
 public:
  explicit OpenClMemory(std::shared_ptr<OpenClDevice> device);
  // Fails if the library does not have the required functions. Must be called first.
  mindspore::Status Check() const;
  ~OpenClMemory() override;
  OpenClMemory(const OpenClMemory &) = delete;
  OpenClMemory &operator=(const OpenClMemory &) = delete;

  // Return null and write a log message if the allocation fails.
  void *Malloc(size_t size) override;
  void *Malloc(size_t width, size_t height, mindspore::DataType type) override;
  void Free(void *pointer) override;
  int RefCount(void *pointer) override { return CountReferences(pointer, 0, false); }
  int SetRefCount(void *pointer, int count) override { return CountReferences(pointer, count, true); }
  int DecRefCount(void *pointer, int count) override { return CountReferences(pointer, -count, false); }
  int IncRefCount(void *pointer, int count) override { return CountReferences(pointer, count, false); }

  // Returns the image of a tensor. Errors: kLiteNotSupport, with the reason, if this device has no such image.
  mindspore::Status ShapeOf(const mslite_tensor &tensor, OpenClTexels *shape) const;
  mindspore::Status MakeImage(size_t width, size_t height, int32_t type, void **memory);
  // Returns the object of a pointer. Errors: kLiteParamInvalid for an unknown pointer.
  mindspore::Status Find(void *memory, cl_mem *object);
  // Copy the elements of a tensor to or from an image. Buffers are copied unchanged.
  mindspore::Status Write(const OpenClTexels &shape, const void *contents, void *memory);
  mindspore::Status Read(const OpenClTexels &shape, void *memory, void *contents);
  // Copy all texels of an image.
  mindspore::Status ReadImage(void *memory, void *texels);
  mindspore::Status WriteImage(void *memory, const void *texels);
  mindspore::Status Map(void *memory, cl_map_flags flags, bool waits, void **contents);
  // `memory`: the pointer of the memory, or the pointer that Map returned for it.
  mindspore::Status Unmap(void *memory);

  uint64_t Limit(cl_device_info what) const;

 private:
  struct Piece {
    cl_mem object = nullptr;
    size_t bytes = 0;
    size_t width = 0;  // 0: a buffer
    size_t height = 0;
    int32_t type = 0;
    void *mapped = nullptr;
    int references = 0;
  };
  struct Functions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): names and types cannot be
#define MSLITE_MEMBER(name) decltype(&::name) name = nullptr;
    MSLITE_OPENCL_MEMORY_FUNCTIONS(MSLITE_MEMBER)
#undef MSLITE_MEMBER
  };

  void *Add(cl_mem object, size_t bytes, size_t width, size_t height, int32_t type);
  mindspore::Status PieceAt(void *memory, Piece *piece);
  mindspore::Status ImageAt(void *memory, const OpenClTexels *shape, Piece *piece);
  mindspore::Status CopyImage(const Piece &image, const void *source, void *target) const;
  int CountReferences(void *pointer, int count, bool sets);

  std::shared_ptr<OpenClDevice> device_;
  Functions functions_;
  std::mutex mutex_;
  std::unordered_map<void *, std::unique_ptr<Piece>> pieces_;  // key: the address of the piece
};
}  // namespace mslite

#endif
