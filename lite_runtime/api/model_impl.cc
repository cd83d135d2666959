#include "api/model_impl.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "api/input_sizes.h"
#include "api/log.h"
#include "api/session_options.h"
#include "api/shared_models.h"
#include "model/cropping.h"
#include "plan/rewrite/adapter_slots.h"

namespace mindspore {
namespace {
using mslite::Fail;
using mslite::TensorShape;

std::vector<int64_t> DimsOf(const TensorShape &shape) {
  return shape.rank < 0 ? std::vector<int64_t>() : std::vector<int64_t>(shape.dims, shape.dims + shape.rank);
}

// Sets the dimensions. Allocates nothing if they do not change.
void SetDims(const TensorShape &shape, std::vector<int64_t> *dims) {
  const auto rank = static_cast<size_t>(std::max(shape.rank, int32_t{0}));
  if (dims->size() == rank && std::equal(dims->begin(), dims->end(), shape.dims)) return;
  dims->assign(shape.dims, shape.dims + rank);
}

// The same as TensorFor, with memory reserved for the largest rank, so that a new shape allocates nothing.
MSTensor TensorWithReservedShape(const mslite::Tensor &source) {
  MSTensor tensor = TensorFor(source);
  tensor.impl()->shape.reserve(MSLITE_MAX_RANK);
  return tensor;
}

std::vector<MSTensor> TensorsFor(const mslite::Graph &graph, const std::vector<int32_t> &indices, size_t count) {
  std::vector<MSTensor> tensors;
  tensors.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    tensors.push_back(TensorWithReservedShape(graph.tensors[static_cast<size_t>(indices[i])]));
  }
  return tensors;
}

// Calls the caller's callbacks with the inputs and outputs of a step as tensors.
class CallbackObserver : public mslite::StepObserver {
 public:
  CallbackObserver(const mslite::Graph &graph, const MSKernelCallBack &before, const MSKernelCallBack &after)
      : graph_(graph), before_(before), after_(after) {}

  void Before(const mslite::Step &step, const void *const *inputs, void *const *outputs) override {
    if (before_) Call(before_, step, inputs, outputs, 0.0);
  }
  void After(const mslite::Step &step, const void *const *inputs, void *const *outputs, double milliseconds) override {
    if (after_) Call(after_, step, inputs, outputs, milliseconds);
  }

 private:
  MSTensor Show(int32_t index, const TensorShape &shape, const void *data, bool is_packed) const {
    const mslite::Tensor &source = graph_.tensors[static_cast<size_t>(index)];
    MSTensor tensor = TensorFor(source);
    tensor.SetShape(DimsOf(shape));
    tensor.SetDataType(static_cast<DataType>(shape.type));
    // For a packed weight, the tensor refers to the unpacked values of the file.
    const void *contents = is_packed && source.data != nullptr ? source.data : data;
    tensor.impl()->Show(contents, static_cast<size_t>(std::max<int64_t>(mslite::ByteSize(shape), 0)));
    tensor.impl()->is_const = source.is_constant;
    return tensor;
  }

  void Call(const MSKernelCallBack &function, const mslite::Step &step, const void *const *inputs, void *const *outputs,
            double milliseconds) const {
    std::vector<MSTensor> input_tensors;
    std::vector<MSTensor> output_tensors;
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const bool is_fixed = step.inputs[i].place == mslite::Operand::kFixed;
      input_tensors.push_back(Show(step.node->inputs[i], step.input_shapes[i], inputs[i], is_fixed));
    }
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      output_tensors.push_back(Show(step.node->outputs[i], step.output_shapes[i], outputs[i], false));
    }
    const MSCallBackParam info = {step.node->name, mslite::OperatorName(step.node->op), milliseconds};
    if (!function(input_tensors, output_tensors, info)) {
      mslite::Log(mslite::LogLevel::kWarning, "a callback returned false for node '" + step.node->name + "'");
    }
  }

  const mslite::Graph &graph_;
  const MSKernelCallBack &before_;
  const MSKernelCallBack &after_;
};
}  // namespace

