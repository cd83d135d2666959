// The C API of models.
#include <algorithm>
#include <cstring>

#include "api/c_handles.h"
#include "api/log.h"
#include "include/c_api/model_c.h"
#include "include/mslite/async_run.h"
#include "include/mslite/run_control.h"

namespace {
using mslite::CContext;
using mslite::CModel;
using mslite::CTensor;

CModel *To(const MSModelHandle handle) { return static_cast<CModel *>(handle); }
mslite::AsyncRun *ToRun(MSAsyncRunHandle handle) { return static_cast<mslite::AsyncRun *>(handle); }
MSStatus Code(const mindspore::Status &status) { return static_cast<MSStatus>(status.StatusCode()); }

// Callers in C get the number alone: the reason is logged.
MSStatus Reported(const mindspore::Status &status) { return Code(mslite::Logged(status)); }
mindspore::Status NullArgument(const char *what) {
  return {mindspore::kLiteNullptr, std::string(what) + ": an argument is NULL that must not be"};
}

void Fill(const std::vector<mindspore::MSTensor> &tensors, std::deque<CTensor> *holders, std::vector<void *> *handles) {
  holders->clear();
  handles->clear();
  for (const mindspore::MSTensor &tensor : tensors) holders->emplace_back(tensor);
  for (CTensor &holder : *holders) handles->push_back(&holder);
}

// A model in a file, or where that is null in memory.
struct Source {
  const char *path;
  const void *data;
  size_t size;
};

// `key`: empty where the model is not encrypted.
MSStatus BuildFrom(MSModelHandle handle, const Source &source, MSModelType type, const MSContextHandle context,
                   const mindspore::Key &key, const char *dec_mode, const char *crypto_lib_path) {
  if (handle == nullptr || context == nullptr) return Reported(NullArgument("MSModelBuild"));
  if (type != kMSModelTypeMindIR) {
    return Reported({mindspore::kLiteParamInvalid, "MSModelBuild: the type must be kMSModelTypeMindIR, not " +
                                                       std::to_string(static_cast<uint32_t>(type))});
  }
  CModel *model = To(handle);
  // The context of the first build may be the one that is given again, and is gone.
  if (model->context != nullptr) return Reported({mindspore::kLiteModelRebuild, "the model is built already"});
  return Code(mslite::Guard([&]() -> mindspore::Status {
    auto *holder = static_cast<CContext *>(context);
    const std::string mode = dec_mode == nullptr ? mindspore::kDecModeAesGcm : dec_mode;
    const std::string library = crypto_lib_path == nullptr ? "" : crypto_lib_path;
    const mindspore::Status status =
        source.path == nullptr
            ? model->model.Build(source.data, source.size, mindspore::kMindIR, holder->context, key, mode, library)
            : model->model.Build(std::string(source.path), mindspore::kMindIR, holder->context, key, mode, library);
    if (status.IsError()) return status;
    model->context = holder->context;
    delete holder;
    Fill(model->model.GetInputs(), &model->inputs, &model->input_handles);
    Fill(model->model.GetOutputs(), &model->outputs, &model->output_handles);
    return status;
  }));
}

MSStatus BuildWithKey(MSModelHandle handle, const Source &source, MSModelType type, const MSContextHandle context,
                      const void *dec_key, size_t key_size, const char *dec_mode, const char *crypto_lib_path) {
  if (dec_key == nullptr) return Reported(NullArgument("MSModelBuildWithKey"));
  const mindspore::Key key(static_cast<const char *>(dec_key), key_size);
  if (key.len == 0) return Reported({mindspore::kLiteParamInvalid, "a key has 16, 24 or 32 bytes"});
  return BuildFrom(handle, source, type, context, key, dec_mode, crypto_lib_path);
}

bool Unwrap(const MSTensorHandleArray &array, std::vector<mindspore::MSTensor> *tensors) {
  if (array.handle_num != 0 && array.handle_list == nullptr) return false;
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
    std::deque<CTensor> in, out;
    std::vector<void *> in_handles, out_handles;
    Fill(inputs, &in, &in_handles);
    Fill(outputs, &out, &out_handles);
    std::string name = info.node_name;
    std::string type = info.node_type;
    return function({in_handles.size(), in_handles.data()}, {out_handles.size(), out_handles.data()},
                    {name.data(), type.data()});
  };
}

MSTensorHandle Find(std::deque<CTensor> *tensors, const char *name) {
  const auto place =
      std::find_if(tensors->begin(), tensors->end(), [name](const CTensor &tensor) { return tensor.name == name; });
  return place == tensors->end() ? nullptr : &*place;
}
// Puts results into the caller's tensors, or shows those of the model.
void ShowResults(CModel *model, const std::vector<mindspore::MSTensor> &results, MSTensorHandleArray *outputs) {
  const bool has_outputs = outputs->handle_num != 0 && outputs->handle_list != nullptr;
  for (size_t i = 0; has_outputs && i < std::min(outputs->handle_num, results.size()); ++i) {
    static_cast<CTensor *>(outputs->handle_list[i])->tensor = results[i];
  }
  if (!has_outputs) *outputs = {model->output_handles.size(), model->output_handles.data()};
}

