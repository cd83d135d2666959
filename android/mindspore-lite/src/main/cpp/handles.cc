#include "handles.h"

#include <algorithm>

namespace mslite::java {
namespace {
using mindspore::kLiteReentrantError;
using mindspore::kLiteUninitializedObj;

// handle = number * kKinds + kind, so that messages can name the kind of a freed object.
constexpr int64_t kKinds = 16;

struct Table {
  std::mutex mutex;
  int64_t count = 0;
  std::map<int64_t, std::shared_ptr<Object>> objects;
};

// The table is never destroyed, because threads may still use it while the process exits.
Table &TheTable() {
  static auto *table = new Table;
  return *table;
}

Kind KindOf(int64_t handle) { return static_cast<Kind>(handle % kKinds); }

const char *NameOf(Kind kind) {
  switch (kind) {
    case Kind::kGraph:
      return "graph";
    case Kind::kContext:
      return "context";
    case Kind::kTrainCfg:
      return "training configuration";
    case Kind::kRunnerConfig:
      return "runner configuration";
    case Kind::kModel:
      return "model";
    case Kind::kRunner:
      return "runner";
    case Kind::kTensor:
    case Kind::kModelTensor:
      return "tensor";
    case Kind::kRequest:
      return "request";
  }
  return "object";
}

bool IsOfKind(int64_t handle, Kind kind) {
  return handle > 0 && (KindOf(handle) == kind || (kind == Kind::kTensor && KindOf(handle) == Kind::kModelTensor));
}

Misuse Gone(Kind kind) {
  const std::string name = NameOf(kind);
  const std::string of_model = kind == Kind::kTensor ? ", or its model was" : "";
  return {static_cast<int32_t>(kLiteUninitializedObj), "the " + name + " was freed" + of_model};
}
}  // namespace

Failure NoContents(const TensorObject &object) {
  return {static_cast<int32_t>(mindspore::kLiteInputTensorError),
          "tensor '" + object.tensor.Name() + "' has no data for its type and shape"};
}

void Object::RefuseDuringRuns() const {
  if (turn->runs.load() == 0) return;
  throw Misuse{static_cast<int32_t>(kLiteReentrantError), "a running request uses the object; wait until it has ended"};
}

TensorObject::TensorObject(const mindspore::MSTensor &shown, const std::shared_ptr<ModelObject> &owner, bool written)
    : Object(owner->turn), tensor(shown), is_output(written), is_of_model(true), model(owner) {}

void ModelObject::ShowResults() {
  for (const auto &object : tensors) {
    if (!object->is_output) continue;
    object->bytes = object->tensor.DataSize();
    // If the result did not fit into the buffer, the runtime has allocated other memory.
    if (object->buffer.get() == nullptr) continue;
    const Attached attached;
    if (attached.env() == nullptr) continue;
    if (attached.env()->GetDirectBufferAddress(object->buffer.get()) != object->tensor.Data().get()) {
      object->buffer.Reset();
    }
  }
}

void ModelObject::ForgetResults() {
  for (const auto &object : tensors) {
    if (object->is_output) object->bytes = 0;
  }
}

void FollowOutputs(const std::shared_ptr<ModelObject> &model) {
  const std::vector<mindspore::MSTensor> outputs = model->model.GetOutputs();
  const size_t inputs = model->input_handles.size();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (i < model->output_handles.size()) {
      TensorObject &object = *model->tensors[inputs + i];
      if (object.tensor == outputs[i]) continue;
      object.tensor = outputs[i];
      object.bytes = 0;
      object.buffer.Reset();
    } else {
      model->tensors.push_back(std::make_shared<TensorObject>(outputs[i], model, true));
      model->output_handles.push_back(AddHandle(Kind::kModelTensor, model->tensors.back()));
    }
  }
  Table &table = TheTable();
  const std::lock_guard<std::mutex> lock(table.mutex);
  while (model->output_handles.size() > outputs.size()) {
    table.objects.erase(model->output_handles.back());
    model->output_handles.pop_back();
    model->tensors.pop_back();
  }
}

