#include "engine/engine_delegate.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "include/errorcode.h"
#include "model/message.h"
#include "model/names.h"
#include "plan/work.h"

namespace mslite {
namespace {
using mindspore::MSTensor;
using mindspore::kernel::Kernel;

// What a part costs on the CPU, and at its border: a phone's core, and its memory.
constexpr double kFlopsPerSecond = 2e10;
constexpr double kBytesPerSecond = 1e10;
constexpr double kCopiedBytesPerSecond = 4e9;

// The kernel that stands for a part of the model.
class PartKernel : public Kernel {
 public:
  PartKernel(const Border &border, std::shared_ptr<Engine> engine, std::shared_ptr<std::string> failure)
      : Kernel(border.inputs, border.outputs, nullptr, nullptr),
        engine_(std::move(engine)),
        failure_(std::move(failure)) {}

  Status Read(const std::vector<Kernel *> &kernels, const Border &border, const Part &whole) {
    MSLITE_TRY(part_.Read(kernels, border));
    part_.LearnInputs(whole);
    for (Part::Node &node : part_.nodes) node.kernel = nullptr;  // they end with the delegate's Build
    return engine_->Compile(part_, &compiled_);
  }

  int Prepare() override {
    part_.Infer();
    const auto is_open = [](const Part::Tensor &tensor) { return !HasShape(tensor.value); };
    if (std::any_of(part_.tensors.begin(), part_.tensors.end(), is_open)) {
      return static_cast<int>(mindspore::kLiteInferInvalid);
    }
    Check(compiled_->Prepare());
    is_prepared_ = true;
    return mindspore::lite::RET_OK;
  }

  int ReSize() override {
    is_prepared_ = false;
    return Prepare();
  }

  int Execute() override {
    if (!is_prepared_) Check(Fail(mindspore::kLiteError, "a shape follows from contents"));
    std::vector<const void *> inputs;
    std::vector<void *> outputs;
    for (const MSTensor &input : inputs_) inputs.push_back(input.Data().get());
    for (MSTensor &output : outputs_) outputs.push_back(output.MutableData());
    Check(compiled_->Run(inputs, outputs));
    return mindspore::lite::RET_OK;
  }

 private:
  // A kernel can only say in an exception why it failed.
  void Check(const Status &status) {
    if (status.IsOk()) return;
    *failure_ = engine_->name() + ": " + status.GetErrDescription();
    throw std::runtime_error(*failure_);
  }

  std::shared_ptr<Engine> engine_;
  std::shared_ptr<std::string> failure_;
  Part part_;
  std::unique_ptr<CompiledPart> compiled_;  // ends before the part
  bool is_prepared_ = false;
};

bool IsCounted(const Part &part, const Part::Node &node) {
  const auto has_shape = [&](int32_t index) { return HasShape(part.tensors[static_cast<size_t>(index)].value); };
  return node.params != nullptr && std::all_of(node.inputs.begin(), node.inputs.end(), has_shape) &&
         std::all_of(node.outputs.begin(), node.outputs.end(), has_shape);
}

std::string WhyNot(const Engine &engine, const Part &part, const Part::Node &node) {
  if (node.params == nullptr) return "only the library knows the operator";
  for (const std::vector<int32_t> *operands : {&node.inputs, &node.outputs}) {
    for (const int32_t index : *operands) {
      const Part::Tensor &tensor = part.tensors[static_cast<size_t>(index)];
      if (!HasShape(tensor.value)) return "the shape of '" + tensor.name + "' is open until the model runs";
    }
  }
  return engine.WhyNot(Part::Call(part, node).node());
}

// Whether the CPU would need longer for these nodes than the copies at their border take.
bool IsWorthIt(const std::vector<Part::Node> &nodes, const Part &part, KernelRange range, const Border &border) {
  if (const char *costs = std::getenv("MSLITE_DELEGATE_COSTS"); costs != nullptr && std::string(costs) == "off") {
    return true;
  }
  double compute = 0;
  for (size_t i = range.begin; i < range.end; ++i) {
    const Part::Call call(part, nodes[i]);
    compute += static_cast<double>(CountFlops(call.node())) / kFlopsPerSecond +
               static_cast<double>(CountBytes(call.node())) / kBytesPerSecond;
  }
  double copied = 0;
  for (const std::vector<MSTensor> *tensors : {&border.inputs, &border.outputs}) {
    for (const MSTensor &tensor : *tensors) copied += static_cast<double>(tensor.DataSize());
  }
  return compute >= copied / kCopiedBytesPerSecond;
}
}  // namespace

Status EngineDelegate::Build(mindspore::LiteDelegateGraph *model) {
  placements_.clear();
  Part whole;
  MSLITE_TRY(whole.Read(*model->nodes(), {model->inputs(), model->outputs()}));
  whole.Infer();
  std::map<const Kernel *, size_t> positions;
  for (const Part::Node &node : whole.nodes) {
    Placement placement;
    placement.node = node.name;
    placement.op = OperatorName(node.op);
    placement.reason = WhyNot(*engine_, whole, node);
    // Of all that can be counted, so that the share of the engine can be told.
    if (IsCounted(whole, node)) placement.flops = CountFlops(Part::Call(whole, node).node());
    positions[node.kernel] = placements_.size();
    placements_.push_back(std::move(placement));
  }
  const auto supports = [&](Kernel *kernel) { return placements_[positions[kernel]].reason.empty(); };
  int32_t parts = 0;
  for (const KernelRange range : SupportedRanges(model, supports)) {
    const auto begin = model->BeginKernelIterator() + static_cast<std::ptrdiff_t>(range.begin);
    const auto end = model->BeginKernelIterator() + static_cast<std::ptrdiff_t>(range.end);
    const std::vector<Kernel *> kernels(begin, end);
    std::vector<Part::Node> nodes;
    for (const Kernel *kernel : kernels) nodes.push_back(whole.nodes[positions[kernel]]);
    const Border border = BorderOf(model, range);
    const bool is_worth_it = IsWorthIt(nodes, whole, {0, nodes.size()}, border);
    for (const Kernel *kernel : kernels) {
      Placement &placement = placements_[positions[kernel]];
      placement.part = is_worth_it ? parts : -1;
      if (!is_worth_it) placement.reason = "copying to the device and back would take longer than computing it";
    }
    if (!is_worth_it) continue;
    auto kernel = std::make_unique<PartKernel>(border, engine_, failure_);
    kernel->set_name(engine_->name() + " #" + std::to_string(parts++));
    MSLITE_TRY(kernel->Read(kernels, border, whole));
    model->Replace(begin, end, kernel.release());  // the library deletes it
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