// What a caller asks of an asynchronous run; `done` may be null.
struct Order {
  MSModelHandle model;
  MSTensorHandleArray inputs;
  MSTensorHandleArray *outputs;
  MSPredictDone done;
  void *user_data;
};

MSStatus Start(const char *caller, const Order &order, mslite::AsyncRun *run) {
  if (order.model == nullptr || order.outputs == nullptr) return Reported(NullArgument(caller));
  return Reported(mslite::Guard([&]() -> mindspore::Status {
    std::vector<mindspore::MSTensor> in;
    const auto results = std::make_shared<std::vector<mindspore::MSTensor>>();
    if (!Unwrap(order.inputs, &in)) return NullArgument(caller);
    const bool has_outputs = order.outputs->handle_num != 0 && order.outputs->handle_list != nullptr;
    if (has_outputs && !Unwrap(*order.outputs, results.get())) return NullArgument(caller);
    *run = mslite::StartPredict(To(order.model)->model, in, results.get(),
                                [order, results](const mindspore::Status &status) {
                                  if (status.IsOk()) ShowResults(To(order.model), *results, order.outputs);
                                  const MSStatus code = Reported(status);
                                  if (order.done != nullptr) order.done(code, order.user_data);
                                });
    return mindspore::kSuccess;
  }));
}
}  // namespace

MSModelHandle MSModelCreate() { return new (std::nothrow) CModel; }
void MSModelDestroy(MSModelHandle *model) {
  if (model == nullptr) return;
  delete To(*model);
  *model = nullptr;
}
MSStatus MSModelSetWorkspace(MSModelHandle, void *, size_t) { return kMSStatusLiteNotSupport; }
size_t MSModelCalcWorkspaceSize(MSModelHandle) { return 0; }

MSStatus MSModelBuild(MSModelHandle model, const void *model_data, size_t data_size, MSModelType model_type,
                      const MSContextHandle model_context) {
  return BuildFrom(model, {nullptr, model_data, data_size}, model_type, model_context, {}, nullptr, nullptr);
}
MSStatus MSModelBuildFromFile(MSModelHandle model, const char *model_path, MSModelType model_type,
                              const MSContextHandle model_context) {
  if (model_path == nullptr) return Reported(NullArgument("MSModelBuildFromFile"));
  return BuildFrom(model, {model_path, nullptr, 0}, model_type, model_context, {}, nullptr, nullptr);
}
MSStatus MSModelBuildWithKey(MSModelHandle model, const void *model_data, size_t data_size, MSModelType model_type,
                             const MSContextHandle model_context, const void *dec_key, size_t key_size,
                             const char *dec_mode, const char *crypto_lib_path) {
  return BuildWithKey(model, {nullptr, model_data, data_size}, model_type, model_context, dec_key, key_size, dec_mode,
                      crypto_lib_path);
}
MSStatus MSModelBuildFromFileWithKey(MSModelHandle model, const char *model_path, MSModelType model_type,
                                     const MSContextHandle model_context, const void *dec_key, size_t key_size,
                                     const char *dec_mode, const char *crypto_lib_path) {
  if (model_path == nullptr) return Reported(NullArgument("MSModelBuildFromFileWithKey"));
  return BuildWithKey(model, {model_path, nullptr, 0}, model_type, model_context, dec_key, key_size, dec_mode,
                      crypto_lib_path);
}

MSStatus MSModelResize(MSModelHandle model, const MSTensorHandleArray inputs, MSShapeInfo *shape_infos,
                       size_t shape_info_num) {
  if (model == nullptr || shape_infos == nullptr) return Reported(NullArgument("MSModelResize"));
  return Reported(mslite::Guard([&]() -> mindspore::Status {
    std::vector<mindspore::MSTensor> tensors;
    std::vector<std::vector<int64_t>> dims;
    if (!Unwrap(inputs, &tensors)) return NullArgument("MSModelResize");
    for (size_t i = 0; i < shape_info_num; ++i) {
      if (shape_infos[i].shape_num > MS_MAX_SHAPE_NUM) {
        return {mindspore::kLiteParamInvalid, "MSModelResize: shape_num is " +
                                                  std::to_string(shape_infos[i].shape_num) + ", MS_MAX_SHAPE_NUM is " +
                                                  std::to_string(MS_MAX_SHAPE_NUM)};
      }
      dims.emplace_back(shape_infos[i].shape, shape_infos[i].shape + shape_infos[i].shape_num);
    }
    return To(model)->model.Resize(tensors, dims);
  }));
}

