#include "nnapi/nnapi_part.h"

#include <cstring>

#include "model/message.h"

namespace mslite {
Status NnapiPart::Prepare() {
  compiled_ = NnapiCompiled(device_->library());  // reads the graph of before
  graph_ = {};
  border_ = {};
  MSLITE_TRY(WriteNnapiPart(part_, &graph_, &border_));
  return graph_.operations.empty() ? Status(mindspore::kSuccess) : device_->Compile(graph_, &compiled_);
}

Status NnapiPart::Run(const std::vector<const void *> &inputs, const std::vector<void *> &outputs) {
  const NnapiLibrary &library = device_->library();
  const auto tensor = [&](int32_t index) -> const mslite_tensor & {
    return part_.tensors[static_cast<size_t>(index)].value;
  };
  const auto bytes = [&](int32_t index) { return static_cast<size_t>(BytesOf(tensor(index))); };
  for (size_t i = 0; i < outputs.size(); ++i) {
    const mslite_tensor &output = tensor(part_.outputs[i]);
    if (output.known_count != CountIn(output)) continue;
    const std::vector<uint8_t> contents = KnownContents(output);
    std::memcpy(outputs[i], contents.data(), contents.size());
  }
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
