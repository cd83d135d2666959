// The C API of models.
#include <algorithm>
#include <cstring>

#include "api/c_handles.h"
#include "api/c_training.h"
#include "api/log.h"
#include "include/c_api/model_c.h"
#include "include/mslite/async_run.h"
#include "include/mslite/run_control.h"

namespace {
using mslite::CModel;
using mslite::CodeOf;
using mslite::CTensor;
using mslite::NullArgument;
using mslite::Reported;
using mslite::ToModel;
using mslite::Unwrap;
using mslite::Wrap;

mslite::AsyncRun *ToRun(MSAsyncRunHandle handle) { return static_cast<mslite::AsyncRun *>(handle); }

// A model in a file, or in memory if `path` is null.
struct Source {
  const char *path;
  const void *data;
  size_t size;
};

// Builds a model. `key` is empty if the model is not encrypted.
MSStatus BuildFrom(MSModelHandle handle, const Source &source, MSModelType type, const MSContextHandle context,
                   const mindspore::Key &key, const char *dec_mode, const char *crypto_lib_path) {
  const auto build = [&](mindspore::Model *model, const std::shared_ptr<mindspore::Context> &where) {
    const std::string mode = dec_mode == nullptr ? mindspore::kDecModeAesGcm : dec_mode;
    const std::string library = crypto_lib_path == nullptr ? "" : crypto_lib_path;
    return source.path == nullptr
               ? model->Build(source.data, source.size, mindspore::kMindIR, where, key, mode, library)
               : model->Build(std::string(source.path), mindspore::kMindIR, where, key, mode, library);
  };
  return mslite::CatchToStatus([&] { return mslite::BuildModel("MSModelBuild", handle, type, context, build); });
}

MSStatus BuildWithKey(MSModelHandle handle, const Source &source, MSModelType type, const MSContextHandle context,
                      const void *dec_key, size_t key_size, const char *dec_mode, const char *crypto_lib_path) {
  if (dec_key == nullptr) return Reported(NullArgument("MSModelBuildWithKey"));
  const mindspore::Key key(static_cast<const char *>(dec_key), key_size);
  if (key.len == 0) {
    return mslite::CatchToStatus([] {
      return Reported({mindspore::kLiteParamInvalid, "a key must have 16, 24 or 32 bytes"});
    });
  }
  return BuildFrom(handle, source, type, context, key, dec_mode, crypto_lib_path);
}

// Assigns results to the caller's tensors, or returns the output handles of the model.
void ShowResults(CModel *model, const std::vector<mindspore::MSTensor> &results, MSTensorHandleArray *outputs) {
  const bool has_outputs = outputs->handle_num != 0 && outputs->handle_list != nullptr;
  for (size_t i = 0; has_outputs && i < std::min(outputs->handle_num, results.size()); ++i) {
    static_cast<CTensor *>(outputs->handle_list[i])->tensor = results[i];
  }
  if (!has_outputs) *outputs = model->outputs.array();
}

// The arguments of an asynchronous run. `done` may be null.
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
    *run = mslite::StartPredict(ToModel(order.model)->model, in, results.get(),
                                [order, results](const mindspore::Status &status) {
                                  if (status.IsOk()) ShowResults(ToModel(order.model), *results, order.outputs);
                                  const MSStatus code = Reported(status);
                                  if (order.done != nullptr) order.done(code, order.user_data);
                                });
    return mindspore::kSuccess;
  }));
}
}  // namespace

