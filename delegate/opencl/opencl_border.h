// Transfer of a partition's inputs to the device and of its outputs to the host. Nothing is copied if the device shares
// the memory of the host.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_BORDER_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_BORDER_H

#include <memory>
#include <utility>
#include <vector>

#include "opencl/opencl_counts.h"
#include "opencl/opencl_device.h"

namespace mslite {
class OpenClBorder {
 public:
  struct Tensor {
    size_t bytes = 0;
    cl_mem memory = nullptr;                          // on the device
    bool may_share = false;                           // the launches can use other memory, set through `uses`
    std::vector<std::pair<cl_kernel, cl_uint>> uses;  // kernel arguments that refer to the tensor
  };

  OpenClBorder() = default;
  OpenClBorder(std::vector<Tensor> inputs, std::vector<Tensor> outputs)
      : inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  // Called before the launches. Copies are blocking, so the caller's memory is not read afterwards. Shared memory must
  // stay valid until the queue is empty; then `End` is called, also after errors.
  mindspore::Status Enter(const OpenClDevice &device, const std::vector<const void *> &inputs,
                          const std::vector<void *> &outputs, OpenClCounts *counts);
  // Called after the launches.
  mindspore::Status Leave(const OpenClDevice &device, const std::vector<void *> &outputs, OpenClCounts *counts);
  void End();

 private:
  bool CanShare(const Tensor &tensor, const void *at) const;
  // Sets the kernel arguments to shared host memory, or to device memory if the tensor must be copied.
  mindspore::Status Place(const OpenClDevice &device, const Tensor &tensor, void *at, bool is_written, bool *is_shared);

  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
  struct Shared {
    const unsigned char *begin;
    size_t bytes;
    bool is_written;
    std::unique_ptr<OpenClBuffer> buffer;
  };
  std::vector<Shared> shared_;  // of this run
};
}  // namespace mslite

#endif
