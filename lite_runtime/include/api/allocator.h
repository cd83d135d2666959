/// The interface of custom allocators for tensors and devices.
#ifndef MINDSPORE_INCLUDE_API_ALLOCATOR_H
#define MINDSPORE_INCLUDE_API_ALLOCATOR_H

#include <cstddef>
#include <memory>

#include "include/api/data_type.h"
#include "include/api/visible.h"

namespace mindspore {
class MS_API Allocator {
 public:
  virtual ~Allocator() = default;
  /// Returns `size` bytes, or nullptr if they cannot be allocated.
  virtual void *Malloc(size_t size) = 0;
  /// Returns memory for an image of `width` by `height`, or nullptr if images are not supported.
  virtual void *Malloc(size_t width, size_t height, DataType type) {
    static_cast<void>(width);
    static_cast<void>(height);
    static_cast<void>(type);
    return nullptr;
  }
  virtual void Free(void *pointer) = 0;
  virtual int RefCount(void *pointer) = 0;
  virtual int SetRefCount(void *pointer, int count) = 0;
  virtual int DecRefCount(void *pointer, int count) = 0;
  virtual int IncRefCount(void *pointer, int count) = 0;
  /// Returns the default CPU allocator: 64-byte aligned, without reference counts.
  static std::shared_ptr<Allocator> Create();
  virtual void *Prepare(void *pointer) { return pointer; }

 protected:
  size_t aligned_size_ = 64;
};
}  // namespace mindspore

#endif
