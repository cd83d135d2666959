// The C API of models.
#include <algorithm>
#include <cstring>

#include "api/c_handles.h"
#include "api/log.h"
#include "include/c_api/model_c.h"

namespace {
using mslite::CContext;
using mslite::CModel;
using mslite::CTensor;

CModel *To(const MSModelHandle handle) { return static_cast<CModel *>(handle); }
MSStatus Code(const mindspore::Status &status) { return static_cast<MSStatus>(status.StatusCode()); }

void Fill(const std::vector<mindspore::MSTensor> &tensors, std::deque<CTensor> *holders, std::vector<void *> *handles) {
  holders->clear();
  handles->clear();
  for (const mindspore::MSTensor &tensor : tensors) holders->emplace_back(tensor);
  for (CTensor &holder : *holders) handles->push_back(&holder);
}

template <typename Build>
MSStatus BuildWith(MSModelHandle handle, MSModelType type, const MSContextHandle context, Build build) {
  if (handle == nullptr || context == nullptr) return kMSStatusLiteNullptr;
  if (type != kMSModelTypeMindIR) return kMSStatusLiteParamInvalid;
  return Code(mslite::Guard([&]() -> mindspore::Status {
    CModel *model = To(handle);
    auto *holder = static_cast<CContext *>(context);
    const mindspore::Status status = build(&model->model, holder->context);
    if (status.IsError()) return status;
    model->context = holder->context;
    delete holder;
    Fill(model->model.GetInputs(), &model->inputs, &model->input_handles);
    Fill(model->model.GetOutputs(), &model->outputs, &model->output_handles);
    return status;
  }));
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
  return BuildWith(model, model_type, model_context,
                   [&](mindspore::Model *built, const std::shared_ptr<mindspore::Context> &context) {
                     return built->Build(model_data, data_size, mindspore::kMindIR, context);
                   });
}
MSStatus MSModelBuildFromFile(MSModelHandle model, const char *model_path, MSModelType model_type,
                              const MSContextHandle model_context) {
  if (model_path == nullptr) return kMSStatusLiteNullptr;
  return BuildWith(model, model_type, model_context,
                   [&](mindspore::Model *built, const std::shared_ptr<mindspore::Context> &context) {
                     return built->Build(std::string(model_path), mindspore::kMindIR, context);
                   });
}

MSStatus MSModelResize(MSModelHandle model, const MSTensorHandleArray inputs, MSShapeInfo *shape_infos,
                       size_t shape_info_num) {
  if (model == nullptr || shape_infos == nullptr) return kMSStatusLiteNullptr;
  return Code(mslite::Guard([&]() -> mindspore::Status {
    std::vector<mindspore::MSTensor> tensors;
    std::vector<std::vector<int64_t>> dims;
    if (!Unwrap(inputs, &tensors)) return mindspore::kLiteNullptr;
    for (size_t i = 0; i < shape_info_num; ++i) {
      if (shape_infos[i].shape_num > MS_MAX_SHAPE_NUM) return mindspore::kLiteParamInvalid;
      dims.emplace_back(shape_infos[i].shape, shape_infos[i].shape + shape_infos[i].shape_num);
    }
    return To(model)->model.Resize(tensors, dims);
  }));
}

MSStatus MSModelPredict(MSModelHandle model, const MSTensorHandleArray inputs, MSTensorHandleArray *outputs,
                        const MSKernelCallBackC before, const MSKernelCallBackC after) {
  if (model == nullptr || outputs == nullptr) return kMSStatusLiteNullptr;
  return Code(mslite::Guard([&]() -> mindspore::Status {
    std::vector<mindspore::MSTensor> in, out;
    if (!Unwrap(inputs, &in)) return mindspore::kLiteNullptr;
    const bool has_outputs = outputs->handle_num != 0 && outputs->handle_list != nullptr;
    if (has_outputs && !Unwrap(*outputs, &out)) return mindspore::kLiteNullptr;
    const mindspore::Status status = To(model)->model.Predict(in, &out, Wrap(before), Wrap(after));
    if (status.IsError()) return status;
    for (size_t i = 0; has_outputs && i < std::min(outputs->handle_num, out.size()); ++i) {
      static_cast<CTensor *>(outputs->handle_list[i])->tensor = out[i];
    }
    if (!has_outputs) *outputs = {To(model)->output_handles.size(), To(model)->output_handles.data()};
    return status;
  }));
}

MSStatus MSModelRunStep(MSModelHandle model, const MSKernelCallBackC before, const MSKernelCallBackC after) {
  return model == nullptr ? kMSStatusLiteNullptr : Code(To(model)->model.RunStep(Wrap(before), Wrap(after)));
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