// Locks the model for one call.
class ModelImpl::Turn {
 public:
  explicit Turn(ModelImpl *model) : model_(model) {
    is_nested_ = model->owner_.load() == std::this_thread::get_id();
    if (is_nested_) return;
    model->mutex_.lock();
    model->owner_ = std::this_thread::get_id();
  }
  ~Turn() {
    if (is_nested_) return;
    model_->owner_ = std::thread::id();
    model_->mutex_.unlock();
  }
  Turn(const Turn &) = delete;
  Turn &operator=(const Turn &) = delete;

  Status status() const {
    if (!is_nested_) return kSuccess;
    return Fail(kLiteReentrantError, "a callback must not build, resize or run its own model");
  }

 private:
  ModelImpl *model_;
  bool is_nested_;
};

// Reads the options of the session from the context and the configuration.
Status ModelImpl::ReadOptions(const mslite::Graph &graph, const std::shared_ptr<Context> &context,
                              const std::shared_ptr<const mslite::Delegation> &delegation,
                              mslite::SessionOptions *options) const {
  MSLITE_TRY(mslite::ReadContext(context, delegation, options));
  options->workspace = workspace;
  mslite::NodeTypes types;
  MSLITE_TRY(mslite::ReadExecutionPlan(config, &types));
  if (types.empty()) return kSuccess;
  for (const auto &[name, type] : types) {
    const bool is_there = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                      [&name = name](const mslite::Node &node) { return node.name == name; });
    if (!is_there) {
      mslite::Log(mslite::LogLevel::kWarning,
                  "[execution_plan] names '" + name + "', which is not a node of the model");
    }
    if (type != MSLITE_FLOAT16) continue;
    if (mslite::AllowedIsas().Has(MSLITE_ISA_NEON_FP16)) {
      options->isas.Add(MSLITE_ISA_NEON_FP16);
    } else {
      mslite::Log(mslite::LogLevel::kInfo,
                  "this processor has no float16 arithmetic; node '" + name + "' computes in float32");
    }
  }
  options->node_types = std::make_shared<const mslite::NodeTypes>(std::move(types));
  return kSuccess;
}

Status ModelImpl::Build(std::shared_ptr<mslite::SharedModel> model, const std::shared_ptr<Context> &context,
                        std::shared_ptr<const mslite::Delegation> delegation) {
  const Turn turn(this);
  MSLITE_TRY(turn.status());
  if (session_ != nullptr) return Fail(kLiteModelRebuild, "the model is already built");
  mslite::SessionOptions options;
  MSLITE_TRY(ReadOptions(*model->graph, context, delegation, &options));
  std::unique_ptr<mslite::Session> session;
  const Status status = mslite::Session::Create(model, options, &session);
  context_ = context;
  if (status.IsOk()) {
    delegation_ = std::move(delegation);
    std::atomic_store(&session_, std::shared_ptr<mslite::Session>(std::move(session)));
  } else {
    const std::string reason = delegation == nullptr ? "" : delegation->EngineFailure();
    if (reason.empty()) return status;
    MSLITE_TRY(mslite::FallBack(*context, reason));
    with_engines_ = false;
    MSLITE_TRY(Reopen(model, {}, nullptr, nullptr, {}));
  }
  // If memory for the tensors cannot be allocated, the model is not built.
  struct Ending {
    ModelImpl *model;
    ~Ending() {
      if (model != nullptr) std::atomic_store(&model->session_, std::shared_ptr<mslite::Session>());
    }
  } ending = {this};
  const mslite::Graph &graph = session_->graph();
  inputs_ = TensorsFor(graph, graph.inputs, graph.inputs.size());
  outputs_ = TensorsFor(graph, graph.outputs, graph.outputs.size());
  views_.resize(inputs_.size());
  offered_shapes_.clear();
  MSLITE_TRY(InputShapes(&offered_shapes_));
  ShowOutputs(false);
  ending.model = nullptr;
  return kSuccess;
}

