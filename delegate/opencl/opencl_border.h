// How the inputs of a part reach the device, and its outputs come back: copied, or, where the device has the memory of
// this computer, not at all.
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
    bool may_share = false;                           // the launches can do with other memory, which `uses` gives them
    std::vector<std::pair<cl_kernel, cl_uint>> uses;  // arguments of kernels
  };

  OpenClBorder() = default;
  OpenClBorder(std::vector<Tensor> inputs, std::vector<Tensor> outputs)
      : inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  // In front of the launches. Copies block: nothing is under way then that reads the caller's memory. What is shared
  // must stay until the queue is empty; `End` is called then, whatever has failed.
  mindspore::Status Enter(const OpenClDevice &device, const std::vector<const void *> &inputs,
                          const std::vector<void *> &outputs, OpenClCounts *counts);
  // Behind them.
  mindspore::Status Leave(const OpenClDevice &device, const std::vector<void *> &outputs, OpenClCounts *counts);
  void End();

 private:
  bool CanShare(const Tensor &tensor, const void *at) const;
  // Gives the launches the tensor's memory here, or on the device where it has to be copied.
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
