#include "api/model_impl.h"

#include <algorithm>
#include <cstring>

#include "api/log.h"
#include "api/session_options.h"

namespace mindspore {
namespace {
using mslite::Fail;
using mslite::TensorShape;

std::vector<int64_t> DimsOf(const TensorShape &shape) {
  return shape.rank < 0 ? std::vector<int64_t>() : std::vector<int64_t>(shape.dims, shape.dims + shape.rank);
}

// Without allocation when nothing changed.
void SetDims(const TensorShape &shape, std::vector<int64_t> *dims) {
  const auto rank = static_cast<size_t>(std::max(shape.rank, int32_t{0}));
  if (dims->size() == rank && std::equal(dims->begin(), dims->end(), shape.dims)) return;
  dims->assign(shape.dims, shape.dims + rank);
}

// Turns what a step reads and writes into tensors for the caller's functions.
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
    // A packed weight is shown as the file has it.
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

// Holds the model for one call.
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
    return Fail(kLiteReentrantError, "a callback of a model's run must not build, resize or run the model");
  }

 private:
  ModelImpl *model_;
  bool is_nested_;
};

ModelImpl::~ModelImpl() {
  const bool is_own_thread = worker_.get_id() == std::this_thread::get_id();
  {
    const std::lock_guard<std::mutex> lock(queue_->mutex);
    queue_->is_closed = true;
    queue_->is_orphan = is_own_thread;
  }
  queue_->wake.notify_all();
  if (is_own_thread) worker_.detach();
  if (worker_.joinable()) worker_.join();
}

Status ModelImpl::Build(std::shared_ptr<mslite::SharedModel> model, const std::shared_ptr<Context> &context) {
  const Turn turn(this);
  MSLITE_TRY(turn.status());
  if (session_ != nullptr) return Fail(kLiteModelRebuild, "the model is built already");
  mslite::SessionOptions options;
  MSLITE_TRY(mslite::ReadContext(context, &options));
  std::unique_ptr<mslite::Session> session;
  MSLITE_TRY(mslite::Session::Create(std::move(model), options, &session));
  const mslite::Graph &graph = session->graph();
  for (const int32_t index : graph.inputs) inputs_.push_back(TensorFor(graph.tensors[static_cast<size_t>(index)]));
  for (const int32_t index : graph.outputs) outputs_.push_back(TensorFor(graph.tensors[static_cast<size_t>(index)]));
  views_.resize(inputs_.size());
  session_ = std::move(session);
  ShowOutputs(false);
  return kSuccess;
}

// Brings the shapes, and after a run the contents, of the output tensors up to date.
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

// An error about shapes, with what helps where images come in the other layout.
Status ModelImpl::WithLayoutHint(Status status, const std::vector<TensorShape> &shapes) const {
  if (status.IsOk()) return status;
  const mslite::Graph &graph = session_->graph();
  for (size_t i = 0; i < shapes.size(); ++i) {
    const mslite::Tensor &input = graph.tensors[static_cast<size_t>(graph.inputs[i])];
    const TensorShape &given = shapes[i];
    if (inputs_[i].format() != NHWC || input.dims.size() != 4 || given.rank != 4 || input.dims[3] <= 0) continue;
    if (given.dims[3] == input.dims[3] || given.dims[1] != input.dims[3]) continue;
    return Fail(
        status.StatusCode(),
        status.GetErrDescription() + ". Input '" + input.name + "' is NHWC, " +
            mslite::DimsText(input.dims.data(), input.dims.size()) + " in the file, and " +
            mslite::DimsText(given.dims, 4) +
            " looks like NCHW: give NHWC, or convert with --inputDataFormat=NCHW, which keeps the source's layout");
  }
  return status;
}

Status ModelImpl::Resize(const std::vector<MSTensor> &inputs, const std::vector<std::vector<int64_t>> &dims) {
  const Turn turn(this);
  MSLITE_TRY(turn.status());
  if (session_ == nullptr) return Fail(kLiteUninitializedObj, "the model is not built");
  if (inputs.empty() || inputs.size() != dims.size()) {
    return Fail(kLiteInputParamInvalid, "Resize needs as many shapes as inputs, and at least one");
  }
  std::vector<TensorShape> shapes;
  for (const MSTensor &input : inputs_) {
    TensorShape shape;
    shape.type = static_cast<int32_t>(input.DataType());
    shape.rank = static_cast<int32_t>(input.Shape().size());
    std::copy(input.Shape().begin(), input.Shape().end(), shape.dims);
    shapes.push_back(shape);
  }
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
      // Only a dimension that the file leaves open may be empty: a cache without entries, for example.
      const int64_t least = k < declared.size() && declared[k] <= 0 ? 0 : 1;
      if (dims[i][k] < least || dims[i][k] > INT32_MAX) {
        return Fail(kLiteInputParamInvalid, "input '" + inputs[i].Name() + "': shape " +
                                                mslite::DimsText(dims[i].data(), dims[i].size()) + " is not possible");
      }
      shape.dims[k] = dims[i][k];
    }
  }
  MSLITE_TRY(WithLayoutHint(session_->Resize(shapes), shapes));
  for (size_t i = 0; i < inputs_.size(); ++i) SetDims(shapes[i], &inputs_[i].impl()->shape);
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
    return error("type " + std::string(mslite::TypeName(static_cast<int32_t>(impl->type))) + " where " +
                 mslite::TypeName(static_cast<int32_t>(own.DataType())) + " is expected");
  }
  // A tensor of another rank but the right size, such as a flat one, is taken for the shape of the model.
  const std::vector<int64_t> &shape =
      impl->shape.size() != own.Shape().size() && impl->DataSize() == own.DataSize() ? own.Shape() : impl->shape;
  if (shape.size() > MSLITE_MAX_RANK) return error("the shape has too many dimensions");
  view->shape.type = static_cast<int32_t>(impl->type);
  view->shape.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), view->shape.dims);
  if (impl->type == DataType::kObjectTypeString) {  // as many bytes as there are
    view->shape.rank = 1;
    view->shape.dims[0] = static_cast<int64_t>(impl->size);
  }
  const int64_t bytes = mslite::ByteSize(view->shape);
  if (bytes < 0)
    return error("the shape " + mslite::DimsText(shape.data(), shape.size()) + " is not fully known; call Resize");
  if (impl->data == nullptr && bytes > 0) return error("the tensor has no data");
  if (impl->size < static_cast<size_t>(bytes)) {
    return error("the data has " + std::to_string(impl->size) + " bytes where the shape " +
                 mslite::DimsText(shape.data(), shape.size()) + " needs " + std::to_string(bytes));
  }
  view->data = impl->data;
  return kSuccess;
}