int64_t AddHandle(Kind kind, std::shared_ptr<Object> object) {
  Table &table = TheTable();
  const std::lock_guard<std::mutex> lock(table.mutex);
  const int64_t handle = ++table.count * kKinds + static_cast<int64_t>(kind);
  table.objects.emplace(handle, std::move(object));
  return handle;
}

std::shared_ptr<Object> FindHandle(int64_t handle, Kind kind) {
  if (handle == 0) {
    throw Failure{static_cast<int32_t>(kLiteUninitializedObj),
                  std::string("the ") + NameOf(kind) + " is not initialized"};
  }
  if (!IsOfKind(handle, kind)) {
    throw Misuse{static_cast<int32_t>(kLiteUninitializedObj),
                 std::to_string(handle) + " is not the handle of a " + NameOf(kind)};
  }
  Table &table = TheTable();
  const std::lock_guard<std::mutex> lock(table.mutex);
  const auto found = table.objects.find(handle);
  if (found == table.objects.end()) throw Gone(kind);
  return found->second;
}

void ReleaseHandle(int64_t handle) {
  // Tensors of a model are released with the model.
  if (IsOfKind(handle, Kind::kModelTensor)) return;
  Table &table = TheTable();
  std::shared_ptr<Object> object;
  {
    const std::lock_guard<std::mutex> lock(table.mutex);
    const auto found = table.objects.find(handle);
    if (found == table.objects.end()) throw Gone(KindOf(handle));
    object = std::move(found->second);
    table.objects.erase(found);
  }
  if (KindOf(handle) != Kind::kModel) return;
  const auto model = std::static_pointer_cast<ModelObject>(object);
  const std::lock_guard<std::mutex> turn(model->turn->mutex);
  const std::lock_guard<std::mutex> lock(table.mutex);
  for (const int64_t tensor : model->input_handles) table.objects.erase(tensor);
  for (const int64_t tensor : model->output_handles) table.objects.erase(tensor);
}

HeldTensor::HeldTensor(int64_t handle) : object_(Find<TensorObject>(handle)) {
  if (object_->is_of_model) {
    model_ = object_->model.lock();
    if (model_ == nullptr) throw Gone(Kind::kTensor);
  }
  lock_ = std::unique_lock<std::mutex>(object_->turn->mutex);
}

Use::Use(std::shared_ptr<Object> object, std::shared_ptr<ModelObject> model)
    : object_(std::move(object)), model_(std::move(model)) {
  ++object_->turn->runs;
}

Use::~Use() {
  if (object_ != nullptr) --object_->turn->runs;
}

UsedTensors::UsedTensors(const std::vector<int64_t> &handles) {
  for (const int64_t handle : handles) {
    const std::shared_ptr<TensorObject> object = Find<TensorObject>(handle);
    std::shared_ptr<ModelObject> model = object->model.lock();
    if (object->is_of_model && model == nullptr) throw Gone(Kind::kTensor);
    {
      const std::lock_guard<std::mutex> lock(object->turn->mutex);
      if (object->is_output) object->RefuseDuringRuns();
      if (object->bytes < object->tensor.DataSize()) throw NoContents(*object);
      // Counted before the lock is released, so that no call changes the tensor after the check.
      uses.emplace_back(object, std::move(model));
    }
    tensors.push_back(object->tensor);
  }
}

std::vector<int64_t> AddCopies(const std::vector<mindspore::MSTensor> &tensors) {
  std::vector<int64_t> handles;
  for (const mindspore::MSTensor &tensor : tensors) {
    const std::unique_ptr<mindspore::MSTensor> copy(tensor.Clone());
    if (copy == nullptr) throw std::bad_alloc();
    auto object = std::make_shared<TensorObject>(*copy);
    object->bytes = copy->DataSize();
    handles.push_back(Add(std::move(object)));
  }
  return handles;
}
}  // namespace mslite::java