Status ModelImpl::BuildTraining(const mslite::SharedModel &model, const mslite::SharedModel *backbone,
                                const std::shared_ptr<Context> &context, const TrainCfg &config) {
  const Turn turn(this);
  MSLITE_TRY(turn.status());
  mslite::TrainerSettings settings;
  settings.file = model.graph->file;
  if (backbone != nullptr) settings.backbone = backbone->graph->file;
  settings.config = config;
  MSLITE_TRY(ReadOptions(*model.graph, context, nullptr, &settings.options));
  const bool is_plain = config.optimization_level_ == kO0;
  if (!is_plain && mslite::AllowedIsas().Has(MSLITE_ISA_NEON_FP16)) settings.options.isas.Add(MSLITE_ISA_NEON_FP16);
  std::unique_ptr<mslite::Trainer> trainer;
  MSLITE_TRY(mslite::CreateTrainer(settings, &trainer));
  const mslite::Graph &graph = trainer->session()->graph();
  std::vector<MSTensor> outputs = TensorsFor(graph, graph.outputs, trainer->output_count());
  inputs_ = TensorsFor(graph, graph.inputs, graph.inputs.size());
  views_.resize(inputs_.size());
  outputs_ = std::move(outputs);  // nothing can fail from here on
  context_ = context;
  trainer_ = std::move(trainer);
  std::atomic_store(&session_, trainer_->session());
  ShowOutputs(false);
  return kSuccess;
}

// Updates the session and the output tensors from the trainer. Allocates nothing if the outputs are the same.
void ModelImpl::UpdateFromTrainer() {
  const mslite::Graph &graph = trainer_->session()->graph();
  const size_t count = trainer_->output_count();
  bool are_same = count == outputs_.size();
  for (size_t i = 0; are_same && i < count; ++i) {
    are_same = outputs_[i].impl()->name == graph.tensors[static_cast<size_t>(graph.outputs[i])].name;
  }
  std::vector<MSTensor> others;
  if (!are_same) others = TensorsFor(graph, graph.outputs, count);
  if (!are_same && prepare_outputs) prepare_outputs(others);
  HideOutputs();
  std::atomic_store(&session_, trainer_->session());
  if (!are_same) outputs_ = std::move(others);
  ShowOutputs(false);
}

Status ModelImpl::CheckTrainer(const char *what) const {
  if (session_ == nullptr) return Fail(kLiteUninitializedObj, "the model is not built");
  if (trainer_ != nullptr) return kSuccess;
  return Fail(kLiteNotSupport, std::string(what) + ": the model is built for inference; pass a TrainCfg to Build");
}

Status ModelImpl::QueryTrainer(const char *what, const std::function<Status(const mslite::Trainer &)> &question) {
  const Turn turn(this);
  MSLITE_TRY(turn.status());
  MSLITE_TRY(CheckTrainer(what));
  return question(*trainer_);
}

Status ModelImpl::WithTrainer(const char *what, const std::function<Status(mslite::Trainer *)> &call) {
  const Turn turn(this);
  MSLITE_TRY(turn.status());
  MSLITE_TRY(CheckTrainer(what));
  const std::shared_ptr<mslite::Session> before = session_;  // output tensors may refer to its memory
  struct Undo {
    mslite::Trainer *trainer;
    std::unique_ptr<mslite::Trainer::State> state;
    ~Undo() {
      if (state != nullptr) trainer->Restore(std::move(state));
    }
  } undo = {trainer_.get(), trainer_->Save()};
  MSLITE_TRY(call(trainer_.get()));
  if (session_ != trainer_->session()) UpdateFromTrainer();
  undo.state = nullptr;
  return kSuccess;
}

namespace {
// Fills the slots with the values of an adapter, or with values without an effect if `adapter` is null.
Status FillSlots(const mslite::Adapter *slots, const mslite::Adapter *adapter, mslite::Session *session) {
  if (slots == nullptr) return kSuccess;
  const auto fill = [&](const mslite::Tensor *tensor, const mslite::Tensor *slot) {
    return session->SetVariable(slot->name, tensor == nullptr ? nullptr : tensor->data);
  };
  for (const auto &[weight, slot] : slots->pairs) {
    const auto *pair = adapter == nullptr ? nullptr : &adapter->pairs.at(weight);
    MSLITE_TRY(fill(pair == nullptr ? nullptr : pair->a, slot.a));
    MSLITE_TRY(fill(pair == nullptr ? nullptr : pair->b, slot.b));
  }
  for (const auto &[name, slot] : slots->contents) {
    MSLITE_TRY(fill(adapter == nullptr ? nullptr : adapter->contents.at(name), slot));
  }
  return kSuccess;
}
}  // namespace

