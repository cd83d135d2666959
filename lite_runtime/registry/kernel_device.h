// The device that a registered kernel runs on, where that is not the CPU.
#ifndef MSLITE_REGISTRY_KERNEL_DEVICE_H
#define MSLITE_REGISTRY_KERNEL_DEVICE_H

#include <memory>

#include "include/api/allocator.h"
#include "kernel.h"
#include "model/message.h"

namespace mslite {
class KernelDevice {
 public:
  virtual ~KernelDevice() = default;

  // Kernels that are called in this thread until then use this device. Gives the one that they used before, or null.
  virtual KernelDevice *Enter() = 0;
  virtual void Leave(KernelDevice *before) = 0;

  // Memory for a tensor of this type and shape, whose data pointer is then `*memory`. Ends with Free of the allocator.
  virtual Status Make(const mslite_tensor &tensor, void **memory) = 0;
  virtual Status Write(const mslite_tensor &tensor, const void *contents, void *memory) = 0;
  // After all that was called before. Errors: kLiteParamInvalid for memory that is not the device's, or of another
  // size.
  virtual Status Read(const mslite_tensor &tensor, void *memory, void *contents) = 0;
  virtual std::shared_ptr<mindspore::Allocator> allocator() = 0;
};
}  // namespace mslite

#endif