MSStatus MSModelUpdateWeights(MSModelHandle model, const MSTensorHandleArray new_weights) {
  if (model == nullptr) return Reported(NullArgument("MSModelUpdateWeights"));
  return Code(mslite::Guard([&]() -> mindspore::Status {
    std::vector<mindspore::MSTensor> weights;
    if (!Unwrap(new_weights, &weights)) return mslite::Logged(NullArgument("MSModelUpdateWeights"));
    return To(model)->model.UpdateWeights(weights);
  }));
}

MSStatus MSModelPredict(MSModelHandle model, const MSTensorHandleArray inputs, MSTensorHandleArray *outputs,
                        const MSKernelCallBackC before, const MSKernelCallBackC after) {
  if (model == nullptr || outputs == nullptr) return Reported(NullArgument("MSModelPredict"));
  return Reported(mslite::Guard([&]() -> mindspore::Status {
    std::vector<mindspore::MSTensor> in, out;
    if (!Unwrap(inputs, &in)) return NullArgument("MSModelPredict");
    const bool has_outputs = outputs->handle_num != 0 && outputs->handle_list != nullptr;
    if (has_outputs && !Unwrap(*outputs, &out)) return NullArgument("MSModelPredict");
    const mindspore::Status status = To(model)->model.Predict(in, &out, Wrap(before), Wrap(after));
    if (status.IsError()) return status;
    ShowResults(To(model), out, outputs);
    return status;
  }));
}

MSStatus MSModelPredictAsync(MSModelHandle model, const MSTensorHandleArray inputs, MSTensorHandleArray *outputs,
                             MSPredictDone done, void *user_data) {
  if (done == nullptr) return Reported(NullArgument("MSModelPredictAsync"));
  mslite::AsyncRun run;
  return Start("MSModelPredictAsync", {model, inputs, outputs, done, user_data}, &run);
}

MSStatus MSModelStartPredict(MSModelHandle model, const MSTensorHandleArray inputs, MSTensorHandleArray *outputs,
                             MSPredictDone done, void *user_data, MSAsyncRunHandle *run) {
  if (run == nullptr) return Reported(NullArgument("MSModelStartPredict"));
  *run = nullptr;
  std::unique_ptr<mslite::AsyncRun> made(new (std::nothrow) mslite::AsyncRun);
  if (made == nullptr) return kMSStatusLiteMemoryFailed;
  const MSStatus status = Start("MSModelStartPredict", {model, inputs, outputs, done, user_data}, made.get());
  if (status == kMSStatusSuccess) *run = made.release();
  return status;
}
bool MSAsyncRunCancel(MSAsyncRunHandle run) { return run != nullptr && ToRun(run)->Cancel(); }
MSStatus MSAsyncRunWait(MSAsyncRunHandle run) {
  return run == nullptr ? Reported(NullArgument("MSAsyncRunWait")) : Code(ToRun(run)->Wait());
}
bool MSAsyncRunIsDone(const MSAsyncRunHandle run) { return run == nullptr || ToRun(run)->IsDone(); }
void MSAsyncRunDestroy(MSAsyncRunHandle *run) {
  if (run == nullptr) return;
  delete ToRun(*run);
  *run = nullptr;
}
bool MSModelCancelPredict(MSModelHandle model) { return model != nullptr && mslite::CancelPredict(To(model)->model); }

MSStatus MSModelRunStep(MSModelHandle model, const MSKernelCallBackC before, const MSKernelCallBackC after) {
  return model == nullptr ? kMSStatusLiteNullptr : Reported(To(model)->model.RunStep(Wrap(before), Wrap(after)));
}
MSStatus MSModelSetTrainMode(const MSModelHandle model, bool train) {
  return model == nullptr ? kMSStatusLiteNullptr : Code(To(model)->model.SetTrainMode(train));
}
MSStatus MSModelExportWeight(const MSModelHandle, const char *) { return kMSStatusLiteNotSupport; }
MSTensorHandleArray MSModelGetInputs(const MSModelHandle model) {
  if (model == nullptr) return {0, nullptr};
  return {To(model)->input_handles.size(), To(model)->input_handles.data()};
}
MSTensorHandleArray MSModelGetOutputs(const MSModelHandle model) {
  if (model == nullptr) return {0, nullptr};
  return {To(model)->output_handles.size(), To(model)->output_handles.data()};
}
MSTensorHandle MSModelGetInputByTensorName(const MSModelHandle model, const char *tensor_name) {
  return model == nullptr || tensor_name == nullptr ? nullptr : Find(&To(model)->inputs, tensor_name);
}
MSTensorHandle MSModelGetOutputByTensorName(const MSModelHandle model, const char *tensor_name) {
  return model == nullptr || tensor_name == nullptr ? nullptr : Find(&To(model)->outputs, tensor_name);
}