// Opens the bytes of a model again, with new constants and slots for an adapter, and replaces the session by one for
// the given input shapes, if they are known. On failure, nothing changes.
Status ModelImpl::Reopen(const std::shared_ptr<mslite::SharedModel> &model, const Constants &constants,
                         const std::shared_ptr<const mslite::Adapter> &slots, const mslite::Adapter *adapter,
                         const std::vector<TensorShape> &shapes) {
  mslite::NewWeights contents;
  for (const auto &[name, weight] : constants) {
    contents[name] = {weight.Data().get(), weight.DataSize(), static_cast<int32_t>(weight.DataType())};
  }
  const bool is_known = !shapes.empty() && std::all_of(shapes.begin(), shapes.end(), [](const TensorShape &shape) {
    return mslite::ByteSize(shape) >= 0;
  });
  std::shared_ptr<mslite::Delegation> delegation;
  mslite::OpenSettings settings;
  settings.obfuscation_ratio = obfuscation_ratio;
  settings.weights = slots != nullptr && contents.empty() ? nullptr : &contents;
  settings.adapter = slots.get();
  if (mslite::HasDelegates(context_.get())) settings.delegating = context_;
  settings.delegation = &delegation;
  settings.with_engines = with_engines_;
  settings.shapes = is_known ? &shapes : nullptr;
  std::shared_ptr<mslite::SharedModel> opened;
  MSLITE_TRY(mslite::OpenModel(model, settings, &opened));
  mslite::SessionOptions options;
  MSLITE_TRY(ReadOptions(*opened->graph, context_, delegation, &options));
  std::unique_ptr<mslite::Session> session;
  Status status = mslite::Session::Create(opened, options, &session);
  if (status.IsOk() && is_known) status = session->Resize(shapes);
  if (status.IsError()) {
    const std::string reason = delegation == nullptr ? "" : delegation->EngineFailure();
    if (reason.empty()) return status;
    MSLITE_TRY(mslite::FallBack(*context_, reason));
    with_engines_ = false;
    return Reopen(model, constants, slots, adapter, shapes);
  }
  MSLITE_TRY(FillSlots(slots.get(), adapter, session.get()));
  std::shared_ptr<mslite::Session> made = std::move(session);
  HideOutputs();  // nothing can fail from here on
  std::atomic_store(&session_, std::move(made));
  delegation_ = std::move(delegation);
  slots_ = slots;
  return kSuccess;
}

// Returns true if delegates may support other nodes for these shapes than for the shapes that they were offered.
bool ModelImpl::NeedsReoffer(const std::vector<TensorShape> &shapes) const {
  if (delegation_ == nullptr || shapes == offered_shapes_) return false;
  return !delegation_->placings().empty() || delegation_->was_open();
}

Status ModelImpl::ReofferNodes(const std::vector<TensorShape> &shapes) {
  MSLITE_TRY(Reopen(session_->model(), new_weights_, slots_, adapter_.get(), shapes));
  offered_shapes_ = shapes;
  return kSuccess;
}

