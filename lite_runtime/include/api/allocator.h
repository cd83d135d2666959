/// An allocator that a caller may give to tensors and devices.
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
  /// `size` bytes, or nullptr.
  virtual void *Malloc(size_t size) = 0;
  /// Memory for an image of `width` by `height`; nullptr where images are not supported.
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
  /// The default CPU allocator: 64-byte aligned, no reference counts.
  static std::shared_ptr<Allocator> Create();
  virtual void *Prepare(void *pointer) { return pointer; }

 protected:
  size_t aligned_size_ = 64;
};
}  // namespace mindspore

#endif