MSModelHandle MSModelCreate() {
  return mslite::CallOrDefault([] { return new CModel; });
}
void MSModelDestroy(MSModelHandle *model) {
  if (model == nullptr) return;
  delete ToModel(*model);
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

MSStatus MSModelUpdateWeights(MSModelHandle model, const MSTensorHandleArray new_weights) {
  constexpr char kCaller[] = "MSModelUpdateWeights";
  if (model == nullptr) return Reported(NullArgument(kCaller));
  if (ToModel(model)->is_for_training) return mslite::mslite_part_training[0].model_update_weights(model, new_weights);
  return CodeOf(mslite::Guard([&]() -> mindspore::Status {
    std::vector<mindspore::MSTensor> weights;
    if (!Unwrap(new_weights, &weights)) return mslite::Logged(NullArgument(kCaller));
    return ToModel(model)->model.UpdateWeights(weights);
  }));
}

MSStatus MSModelLoadAdapter(MSModelHandle model, const char *adapter_path) {
  if (model == nullptr || adapter_path == nullptr) return Reported(NullArgument("MSModelLoadAdapter"));
  return CodeOf(mslite::Guard([&] { return ToModel(model)->model.LoadAdapter(adapter_path); }));
}

MSStatus MSModelUnloadAdapter(MSModelHandle model) {
  if (model == nullptr) return Reported(NullArgument("MSModelUnloadAdapter"));
  return CodeOf(ToModel(model)->model.UnloadAdapter());
}

MSStatus MSModelResize(MSModelHandle model, const MSTensorHandleArray inputs, MSShapeInfo *shape_infos,
                       size_t shape_info_num) {
  if (model == nullptr || shape_infos == nullptr) return Reported(NullArgument("MSModelResize"));
  return Reported(mslite::Guard([&]() -> mindspore::Status {
    std::vector<mindspore::MSTensor> tensors;
    std::vector<std::vector<int64_t>> dims;
    if (!Unwrap(inputs, &tensors) || shape_info_num > mslite::kMaxItems) return NullArgument("MSModelResize");
    for (size_t i = 0; i < shape_info_num; ++i) {
      if (shape_infos[i].shape_num > MS_MAX_SHAPE_NUM) {
        return {mindspore::kLiteParamInvalid, "MSModelResize: shape_num is " +
                                                  std::to_string(shape_infos[i].shape_num) + ", MS_MAX_SHAPE_NUM is " +
                                                  std::to_string(MS_MAX_SHAPE_NUM)};
      }
      dims.emplace_back(shape_infos[i].shape, shape_infos[i].shape + shape_infos[i].shape_num);
    }
    return ToModel(model)->model.Resize(tensors, dims);
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
    const mindspore::Status status = ToModel(model)->model.Predict(in, &out, Wrap(before), Wrap(after));
    if (status.IsError()) return status;
    ShowResults(ToModel(model), out, outputs);
    return status;
  }));
}

// For a model that is built for training, this is one training step.
MSStatus MSRunStep(MSModelHandle model, const MSKernelCallBackC before, const MSKernelCallBackC after) {
  if (model == nullptr) return Reported(NullArgument("MSRunStep"));
  return Reported(mslite::Guard([&] { return ToModel(model)->model.RunStep(Wrap(before), Wrap(after)); }));
}
MSStatus MSModelRunStep(MSModelHandle model, const MSKernelCallBackC before, const MSKernelCallBackC after) {
  return MSRunStep(model, before, after);
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
  return run == nullptr ? Reported(NullArgument("MSAsyncRunWait")) : CodeOf(ToRun(run)->Wait());
}
bool MSAsyncRunIsDone(const MSAsyncRunHandle run) { return run == nullptr || ToRun(run)->IsDone(); }
void MSAsyncRunDestroy(MSAsyncRunHandle *run) {
  if (run == nullptr) return;
  delete ToRun(*run);
  *run = nullptr;
}
bool MSModelCancelPredict(MSModelHandle model) {
  return model != nullptr && mslite::CancelPredict(ToModel(model)->model);
}

MSTensorHandleArray MSModelGetInputs(const MSModelHandle model) {
  return model == nullptr ? MSTensorHandleArray{0, nullptr} : ToModel(model)->inputs.array();
}
MSTensorHandleArray MSModelGetOutputs(const MSModelHandle model) {
  return model == nullptr ? MSTensorHandleArray{0, nullptr} : ToModel(model)->outputs.array();
}
MSTensorHandle MSModelGetInputByTensorName(const MSModelHandle model, const char *tensor_name) {
  return model == nullptr || tensor_name == nullptr ? nullptr : ToModel(model)->inputs.Find(tensor_name);
}
MSTensorHandle MSModelGetOutputByTensorName(const MSModelHandle model, const char *tensor_name) {
  return model == nullptr || tensor_name == nullptr ? nullptr : ToModel(model)->outputs.Find(tensor_name);
}
