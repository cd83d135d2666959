// Implementation of the C API for training.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "api/c_handles.h"
#include "api/c_training.h"
#include "api/log.h"
#include "api/model_access.h"
#include "api/model_impl.h"
#include "include/api/cfg.h"
#include "include/api/serialization.h"
#include "include/c_api/model_c.h"

namespace {
using mslite::CModel;
using mslite::CodeOf;
using mslite::NullArgument;
using mslite::Reported;
using mslite::ToModel;
using mslite::Unwrap;

mindspore::TrainCfg *ToConfig(MSTrainCfgHandle handle) { return static_cast<mindspore::TrainCfg *>(handle); }

// Builds a model for training. `load`, Status(mindspore::Graph *), loads the graph.
template <typename Function>
MSStatus BuildFrom(const char *caller, MSModelHandle handle, MSModelType type, MSContextHandle context,
                   MSTrainCfgHandle train_cfg, const Function &load) {
  if (train_cfg == nullptr) return Reported(NullArgument(caller));
  const auto build = [&](mindspore::Model *model,
                         const std::shared_ptr<mindspore::Context> &where) -> mindspore::Status {
    mindspore::Graph graph;
    if (const mindspore::Status status = load(&graph); status.IsError()) return status;
    const auto config = std::make_shared<mindspore::TrainCfg>(*ToConfig(train_cfg));
    return model->Build(mindspore::GraphCell(graph), where, config);
  };
  return mslite::CatchToStatus([&] {
    const MSStatus status = mslite::BuildModel(caller, handle, type, context, build);
    if (status != kMSStatusSuccess) return status;
    CModel *model = ToModel(handle);
    model->is_for_training = true;
    mindspore::ModelAccess::Of(model->model)->prepare_outputs = [model](const auto &outputs) {
      model->outputs.Prepare(outputs);
    };
    return status;
  });
}

// Calls a function that may change the output tensors of the model. The function logs its own errors.
template <typename Function>
MSStatus Change(const char *caller, MSModelHandle handle, const Function &change) {
  if (handle == nullptr) return Reported(NullArgument(caller));
  return CodeOf(mslite::Guard([&]() -> mindspore::Status {
    CModel *model = ToModel(handle);
    const mindspore::Status status = change(model);
    model->outputs.CommitPrepared();
    return status;
  }));
}

// Returns false if the array or one of its strings is null.
bool ReadNames(char **texts, size_t count, std::vector<std::string> *names) {
  if (count > mslite::kMaxItems || (texts == nullptr && count != 0)) return false;
  for (size_t i = 0; i < count; ++i) {
    if (texts[i] == nullptr) return false;
    names->emplace_back(texts[i]);
  }
  return true;
}

// ---- configuration ----

MSTrainCfgHandle TrainCfgCreate() {
  return mslite::CallOrDefault([] { return new mindspore::TrainCfg; });
}
void TrainCfgDestroy(MSTrainCfgHandle *train_cfg) {
  if (train_cfg == nullptr) return;
  delete ToConfig(*train_cfg);
  *train_cfg = nullptr;
}

char **TrainCfgGetLossName(MSTrainCfgHandle train_cfg, size_t *num) {
  if (num == nullptr) return nullptr;
  *num = 0;
  if (train_cfg == nullptr) return nullptr;
  char **names = nullptr;
  mslite::Logged(mslite::Guard([&]() -> mindspore::Status {
    const std::vector<std::string> texts = ToConfig(train_cfg)->GetLossName();
    names = static_cast<char **>(std::calloc(texts.size() + 1, sizeof(char *)));
    if (names == nullptr) return mslite::OutOfMemory();
    for (; *num < texts.size(); ++*num) {
      names[*num] = strdup(texts[*num].c_str());
      if (names[*num] != nullptr) continue;
      while (*num > 0) std::free(names[--*num]);
      std::free(names);
      names = nullptr;
      return mslite::OutOfMemory();
    }
    return mindspore::kSuccess;
  }));
  return names;
}
void TrainCfgSetLossName(MSTrainCfgHandle train_cfg, const char **loss_name, size_t num) {
  if (train_cfg == nullptr || (loss_name == nullptr && num != 0)) return;
  mslite::Logged(mslite::Guard([&]() -> mindspore::Status {
    if (num > mslite::kMaxItems) return NullArgument("MSTrainCfgSetLossName");
    std::vector<std::string> names;
    for (size_t i = 0; i < num; ++i) names.emplace_back(loss_name[i] == nullptr ? "" : loss_name[i]);
    ToConfig(train_cfg)->SetLossName(names);
    return mindspore::kSuccess;
  }));
}
MSOptimizationLevel TrainCfgGetOptimizationLevel(MSTrainCfgHandle train_cfg) {
  return train_cfg == nullptr ? kMSKO0 : static_cast<MSOptimizationLevel>(ToConfig(train_cfg)->optimization_level_);
}
void TrainCfgSetOptimizationLevel(MSTrainCfgHandle train_cfg, MSOptimizationLevel level) {
  if (train_cfg == nullptr) return;
  ToConfig(train_cfg)->optimization_level_ = static_cast<mindspore::OptimizationLevel>(level);
}
bool TrainCfgGetKeepGradients(MSTrainCfgHandle train_cfg) {
  return train_cfg == nullptr || ToConfig(train_cfg)->keep_gradients_;
}
void TrainCfgSetKeepGradients(MSTrainCfgHandle train_cfg, bool keep_gradients) {
  if (train_cfg != nullptr) ToConfig(train_cfg)->keep_gradients_ = keep_gradients;
}

// ---- steps ----

MSStatus TrainModelBuild(MSModelHandle model, const void *model_data, size_t data_size, MSModelType model_type,
                         const MSContextHandle model_context, const MSTrainCfgHandle train_cfg) {
  constexpr char kCaller[] = "MSTrainModelBuild";
  if (model_data == nullptr) return Reported(NullArgument(kCaller));
  return BuildFrom(kCaller, model, model_type, model_context, train_cfg, [&](mindspore::Graph *graph) {
    return mindspore::Serialization::Load(model_data, data_size, mindspore::kMindIR, graph);
  });
}
MSStatus TrainModelBuildFromFile(MSModelHandle model, const char *model_path, MSModelType model_type,
                                 const MSContextHandle model_context, const MSTrainCfgHandle train_cfg) {
  constexpr char kCaller[] = "MSTrainModelBuildFromFile";
  if (model_path == nullptr) return Reported(NullArgument(kCaller));
  return BuildFrom(kCaller, model, model_type, model_context, train_cfg, [&](mindspore::Graph *graph) {
    return mindspore::Serialization::Load(std::string(model_path), mindspore::kMindIR, graph);
  });
}

MSStatus ModelSetTrainMode(const MSModelHandle model, bool train) {
  return Change("MSModelSetTrainMode", model, [train](CModel *changed) { return changed->model.SetTrainMode(train); });
}
bool ModelGetTrainMode(MSModelHandle model) { return model != nullptr && ToModel(model)->model.GetTrainMode(); }

MSStatus ModelSetLearningRate(MSModelHandle model, float learning_rate) {
  if (model == nullptr) return Reported(NullArgument("MSModelSetLearningRate"));
  return CodeOf(ToModel(model)->model.SetLearningRate(learning_rate));
}
float ModelGetLearningRate(MSModelHandle model) {
  return model == nullptr ? 0.0f : ToModel(model)->model.GetLearningRate();
}

MSStatus ModelSetupVirtualBatch(MSModelHandle model, int virtual_batch_multiplier, float lr, float momentum) {
  return Change("MSModelSetupVirtualBatch", model, [=](CModel *changed) {
    return changed->model.SetupVirtualBatch(virtual_batch_multiplier, lr, momentum);
  });
}

// ---- weights ----

MSTensorHandleArray ModelGetWeights(MSModelHandle model) {
  if (model == nullptr) return {0, nullptr};
  return mslite::CallOrDefault([model]() -> MSTensorHandleArray {
    mslite::TensorHandles &weights = ToModel(model)->weights;
    weights.Show(ToModel(model)->model.GetFeatureMaps());
    return weights.array();
  });
}

MSStatus ModelUpdateWeights(MSModelHandle model, const MSTensorHandleArray new_weights) {
  constexpr char kCaller[] = "MSModelUpdateWeights";
  return Change(kCaller, model, [&](CModel *changed) -> mindspore::Status {
    std::vector<mindspore::MSTensor> weights;
    if (!Unwrap(new_weights, &weights)) return mslite::Logged(NullArgument(kCaller));
    return changed->model.UpdateFeatureMaps(weights);
  });
}

// ---- files ----

MSStatus ExportModel(MSModelHandle model, MSModelType model_type, const char *model_file,
                     MSQuantizationType quantization_type, bool export_inference_only, char **output_tensor_name,
                     size_t num) {
  constexpr char kCaller[] = "MSExportModel";
  if (model == nullptr || model_file == nullptr) return Reported(NullArgument(kCaller));
  return CodeOf(mslite::Guard([&]() -> mindspore::Status {
    std::vector<std::string> outputs;
    if (!ReadNames(output_tensor_name, num, &outputs)) return mslite::Logged(NullArgument(kCaller));
    return mindspore::Serialization::ExportModel(
        ToModel(model)->model, static_cast<mindspore::ModelType>(model_type), std::string(model_file),
        static_cast<mindspore::QuantizationType>(quantization_type), export_inference_only, outputs);
  }));
}

MSStatus ExportAdapter(MSModelHandle model, const char *adapter_file) {
  if (model == nullptr || adapter_file == nullptr) return Reported(NullArgument("MSExportAdapter"));
  return CodeOf(mslite::Guard([&]() -> mindspore::Status {
    return mindspore::Serialization::ExportAdapter(ToModel(model)->model, std::string(adapter_file));
  }));
}

MSStatus ExportModelBuffer(MSModelHandle model, MSModelType model_type, char **model_data, size_t *data_size,
                           MSQuantizationType quantization_type, bool export_inference_only, char **output_tensor_name,
                           size_t num) {
  constexpr char kCaller[] = "MSExportModelBuffer";
  if (model_data != nullptr) *model_data = nullptr;
  if (data_size != nullptr) *data_size = 0;
  if (model == nullptr || model_data == nullptr || data_size == nullptr) return Reported(NullArgument(kCaller));
  return CodeOf(mslite::Guard([&]() -> mindspore::Status {
    std::vector<std::string> outputs;
    if (!ReadNames(output_tensor_name, num, &outputs)) return mslite::Logged(NullArgument(kCaller));
    mindspore::Buffer bytes;
    const mindspore::Status status = mindspore::Serialization::ExportModel(
        ToModel(model)->model, static_cast<mindspore::ModelType>(model_type), &bytes,
        static_cast<mindspore::QuantizationType>(quantization_type), export_inference_only, outputs);
    if (status.IsError()) return status;
    *model_data = static_cast<char *>(std::malloc(bytes.DataSize()));
    if (*model_data == nullptr) return mslite::Logged(mslite::OutOfMemory());
    std::memcpy(*model_data, bytes.Data(), bytes.DataSize());
    *data_size = bytes.DataSize();
    return mindspore::kSuccess;
  }));
}

MSStatus ExportWeightsCollaborateWithMicro(MSModelHandle model, MSModelType model_type, const char *weight_file,
                                           bool is_inference, bool enable_fp16, char **changeable_weights_name,
                                           size_t num) {
  constexpr char kCaller[] = "MSExportWeightsCollaborateWithMicro";
  if (model == nullptr || weight_file == nullptr) return Reported(NullArgument(kCaller));
  return Reported(mslite::Guard([&]() -> mindspore::Status {
    std::vector<std::string> names;
    if (!ReadNames(changeable_weights_name, num, &names)) return NullArgument(kCaller);
    return mindspore::Serialization::ExportWeightsCollaborateWithMicro(
        ToModel(model)->model, static_cast<mindspore::ModelType>(model_type), std::string(weight_file), is_inference,
        enable_fp16, names);
  }));
}
}  // namespace

namespace mslite {
extern "C" const CTraining mslite_part_training[1] = {{
    TrainCfgCreate,
    TrainCfgDestroy,
    TrainCfgGetLossName,
    TrainCfgSetLossName,
    TrainCfgGetOptimizationLevel,
    TrainCfgSetOptimizationLevel,
    TrainCfgGetKeepGradients,
    TrainCfgSetKeepGradients,
    TrainModelBuild,
    TrainModelBuildFromFile,
    ModelSetTrainMode,
    ModelGetTrainMode,
    ModelSetLearningRate,
    ModelGetLearningRate,
    ModelSetupVirtualBatch,
    ModelGetWeights,
    ModelUpdateWeights,
    ExportModel,
    ExportAdapter,
    ExportModelBuffer,
    ExportWeightsCollaborateWithMicro,
}};
}  // namespace mslite
