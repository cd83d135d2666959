#include "coreml/coreml_engine.h"

#include "coreml/coreml_plan.h"
#include "coreml/coreml_runtime.h"

namespace mslite {
namespace {
class CoreMlPart : public CompiledPart {
 public:
  explicit CoreMlPart(const Part &part) : part_(part) {}

  Status Prepare() override {
    CoreMlModelText text;
    MSLITE_TRY(WriteCoreMlPart(part_, &text));
    const auto arrays = [&](const std::string &name, const std::vector<int32_t> &tensors, size_t i) {
      return CoreMlArray{name + std::to_string(i), CoreMlDims(part_.tensors[static_cast<size_t>(tensors[i])].value)};
    };
    std::vector<CoreMlArray> inputs;
    std::vector<CoreMlArray> outputs;
    inputs.reserve(text.inputs.size());
    outputs.reserve(part_.outputs.size());
    for (const size_t i : text.inputs) inputs.push_back(arrays("input_", part_.inputs, i));
    for (size_t i = 0; i < part_.outputs.size(); ++i) outputs.push_back(arrays("output_", part_.outputs, i));
    inputs_ = text.inputs;
    return CompileCoreMl(text.bytes, inputs, outputs, &model_);
  }

  Status Run(const std::vector<const void *> &inputs, const std::vector<void *> &outputs) override {
    std::vector<const float *> entering;
    std::vector<float *> leaving;
    entering.reserve(inputs_.size());
    leaving.reserve(outputs.size());
    for (const size_t i : inputs_) entering.push_back(static_cast<const float *>(inputs[i]));
    for (void *output : outputs) leaving.push_back(static_cast<float *>(output));
    return model_->Run(entering, leaving);
  }

 private:
  const Part &part_;
  std::vector<size_t> inputs_;  // indices of the partition's inputs that the model uses
  std::unique_ptr<CoreMlModel> model_;
};
}  // namespace

Status CoreMlEngine::Start() { return FindCoreMl(); }

std::string CoreMlEngine::UnsupportedReason(const mslite_node &node) const { return WhyNotCoreMl(node); }

Status CoreMlEngine::Compile(const Part &part, std::unique_ptr<CompiledPart> *compiled) {
  *compiled = std::make_unique<CoreMlPart>(part);
  return mindspore::kSuccess;
}
}  // namespace mslite