Status ModelImpl::UpdateWeights(const std::vector<MSTensor> &weights) {
  const Turn turn(this);
  MSLITE_TRY(turn.status());
  if (session_ == nullptr) return Fail(kLiteUninitializedObj, "the model is not built");
  if (mslite::DelegateOf(*context_) != nullptr && delegation_ != nullptr && !delegation_->parts().empty()) {
    return Fail(kLiteNotSupport, "a delegate already uses the weights; build the model again with the new ones");
  }
  if (weights.empty()) return Fail(kLiteParamInvalid, "UpdateWeights: the list of weights is empty");
  if (trainer_ != nullptr) {
    return Fail(kLiteNotSupport, "UpdateWeights: the model is built for training; use UpdateFeatureMaps");
  }
  Constants kept = new_weights_;
  for (const MSTensor &weight : weights) {
    if (weight == nullptr || weight.Data() == nullptr) return Fail(kLiteNullptr, "a weight has no data");
    const std::unique_ptr<MSTensor> copy(weight.Clone());
    if (copy == nullptr) return Fail(kLiteMemoryFailed, "no memory for weight '" + weight.Name() + "'");
    kept[weight.Name()] = *copy;
  }
  std::vector<TensorShape> shapes;
  MSLITE_TRY(InputShapes(&shapes));
  MSLITE_TRY(Reopen(session_->model(), kept, slots_, adapter_.get(), shapes));
  new_weights_ = std::move(kept);
  ShowOutputs(false);
  return kSuccess;
}

Status ModelImpl::LoadAdapter(const std::string &path) {
  const Turn turn(this);
  MSLITE_TRY(turn.status());
  if (session_ == nullptr) return Fail(kLiteUninitializedObj, "the model is not built");
  if (trainer_ != nullptr) {
    return Fail(kLiteNotSupport, "LoadAdapter: the model is built for training and already has adapters");
  }
  if (mslite::HasDelegates(context_.get())) {
    return Fail(kLiteNotSupport, "LoadAdapter: the context has other devices; adapters run on the CPU only");
  }
  const mslite::AdapterFunctions &functions = mslite::mslite_part_adapters[0];
  if (functions.read == nullptr) {
    return Fail(kLiteNotSupport, "LoadAdapter: " + mslite::CroppingText() +
                                     " without adapters; crop it with mslite-crop --keep=adapters");
  }
  std::shared_ptr<const mslite::Bytes> file;
  MSLITE_TRY(mslite::Bytes::Map(path, &file));
  auto adapter = std::make_shared<mslite::Adapter>();
  MSLITE_TRY(functions.read(file, adapter.get()));
  if (slots_ == nullptr || functions.slots_text(*slots_) != functions.slots_text(*adapter)) {
    std::vector<TensorShape> shapes;
    MSLITE_TRY(InputShapes(&shapes));
    MSLITE_TRY(Reopen(session_->model(), new_weights_, adapter, adapter.get(), shapes));
    adapter_ = std::move(adapter);
    ShowOutputs(false);
    return kSuccess;
  }
  MSLITE_TRY(FillSlots(slots_.get(), adapter.get(), session_.get()));
  adapter_ = std::move(adapter);
  return kSuccess;
}

Status ModelImpl::UnloadAdapter() {
  const Turn turn(this);
  MSLITE_TRY(turn.status());
  if (session_ == nullptr) return Fail(kLiteUninitializedObj, "the model is not built");
  MSLITE_TRY(FillSlots(slots_.get(), nullptr, session_.get()));
  adapter_ = nullptr;
  return kSuccess;
}

// Clears output tensors that refer to memory of the session, before this memory is reused or freed.
void ModelImpl::HideOutputs() {
  for (const MSTensor &output : outputs_) {
    if (output.impl()->is_shown) output.impl()->Release();
  }
}

// Updates the shapes of the output tensors and, after a run, their data.
void ModelImpl::ShowOutputs(bool with_data) {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    mslite::OutputSlot &slot = session_->outputs()[i];
    MSTensor::Impl &impl = *outputs_[i].impl();
    if (slot.shape.rank >= 0) SetDims(slot.shape, &impl.shape);
    if (slot.shape.type != 0) impl.type = static_cast<DataType>(slot.shape.type);
    if (with_data && slot.data != slot.memory.lent) {
      impl.Show(slot.data, static_cast<size_t>(std::max<int64_t>(mslite::ByteSize(slot.shape), 0)));
    }
  }
}