// Memory of the caller's own output tensor is written instead of the model's.
void ModelImpl::LendOutput(size_t index, const std::vector<MSTensor> *outputs) {
  mslite::GrowingBuffer &memory = session_->outputs()[index].memory;
  memory.lent = nullptr;
  memory.lent_size = 0;
  const MSTensor &tensor = outputs != nullptr && index < outputs->size() ? (*outputs)[index] : outputs_[index];
  MSTensor::Impl *impl = tensor.impl().get();
  if (impl == nullptr || impl->data == nullptr || impl->is_shown) return;
  memory.lent = static_cast<uint8_t *>(impl->data);
  memory.lent_size = impl->size;
}

void ModelImpl::GiveOutput(size_t index, std::vector<MSTensor> *outputs) {
  const mslite::OutputSlot &slot = session_->outputs()[index];
  MSTensor &tensor = (*outputs)[index];
  if (slot.memory.lent != nullptr && slot.data == slot.memory.lent) {
    SetDims(slot.shape, &tensor.impl()->shape);
    tensor.impl()->type = static_cast<DataType>(slot.shape.type);
  } else if (tensor != outputs_[index]) {
    tensor = outputs_[index];
  }
}

Status ModelImpl::Predict(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs,
                          const MSKernelCallBack &before, const MSKernelCallBack &after) {
  const Turn turn(this);
  MSLITE_TRY(turn.status());
  if (session_ == nullptr) return Fail(kLiteUninitializedObj, "the model is not built");
  if (inputs.size() != inputs_.size()) {
    return Fail(kLiteInputTensorError,
                std::to_string(inputs.size()) + " inputs where the model has " + std::to_string(inputs_.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) MSLITE_TRY(ReadInput(i, inputs[i], &views_[i]));
  for (size_t i = 0; i < outputs_.size(); ++i) LendOutput(i, outputs);
  CallbackObserver observer(session_->graph(), before, after);
  if (const Status status = session_->Run(views_.data(), before || after ? &observer : nullptr); status.IsError()) {
    std::vector<TensorShape> shapes;
    for (const mslite::InputView &view : views_) shapes.push_back(view.shape);
    return WithLayoutHint(status, shapes);
  }
  ShowOutputs(true);
  if (outputs != nullptr) {
    outputs->resize(outputs_.size(), MSTensor(nullptr));
    for (size_t i = 0; i < outputs_.size(); ++i) GiveOutput(i, outputs);
  }
  return kSuccess;
}

Status ModelImpl::Predict(const MSKernelCallBack &before, const MSKernelCallBack &after) {
  return Predict(inputs_, nullptr, before, after);
}

void ModelImpl::Request::Finish(const Status &status) {
  if (promise) promise->set_value(status);
  if (done) done(status);
}

Status ModelImpl::PredictAsync(Request *request) {
  const std::lock_guard<std::mutex> lock(queue_->mutex);
  if (queue_->is_closed) return Fail(kLiteUninitializedObj, "the model is being destroyed");
  if (!worker_.joinable()) worker_ = std::thread(WorkAsync, this, queue_);
  queue_->requests.push_back(std::move(*request));
  queue_->wake.notify_one();
  return kSuccess;
}

// Runs the requests in the order in which they came; what is queued when the model goes is still run, unless it goes in
// a callback of one of them.
void ModelImpl::WorkAsync(ModelImpl *model, const std::shared_ptr<Queue> &queue) {
  std::unique_lock<std::mutex> lock(queue->mutex);
  while (true) {
    queue->wake.wait(lock, [&queue] { return queue->is_closed || !queue->requests.empty(); });
    if (queue->requests.empty()) return;
    Request request = std::move(queue->requests.front());
    queue->requests.pop_front();
    const bool is_orphan = queue->is_orphan;
    lock.unlock();
    const Status status = mslite::Guard([&]() -> Status {
      if (is_orphan) return Fail(kLiteUninitializedObj, "the model was destroyed before this request ran");
      return model->Predict(request.inputs, request.outputs, nullptr, nullptr);
    });
    mslite::Guard([&]() -> Status {
      request.Finish(status);
      return kSuccess;
    });
    request = Request();  // what it holds may be the last of the model
    lock.lock();
  }
}

std::vector<MSTensor> ModelImpl::OutputsOfNode(const std::string &node_name) const {
  std::vector<MSTensor> result;
  if (session_ == nullptr) return result;
  const mslite::Graph &graph = session_->graph();
  for (const mslite::Node &node : graph.nodes) {
    if (node.name != node_name) continue;
    for (const int32_t output : node.outputs) {
      const auto place = std::find(graph.outputs.begin(), graph.outputs.end(), output);
      if (place != graph.outputs.end()) result.push_back(outputs_[static_cast<size_t>(place - graph.outputs.begin())]);
    }
  }
  return result;
}
}  // namespace mindspore
