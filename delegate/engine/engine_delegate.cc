#include "engine/engine_delegate.h"

#include <algorithm>
#include <stdexcept>

#include "engine/choice.h"
#include "include/errorcode.h"
#include "model/message.h"

namespace mslite {
namespace {
using mindspore::MSTensor;
using mindspore::kernel::Kernel;

// The kernel that runs a partition of the model.
class PartKernel : public Kernel, public EnginePart {
 public:
  PartKernel(const Border &border, std::shared_ptr<Engine> engine, std::shared_ptr<std::string> failure)
      : Kernel(border.inputs, border.outputs, nullptr, nullptr),
        engine_(std::move(engine)),
        failure_(std::move(failure)) {}

  Status Read(const std::vector<Kernel *> &kernels, const Border &border, const Part &whole) {
    MSLITE_TRY(part_.Read(kernels, border));
    part_.CopyKnownInputs(whole);
    for (Part::Node &node : part_.nodes) node.kernel = nullptr;  // not used after Build
    return engine_->Compile(part_, &compiled_);
  }

  bool may_run_in_parallel() const override { return engine_->MayRunInParallel(); }
  void set_inputs(const std::vector<MSTensor> &inputs) override {
    Kernel::set_inputs(inputs);
    part_.ShowInputs(inputs);
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
    if (!is_prepared_) Check(Fail(mindspore::kLiteError, "a shape depends on data"));
    std::vector<const void *> inputs;
    std::vector<void *> outputs;
    for (const MSTensor &input : inputs_) inputs.push_back(input.Data().get());
    for (MSTensor &output : outputs_) outputs.push_back(output.MutableData());
    Check(compiled_->Run(inputs, outputs));
    return mindspore::lite::RET_OK;
  }

 private:
  // An exception is the only way for a kernel to report the reason of a failure.
  void Check(const Status &status) {
    if (status.IsOk()) return;
    *failure_ = engine_->name() + ": " + status.GetErrDescription();
    throw std::runtime_error(*failure_);
  }

  std::shared_ptr<Engine> engine_;
  std::shared_ptr<std::string> failure_;
  Part part_;
  std::unique_ptr<CompiledPart> compiled_;  // destroyed before the partition
  bool is_prepared_ = false;
};

}  // namespace

Status EngineDelegate::Build(mindspore::LiteDelegateGraph *model) {
  Part whole;
  MSLITE_TRY(ReadModel(model, &whole));
  engine_->Study(whole);
  const std::vector<KernelRange> chosen = ChooseParts(*engine_, whole, model, &placements_);
  const std::string name = engine_->name();
  auto part = static_cast<int32_t>(chosen.size());  // numbered in order of execution
  for (const KernelRange range : chosen) {
    --part;
    const auto begin = model->BeginKernelIterator() + static_cast<std::ptrdiff_t>(range.begin);
    const auto end = model->BeginKernelIterator() + static_cast<std::ptrdiff_t>(range.end);
    const Border border = BorderOf(model, range);
    auto kernel = std::make_unique<PartKernel>(border, engine_, failure_);
    kernel->set_name(name.substr(0, name.find(" (")) + " #" + std::to_string(part));
    MSLITE_TRY(kernel->Read({begin, end}, border, whole));
    model->Replace(begin, end, kernel.release());  // the library deletes it
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