// Adds a hint to an error about shapes if an input seems to have the layout NCHW instead of NHWC.
Status ModelImpl::WithLayoutHint(Status status, const std::vector<TensorShape> &shapes) const {
  if (status.IsOk()) return status;
  const mslite::Graph &graph = session_->graph();
  for (size_t i = 0; i < shapes.size(); ++i) {
    const mslite::Tensor &input = graph.tensors[static_cast<size_t>(graph.inputs[i])];
    const TensorShape &given = shapes[i];
    if (inputs_[i].format() != NHWC || input.dims.size() != 4 || given.rank != 4 || input.dims[3] <= 0) continue;
    if (given.dims[3] == input.dims[3] || given.dims[1] != input.dims[3]) continue;
    return Fail(status.StatusCode(), status.GetErrDescription() + ". Input '" + input.name +
                                         "' has the layout NHWC and the shape " +
                                         mslite::DimsText(input.dims.data(), input.dims.size()) + " in the file, but " +
                                         mslite::DimsText(given.dims, 4) +
                                         " looks like NCHW: use NHWC, or convert with --inputDataFormat=NCHW to keep "
                                         "the layout of the source model");
  }
  return status;
}

// Returns the shapes of the input tensors.
Status ModelImpl::InputShapes(std::vector<TensorShape> *shapes) const {
  for (const MSTensor &input : inputs_) {
    if (input.Shape().size() > MSLITE_MAX_RANK) {
      return Fail(kLiteInputParamInvalid, "input '" + input.Name() + "' has too many dimensions");
    }
    TensorShape shape;
    shape.type = static_cast<int32_t>(input.DataType());
    shape.rank = static_cast<int32_t>(input.Shape().size());
    std::copy(input.Shape().begin(), input.Shape().end(), shape.dims);
    shapes->push_back(shape);
  }
  return kSuccess;
}

Status ModelImpl::Resize(const std::vector<MSTensor> &inputs, const std::vector<std::vector<int64_t>> &dims) {
  const Turn turn(this);
  MSLITE_TRY(turn.status());
  if (session_ == nullptr) return Fail(kLiteUninitializedObj, "the model is not built");
  if (inputs.empty() || inputs.size() != dims.size()) {
    return Fail(kLiteInputParamInvalid, "Resize needs at least one input, and one shape for each input");
  }
  std::vector<TensorShape> shapes;
  MSLITE_TRY(InputShapes(&shapes));
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto place = std::find(inputs_.begin(), inputs_.end(), inputs[i]);
    if (place == inputs_.end()) {
      place = std::find_if(inputs_.begin(), inputs_.end(),
                           [&](const MSTensor &input) { return input.Name() == inputs[i].Name(); });
    }
    if (place == inputs_.end()) {
      return Fail(kLiteInputTensorError, "'" + inputs[i].Name() + "' is not an input of the model");
    }
    if (dims[i].size() > MSLITE_MAX_RANK) return Fail(kLiteInputParamInvalid, "a shape has too many dimensions");
    const size_t position = static_cast<size_t>(place - inputs_.begin());
    TensorShape &shape = shapes[position];
    shape.rank = static_cast<int32_t>(dims[i].size());
    const mslite::Graph &graph = session_->graph();
    const auto &declared = graph.tensors[static_cast<size_t>(graph.inputs[position])].dims;
    for (size_t k = 0; k < dims[i].size(); ++k) {
      // Only a dynamic dimension may be 0, for example an empty cache.
      const int64_t least = k < declared.size() && declared[k] <= 0 ? 0 : 1;
      if (dims[i][k] < least || dims[i][k] > INT32_MAX) {
        return Fail(kLiteInputParamInvalid, "input '" + inputs[i].Name() + "': shape " +
                                                mslite::DimsText(dims[i].data(), dims[i].size()) + " is invalid");
      }
      shape.dims[k] = dims[i][k];
    }
  }
  std::vector<mslite::InputView> views(shapes.size());
  for (size_t i = 0; i < shapes.size(); ++i) views[i].shape = shapes[i];
  MSLITE_TRY(WithLayoutHint(mslite::CheckInputSizes(session_->graph(), views, kLiteInputParamInvalid), shapes));
  const auto resize = [&] {
    if (trainer_ != nullptr) return trainer_->Resize(shapes);
    return NeedsReoffer(shapes) ? ReofferNodes(shapes) : session_->Resize(shapes);
  };
  MSLITE_TRY(WithLayoutHint(resize(), shapes));
  MSLITE_TRY(FillSlots(slots_.get(), adapter_.get(), session_.get()));
  for (size_t i = 0; i < inputs_.size(); ++i) SetDims(shapes[i], &inputs_[i].impl()->shape);
  HideOutputs();
  ShowOutputs(false);
  return kSuccess;
}

