// KernelDevice: the device of registered kernels that do not run on the CPU.
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

  // Sets the device of kernels that this thread calls. Returns the previous one, or null.
  virtual KernelDevice *Enter() = 0;
  virtual void Leave(KernelDevice *before) = 0;

  // Allocates device memory for a tensor. `*memory` becomes the data pointer of the tensor. It is freed with Free of
  // the allocator.
  virtual Status Make(const mslite_tensor &tensor, void **memory) = 0;
  virtual Status Write(const mslite_tensor &tensor, const void *contents, void *memory) = 0;
  // Copies device memory to the host, after all previous calls. Errors: kLiteParamInvalid for memory that is not device
  // memory, or has another size.
  virtual Status Read(const mslite_tensor &tensor, void *memory, void *contents) = 0;
  virtual std::shared_ptr<mindspore::Allocator> allocator() = 0;
};
}  // namespace mslite

#endif
