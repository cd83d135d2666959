#include "nnapi/nnapi_part.h"

namespace mslite {
Status NnapiPart::Prepare() {
  compiled_ = NnapiCompiled(device_->library());  // it refers to the old graph
  graph_ = {};
  border_ = {};
  MSLITE_TRY(WriteNnapiPart(part_, &graph_, &border_));
  return graph_.operations.empty() ? Status(mindspore::kSuccess) : device_->Compile(graph_, &compiled_);
}

Status NnapiPart::Run(const std::vector<const void *> &inputs, const std::vector<void *> &outputs) {
  const NnapiLibrary &library = device_->library();
  const auto bytes = [&](int32_t index) {
    return static_cast<size_t>(BytesOf(part_.tensors[static_cast<size_t>(index)].value));
  };
  CopyKnown(part_, outputs);
  if (graph_.operations.empty()) return mindspore::kSuccess;
  NnapiExecutionHandle *made = nullptr;
  MSLITE_TRY(NnapiStatus(library.Execution_create(compiled_.compilation.get(), &made), "Execution_create"));
  const NnapiHandle<NnapiExecutionHandle> execution(made, library.Execution_free);
  for (size_t i = 0; i < border_.inputs.size(); ++i) {
    const size_t input = border_.inputs[i];
    MSLITE_TRY(NnapiStatus(
        library.Execution_setInput(made, static_cast<int32_t>(i), nullptr, inputs[input], bytes(part_.inputs[input])),
        "Execution_setInput"));
  }
  for (size_t i = 0; i < border_.outputs.size(); ++i) {
    const size_t output = border_.outputs[i];
    MSLITE_TRY(NnapiStatus(library.Execution_setOutput(made, static_cast<int32_t>(i), nullptr, outputs[output],
                                                       bytes(part_.outputs[output])),
                           "Execution_setOutput"));
  }
  return NnapiStatus(library.Execution_compute(made), "Execution_compute");
}
}  // namespace mslite