Status ModelImpl::ReadInput(size_t index, const MSTensor &tensor, mslite::InputView *view) const {
  const MSTensor::Impl *impl = tensor.impl().get();
  const MSTensor &own = inputs_[index];
  const auto error = [&](const std::string &reason) {
    return Fail(kLiteInputTensorError, "input " + std::to_string(index) + " '" + own.Name() + "': " + reason);
  };
  if (impl == nullptr) return error("the tensor is null");
  if (impl->type != own.DataType()) {
    return error("type " + std::string(mslite::TypeName(static_cast<int32_t>(impl->type))) + " instead of " +
                 mslite::TypeName(static_cast<int32_t>(own.DataType())));
  }
  // A tensor of another rank with the right size, such as a flat one, is used with the shape of the model.
  const std::vector<int64_t> &shape =
      impl->shape.size() != own.Shape().size() && impl->DataSize() == own.DataSize() ? own.Shape() : impl->shape;
  if (shape.size() > MSLITE_MAX_RANK) return error("the shape has too many dimensions");
  view->shape.type = static_cast<int32_t>(impl->type);
  view->shape.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), view->shape.dims);
  if (impl->type == DataType::kObjectTypeString) {  // strings have one dimension: their bytes
    view->shape.rank = 1;
    view->shape.dims[0] = static_cast<int64_t>(impl->size);
  }
  const int64_t bytes = mslite::ByteSize(view->shape);
  if (bytes < 0)
    return error("the shape " + mslite::DimsText(shape.data(), shape.size()) + " is not fully known; call Resize");
  if (impl->data == nullptr && bytes > 0) return error("the tensor has no data");
  if (impl->size < static_cast<size_t>(bytes)) {
    return error("the data has " + std::to_string(impl->size) + " bytes, but the shape " +
                 mslite::DimsText(shape.data(), shape.size()) + " needs " + std::to_string(bytes));
  }
  view->data = impl->data;
  return kSuccess;
}

// Makes the session write an output to the memory of the caller's tensor.
Status ModelImpl::BindOutputMemory(size_t index, const std::vector<MSTensor> *outputs) {
  mslite::OutputSlot &slot = session_->outputs()[index];
  mslite::GrowingBuffer &memory = slot.memory;
  memory.lent = nullptr;
  memory.lent_size = 0;
  const MSTensor &tensor = outputs != nullptr && index < outputs->size() ? (*outputs)[index] : outputs_[index];
  MSTensor::Impl *impl = tensor.impl().get();
  if (impl == nullptr || impl->data == nullptr || impl->is_shown) return kSuccess;
  const mslite::Graph &graph = session_->graph();
  const mslite::Tensor &declared = graph.tensors[static_cast<size_t>(graph.outputs[index])];
  const int32_t type = slot.shape.type != 0 ? slot.shape.type : declared.type;
  if (type != 0 && static_cast<int32_t>(impl->type) != type) {
    return Fail(kLiteParamInvalid, "output " + std::to_string(index) + " '" + declared.name + "': type " +
                                       mslite::TypeName(static_cast<int32_t>(impl->type)) +
                                       " of the given tensor instead of " + mslite::TypeName(type));
  }
  memory.lent = static_cast<uint8_t *>(impl->data);
  memory.lent_size = impl->size;
  return kSuccess;
}

void ModelImpl::ReturnOutput(size_t index, std::vector<MSTensor> *outputs) {
  const mslite::OutputSlot &slot = session_->outputs()[index];
  MSTensor &tensor = (*outputs)[index];
  // If the caller passed no tensor, the lent memory is that of the model's own output tensor.
  if (tensor != nullptr && slot.memory.lent != nullptr && slot.data == slot.memory.lent) {
    SetDims(slot.shape, &tensor.impl()->shape);
    tensor.impl()->type = static_cast<DataType>(slot.shape.type);
  } else if (tensor != outputs_[index]) {
    tensor = outputs_[index];
  }
}

