#include "nnrt/nnrt_part.h"

#include <cstring>

namespace mslite {
Status NnrtPart::Prepare() {
  compiled_ = NnrtCompiled();  // it refers to the old graph
  graph_ = {};
  border_ = {};
  MSLITE_TRY(WriteNnrtPart(part_, &graph_, &border_));
  return graph_.operations.empty() ? Status(mindspore::kSuccess) : device_->Compile(graph_, &compiled_);
}

Status NnrtPart::Run(const std::vector<const void *> &inputs, const std::vector<void *> &outputs) {
  const NnrtLibrary &library = device_->library();
  const auto bytes = [&](int32_t index) {
    return static_cast<size_t>(BytesOf(part_.tensors[static_cast<size_t>(index)].value));
  };
  CopyKnown(part_, outputs);
  if (graph_.operations.empty()) return mindspore::kSuccess;
  // Inputs must be in memory that the device allocated.
  std::vector<NnrtTensorHandle *> entering;
  std::vector<NnrtTensorHandle *> leaving;
  for (size_t i = 0; i < border_.inputs.size(); ++i) {
    entering.push_back(compiled_.inputs[i].get());
    std::memcpy(library.Tensor_GetDataBuffer(entering.back()), inputs[border_.inputs[i]],
                bytes(part_.inputs[border_.inputs[i]]));
  }
  for (const auto &output : compiled_.outputs) leaving.push_back(output.get());
  MSLITE_TRY(NnrtStatus(library.Executor_RunSync(compiled_.executor.get(), entering.data(), entering.size(),
                                                 leaving.data(), leaving.size()),
                        "Executor_RunSync"));
  for (size_t i = 0; i < border_.outputs.size(); ++i) {
    std::memcpy(outputs[border_.outputs[i]], library.Tensor_GetDataBuffer(leaving[i]),
                bytes(part_.outputs[border_.outputs[i]]));
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
