// The functions of the C API for training, which call the table of c_training.h.
#include "api/c_handles.h"
#include "api/c_training.h"
#include "model/cropping.h"
#include "model/message.h"

namespace {
constexpr const mslite::CTraining &kTraining = mslite::mslite_part_training[0];

MSStatus Refuse(const char *caller) {
  return mslite::CatchToStatus([caller] {
    return mslite::Reported(
        mslite::Fail(mindspore::kLiteNotSupport,
                     std::string(caller) + ": " + mslite::CroppingText() + " without training; use the full runtime"));
  });
}

// Calls a function of the table. If training was cropped, returns an error or an empty result.
template <typename Result, typename... Parameters, typename... Arguments>
Result Call(const char *caller, Result (*function)(Parameters...), Arguments... arguments) {
  if (function != nullptr) return function(arguments...);
  const MSStatus refused = Refuse(caller);
  if constexpr (std::is_same_v<Result, MSStatus>) {
    return refused;
  } else {
    return Result();
  }
}
}  // namespace

MSTrainCfgHandle MSTrainCfgCreate() { return Call("MSTrainCfgCreate", kTraining.train_cfg_create); }
void MSTrainCfgDestroy(MSTrainCfgHandle *train_cfg) {
  return Call("MSTrainCfgDestroy", kTraining.train_cfg_destroy, train_cfg);
}
char **MSTrainCfgGetLossName(MSTrainCfgHandle train_cfg, size_t *num) {
  if (num != nullptr) *num = 0;
  return Call("MSTrainCfgGetLossName", kTraining.train_cfg_get_loss_name, train_cfg, num);
}
void MSTrainCfgSetLossName(MSTrainCfgHandle train_cfg, const char **loss_name, size_t num) {
  return Call("MSTrainCfgSetLossName", kTraining.train_cfg_set_loss_name, train_cfg, loss_name, num);
}
MSOptimizationLevel MSTrainCfgGetOptimizationLevel(MSTrainCfgHandle train_cfg) {
  return Call("MSTrainCfgGetOptimizationLevel", kTraining.train_cfg_get_optimization_level, train_cfg);
}
void MSTrainCfgSetOptimizationLevel(MSTrainCfgHandle train_cfg, MSOptimizationLevel level) {
  return Call("MSTrainCfgSetOptimizationLevel", kTraining.train_cfg_set_optimization_level, train_cfg, level);
}
bool MSTrainCfgGetKeepGradients(MSTrainCfgHandle train_cfg) {
  return Call("MSTrainCfgGetKeepGradients", kTraining.train_cfg_get_keep_gradients, train_cfg);
}
void MSTrainCfgSetKeepGradients(MSTrainCfgHandle train_cfg, bool keep_gradients) {
  return Call("MSTrainCfgSetKeepGradients", kTraining.train_cfg_set_keep_gradients, train_cfg, keep_gradients);
}
MSStatus MSTrainModelBuild(MSModelHandle model, const void *model_data, size_t data_size, MSModelType model_type,
                           const MSContextHandle model_context, const MSTrainCfgHandle train_cfg) {
  return Call("MSTrainModelBuild", kTraining.train_model_build, model, model_data, data_size, model_type, model_context,
              train_cfg);
}
MSStatus MSTrainModelBuildFromFile(MSModelHandle model, const char *model_path, MSModelType model_type,
                                   const MSContextHandle model_context, const MSTrainCfgHandle train_cfg) {
  return Call("MSTrainModelBuildFromFile", kTraining.train_model_build_from_file, model, model_path, model_type,
              model_context, train_cfg);
}
MSStatus MSModelSetTrainMode(const MSModelHandle model, bool train) {
  if (kTraining.model_set_train_mode == nullptr && model != nullptr && !train) return kMSStatusSuccess;  // no change
  return Call("MSModelSetTrainMode", kTraining.model_set_train_mode, model, train);
}
bool MSModelGetTrainMode(MSModelHandle model) {
  return Call("MSModelGetTrainMode", kTraining.model_get_train_mode, model);
}
MSStatus MSModelSetLearningRate(MSModelHandle model, float learning_rate) {
  return Call("MSModelSetLearningRate", kTraining.model_set_learning_rate, model, learning_rate);
}
float MSModelGetLearningRate(MSModelHandle model) {
  return Call("MSModelGetLearningRate", kTraining.model_get_learning_rate, model);
}
MSStatus MSModelSetupVirtualBatch(MSModelHandle model, int virtual_batch_multiplier, float lr, float momentum) {
  return Call("MSModelSetupVirtualBatch", kTraining.model_setup_virtual_batch, model, virtual_batch_multiplier, lr,
              momentum);
}
MSTensorHandleArray MSModelGetWeights(MSModelHandle model) {
  return Call("MSModelGetWeights", kTraining.model_get_weights, model);
}
MSStatus MSExportModel(MSModelHandle model, MSModelType model_type, const char *model_file,
                       MSQuantizationType quantization_type, bool export_inference_only, char **output_tensor_name,
                       size_t num) {
  return Call("MSExportModel", kTraining.export_model, model, model_type, model_file, quantization_type,
              export_inference_only, output_tensor_name, num);
}
MSStatus MSExportAdapter(MSModelHandle model, const char *adapter_file) {
  return Call("MSExportAdapter", kTraining.export_adapter, model, adapter_file);
}
MSStatus MSExportModelBuffer(MSModelHandle model, MSModelType model_type, char **model_data, size_t *data_size,
                             MSQuantizationType quantization_type, bool export_inference_only,
                             char **output_tensor_name, size_t num) {
  return Call("MSExportModelBuffer", kTraining.export_model_buffer, model, model_type, model_data, data_size,
              quantization_type, export_inference_only, output_tensor_name, num);
}
MSStatus MSExportWeightsCollaborateWithMicro(MSModelHandle model, MSModelType model_type, const char *weight_file,
                                             bool is_inference, bool enable_fp16, char **changeable_weights_name,
                                             size_t num) {
  return Call("MSExportWeightsCollaborateWithMicro", kTraining.export_weights_collaborate_with_micro, model, model_type,
              weight_file, is_inference, enable_fp16, changeable_weights_name, num);
}

// Only implemented in generated C.
MSStatus MSModelExportWeight(const MSModelHandle, const char *) { return kMSStatusLiteNotSupport; }
