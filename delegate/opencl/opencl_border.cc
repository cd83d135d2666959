#include "opencl/opencl_border.h"

#include <algorithm>
#include <cstdint>

#include "model/message.h"

namespace mslite {
using mindspore::Status;

// Returns true if the memory is aligned to 16 bytes, the widest access of kernels, and does not overlap memory that is
// already shared in this run: OpenCL does not define results for overlapping buffers.
bool OpenClBorder::CanShare(const Tensor &tensor, const void *at) const {
  constexpr uintptr_t kWidest = 16;
  const auto *begin = static_cast<const unsigned char *>(at);
  return tensor.may_share && reinterpret_cast<uintptr_t>(at) % kWidest == 0 &&
         std::none_of(shared_.begin(), shared_.end(), [&](const Shared &other) {
           return begin < other.begin + other.bytes && other.begin < begin + tensor.bytes;
         });
}

// The data is copied if the driver refuses to share the memory.
Status OpenClBorder::Place(const OpenClDevice &device, const Tensor &tensor, void *at, bool is_written,
                           bool *is_shared) {
  *is_shared = false;
  if (!tensor.may_share) return mindspore::kSuccess;
  Shared shared = {static_cast<const unsigned char *>(at), tensor.bytes, is_written, nullptr};
  cl_mem memory = tensor.memory;
  if (CanShare(tensor, at) && device.ShareBuffer(at, tensor.bytes, is_written, &shared.buffer).IsOk()) {
    memory = shared.buffer->memory();
    shared_.push_back(std::move(shared));
    *is_shared = true;
  }
  for (const auto &[kernel, argument] : tensor.uses) {
    MSLITE_TRY(OpenClStatus(device.library().clSetKernelArg(kernel, argument, sizeof(cl_mem), &memory),
                            "clSetKernelArg of an input or output"));
  }
  return mindspore::kSuccess;
}

Status OpenClBorder::Enter(const OpenClDevice &device, const std::vector<const void *> &inputs,
                           const std::vector<void *> &outputs, OpenClCounts *counts) {
  counts->copied_in_bytes = counts->copied_out_bytes = counts->shared_bytes = 0;
  bool is_shared = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor &tensor = inputs_[i];
    MSLITE_TRY(Place(device, tensor, const_cast<void *>(inputs[i]), false, &is_shared));
    (is_shared ? counts->shared_bytes : counts->copied_in_bytes) += static_cast<int64_t>(tensor.bytes);
    if (is_shared) continue;
    MSLITE_TRY(OpenClStatus(device.library().clEnqueueWriteBuffer(device.queue(), tensor.memory, CL_TRUE, 0,
                                                                  tensor.bytes, inputs[i], 0, nullptr, nullptr),
                            "clEnqueueWriteBuffer"));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    MSLITE_TRY(Place(device, outputs_[i], outputs[i], true, &is_shared));
    if (is_shared) counts->shared_bytes += static_cast<int64_t>(outputs_[i].bytes);
  }
  return mindspore::kSuccess;
}

Status OpenClBorder::Leave(const OpenClDevice &device, const std::vector<void *> &outputs, OpenClCounts *counts) {
  const OpenClLibrary &library = device.library();
  // Mapping a buffer makes its contents visible to the host.
  for (const Shared &shared : shared_) {
    if (!shared.is_written) continue;
    cl_int error = CL_SUCCESS;
    void *at = library.clEnqueueMapBuffer(device.queue(), shared.buffer->memory(), CL_FALSE, CL_MAP_READ, 0,
                                          shared.bytes, 0, nullptr, nullptr, &error);
    MSLITE_TRY(OpenClStatus(error, "clEnqueueMapBuffer"));
    MSLITE_TRY(
        OpenClStatus(library.clEnqueueUnmapMemObject(device.queue(), shared.buffer->memory(), at, 0, nullptr, nullptr),
                     "clEnqueueUnmapMemObject"));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto *begin = static_cast<const unsigned char *>(outputs[i]);
    if (std::any_of(shared_.begin(), shared_.end(),
                    [&](const Shared &shared) { return shared.is_written && shared.begin == begin; })) {
      continue;
    }
    const Tensor &tensor = outputs_[i];
    MSLITE_TRY(OpenClStatus(library.clEnqueueReadBuffer(device.queue(), tensor.memory, CL_TRUE, 0, tensor.bytes,
                                                        outputs[i], 0, nullptr, nullptr),
                            "clEnqueueReadBuffer"));
    counts->copied_out_bytes += static_cast<int64_t>(tensor.bytes);
  }
  return mindspore::kSuccess;
}

void OpenClBorder::End() { shared_.clear(); }
}  // namespace mslite