// Runs the session with `views_`. If a backend fails, the CPU runs this and all later runs.
Status ModelImpl::RunSession(const std::vector<MSTensor> *outputs, const MSKernelCallBack &before,
                             const MSKernelCallBack &after) {
  std::vector<TensorShape> shapes;
  if (delegation_ != nullptr) {
    for (const mslite::InputView &view : views_) shapes.push_back(view.shape);
    if (NeedsReoffer(shapes)) MSLITE_TRY(ReofferNodes(shapes));
  }
  const auto run = [&]() -> Status {
    for (size_t i = 0; i < outputs_.size(); ++i) MSLITE_TRY(BindOutputMemory(i, outputs));
    HideOutputs();
    CallbackObserver observer(session_->graph(), before, after);
    return session_->Run(views_.data(), before || after ? &observer : nullptr);
  };
  const Status status = run();
  if (status.IsOk() || delegation_ == nullptr) return status;
  const std::string reason = delegation_->EngineFailure();
  if (reason.empty()) return status;
  MSLITE_TRY(mslite::FallBack(*context_, reason));
  with_engines_ = false;
  MSLITE_TRY(ReofferNodes(shapes));
  return run();
}

Status ModelImpl::Predict(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs,
                          const MSKernelCallBack &before, const MSKernelCallBack &after, mslite::Request *request) {
  const Turn turn(this);
  MSLITE_TRY(turn.status());
  if (session_ == nullptr) return Fail(kLiteUninitializedObj, "the model is not built");
  if (inputs.size() != inputs_.size()) {
    return Fail(kLiteInputTensorError, std::to_string(inputs.size()) + " inputs were given, but the model has " +
                                           std::to_string(inputs_.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) MSLITE_TRY(ReadInput(i, inputs[i], &views_[i]));
  const auto with_hint = [this](const Status &status) {
    std::vector<TensorShape> shapes;
    for (const mslite::InputView &view : views_) shapes.push_back(view.shape);
    return WithLayoutHint(status, shapes);
  };
  const Status sizes = mslite::CheckInputSizes(session_->graph(), views_, kLiteInputTensorError);
  if (sizes.IsError()) return with_hint(sizes);
  if (outputs != nullptr) outputs->reserve(outputs_.size());  // nothing may fail after a training step
  if (trainer_ != nullptr) {
    MSLITE_TRY(trainer_->PrepareRun());
    if (session_ != trainer_->session()) std::atomic_store(&session_, trainer_->session());
  }
  if (request != nullptr) MSLITE_TRY(request->Begin([this] { return Cancel(); }));
  struct Ending {
    mslite::Request *request;
    ~Ending() {
      if (request != nullptr) request->End();
    }
  } const ending = {request};
  if (const Status status = RunSession(outputs, before, after); status.IsError()) return with_hint(status);
  ShowOutputs(true);
  if (trainer_ != nullptr) MSLITE_TRY(trainer_->FinishRun());
  if (outputs != nullptr) {
    outputs->resize(outputs_.size(), MSTensor(nullptr));
    for (size_t i = 0; i < outputs_.size(); ++i) ReturnOutput(i, outputs);
  }
  return kSuccess;
}

Status ModelImpl::Predict(const MSKernelCallBack &before, const MSKernelCallBack &after) {
  return Predict(inputs_, nullptr, before, after);
}

std::vector<MSTensor> ModelImpl::OutputsOfNode(const std::string &node_name) const {
  std::vector<MSTensor> result;
  if (session_ == nullptr) return result;
  const mslite::Graph &graph = session_->graph();
  for (const mslite::Node &node : graph.nodes) {
    if (node.name != node_name) continue;
    for (const int32_t output : node.outputs) {
      const auto place = std::find(graph.outputs.begin(), graph.outputs.end(), output);
      const auto position = static_cast<size_t>(place - graph.outputs.begin());
      if (position < outputs_.size()) result.push_back(outputs_[position]);
    }
  }
  return result;
}
}  // namespace mindspore
