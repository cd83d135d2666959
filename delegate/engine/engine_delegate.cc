#include "engine/engine_delegate.h"

#include <algorithm>
#include <cstdlib>
#include <set>
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

// An operand whose shape is open; null where there is none.
const Part::Tensor *OpenOperand(const Part &part, const Part::Node &node) {
  for (const std::vector<int32_t> *operands : {&node.inputs, &node.outputs}) {
    for (const int32_t index : *operands) {
      const Part::Tensor &tensor = part.tensors[static_cast<size_t>(index)];
      if (!HasShape(tensor.value)) return &tensor;
    }
  }
  return nullptr;
}

Placement PlacementOf(const Engine &engine, const Part &part, const Part::Node &node) {
  Placement placement;
  placement.node = node.name;
  placement.op = OperatorName(node.op);
  if (node.params == nullptr) {
    placement.reason = "only the library knows the operator";
  } else if (const Part::Tensor *open = OpenOperand(part, node); open != nullptr) {
    placement.reason = "the shape of '" + open->name + "' is open until the model runs";
  } else {
    const Part::Call call(part, node);
    placement.reason = engine.WhyNot(call.node());
    placement.flops = CountFlops(call.node());
  }
  return placement;
}

// Whether the CPU would need longer for these kernels than the copies at their border take.
bool IsWorthIt(const Part &whole, const std::vector<Kernel *> &kernels, const Border &border) {
  if (const char *costs = std::getenv("MSLITE_DELEGATE_COSTS"); costs != nullptr && std::string(costs) == "off") {
    return true;
  }
  const std::set<const Kernel *> chosen(kernels.begin(), kernels.end());
  double compute = 0;
  for (const Part::Node &node : whole.nodes) {
    if (chosen.count(node.kernel) == 0) continue;
    const Part::Call call(whole, node);
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
  engine_->Study(whole);
  std::map<const Kernel *, size_t> positions;
  for (const Part::Node &node : whole.nodes) {
    positions[node.kernel] = placements_.size();
    placements_.push_back(PlacementOf(*engine_, whole, node));
  }
  const auto supports = [&](Kernel *kernel) { return placements_[positions[kernel]].reason.empty(); };
  const auto kernels_of = [&](KernelRange range) {
    const auto begin = model->BeginKernelIterator();
    return std::vector<Kernel *>(begin + static_cast<std::ptrdiff_t>(range.begin),
                                 begin + static_cast<std::ptrdiff_t>(range.end));
  };
  std::vector<KernelRange> worthy;  // the last one first, as they are found
  for (const KernelRange range : SupportedRanges(model, supports)) {
    const std::vector<Kernel *> kernels = kernels_of(range);
    if (IsWorthIt(whole, kernels, BorderOf(model, range))) {
      worthy.push_back(range);
      continue;
    }
    for (const Kernel *kernel : kernels) {
      placements_[positions[kernel]].reason = "copying to the device and back would take longer than computing it";
    }
  }
  const std::string name = engine_->name();
  auto part = static_cast<int32_t>(worthy.size());  // numbered in the order in which they run
  for (const KernelRange range : worthy) {
    --part;
    const std::vector<Kernel *> kernels = kernels_of(range);
    for (const Kernel *kernel : kernels) placements_[positions[kernel]].part = part;
    const Border border = BorderOf(model, range);
    auto kernel = std::make_unique<PartKernel>(border, engine_, failure_);
    kernel->set_name(name.substr(0, name.find(" (")) + " #" + std::to_string(part));
    MSLITE_TRY(kernel->Read(kernels, border, whole));
    const auto begin = model->BeginKernelIterator();
    model->Replace(begin + static_cast<std::ptrdiff_t>(range.begin), begin + static_cast<std::ptrdiff_t>(range.end),
                   kernel.release());  // the library deletes it
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
