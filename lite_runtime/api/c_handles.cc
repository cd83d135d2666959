#include "api/c_handles.h"

#include <algorithm>

#include "api/log.h"
#include "api/model_access.h"
#include "api/model_impl.h"

namespace mslite {
void TensorHandles::Prepare(const std::vector<mindspore::MSTensor> &tensors) {
  is_prepared_ = false;
  prepared_.clear();
  for (const mindspore::MSTensor &tensor : tensors) prepared_.emplace_back(tensor);
  while (holders_.size() < tensors.size()) holders_.emplace_back(tensors[holders_.size()]);
  prepared_handles_.clear();
  for (size_t i = 0; i < tensors.size(); ++i) prepared_handles_.push_back(&holders_[i]);
  is_prepared_ = true;
}

void TensorHandles::CommitPrepared() noexcept {
  if (!is_prepared_) return;
  for (size_t i = 0; i < prepared_.size(); ++i) std::swap(holders_[i], prepared_[i]);
  handles_.swap(prepared_handles_);
  prepared_.clear();
  is_prepared_ = false;
}

MSTensorHandle TensorHandles::Find(const char *name) {
  const auto place = std::find_if(handles_.begin(), handles_.end(), [name](const void *handle) {
    return static_cast<const CTensor *>(handle)->name == name;
  });
  return place == handles_.end() ? nullptr : *place;
}

MSStatus Reported(const mindspore::Status &status) { return CodeOf(Logged(status)); }

mindspore::Status NullArgument(const char *what) noexcept {
  return Guard([what]() -> mindspore::Status {
    return {mindspore::kLiteNullptr, std::string(what) + ": an argument is NULL, or a count is too large"};
  });
}

MSStatus BuildModel(
    const char *caller, MSModelHandle handle, MSModelType type, MSContextHandle context,
    const std::function<mindspore::Status(mindspore::Model *, const std::shared_ptr<mindspore::Context> &)> &build) {
  if (handle == nullptr || context == nullptr) return Reported(NullArgument(caller));
  CModel *model = ToModel(handle);
  const mindspore::Status possible = Guard([&]() -> mindspore::Status {
    if (type != kMSModelTypeMindIR) {
      return {mindspore::kLiteParamInvalid, std::string(caller) + ": the type must be kMSModelTypeMindIR, not " +
                                                std::to_string(static_cast<uint32_t>(type))};
    }
    // Checked first: after a successful build, the handle of the context is no longer valid.
    if (model->context != nullptr) return {mindspore::kLiteModelRebuild, "the model is already built"};
    return mindspore::kSuccess;
  });
  if (possible.IsError()) return Reported(possible);
  return CodeOf(Guard([&]() -> mindspore::Status {
    auto *holder = static_cast<CContext *>(context);
    mindspore::Model built;  // assigned to the model after its handles have been allocated
    const mindspore::Status status = build(&built, holder->context);
    if (status.IsError()) return status;
    model->inputs.Prepare(mindspore::ModelAccess::Of(built)->inputs());
    model->outputs.Prepare(mindspore::ModelAccess::Of(built)->outputs());
    model->inputs.CommitPrepared();  // nothing can fail from here on
    model->outputs.CommitPrepared();
    model->model = built;
    model->context = holder->context;
    delete holder;
    return status;
  }));
}

bool Unwrap(const MSTensorHandleArray &array, std::vector<mindspore::MSTensor> *tensors) {
  if (array.handle_num > kMaxItems || (array.handle_num != 0 && array.handle_list == nullptr)) return false;
  for (size_t i = 0; i < array.handle_num; ++i) {
    if (array.handle_list[i] == nullptr) return false;
    tensors->push_back(static_cast<CTensor *>(array.handle_list[i])->tensor);
  }
  return true;
}

mindspore::MSKernelCallBack Wrap(MSKernelCallBackC function) {
  if (function == nullptr) return nullptr;
  return [function](const std::vector<mindspore::MSTensor> &inputs, const std::vector<mindspore::MSTensor> &outputs,
                    const mindspore::MSCallBackParam &info) {
    TensorHandles in(inputs);
    TensorHandles out(outputs);
    std::string name = info.node_name;
    std::string type = info.node_type;
    return function(in.array(), out.array(), {name.data(), type.data()});
  };
}
}  // namespace mslite
