// The functions of Model for training, which call libmindspore-lite-train.
#include <algorithm>

#include "api/log.h"
#include "api/model_impl.h"
#include "include/api/model.h"
#include "include/api/serialization.h"

namespace mindspore {
namespace {
using Tensors = std::vector<MSTensor>;

// Calls a function of the trainer. Everything that allocates is inside Guard, including the std::function.
template <typename Function>
Status Call(ModelImpl *impl, const char *what, const Function &call) {
  if (impl == nullptr) return mslite::OutOfMemory();
  return mslite::Logged(mslite::Guard([&] { return impl->WithTrainer(what, call); }));
}

// The same for const functions of the trainer.
template <typename Function>
Status Question(ModelImpl *impl, const char *what, const Function &question) {
  if (impl == nullptr) return mslite::OutOfMemory();
  return mslite::Logged(mslite::Guard([&] { return impl->QueryTrainer(what, question); }));
}

// Returns tensors of the trainer, or an empty list on failure.
Tensors Ask(ModelImpl *impl, const char *what, Tensors (mslite::Trainer::*question)() const) {
  Tensors tensors;
  const Status status = Question(impl, what, [&](const mslite::Trainer &trainer) -> Status {
    tensors = (trainer.*question)();
    return kSuccess;
  });
  if (status.IsError()) tensors.clear();
  return tensors;
}
}  // namespace

Status Model::SetTrainMode(bool train) {
  if (!train && impl_ != nullptr && impl_->is_built() && impl_->trainer() == nullptr) return kSuccess;
  return Call(impl_.get(), "SetTrainMode", [train](mslite::Trainer *trainer) { return trainer->SetTrainMode(train); });
}

bool Model::GetTrainMode() const {
  return impl_ != nullptr && impl_->trainer() != nullptr && impl_->trainer()->is_training();
}

Tensors Model::GetGradients() const {
  Tensors gradients;
  const Status status = Question(impl_.get(), "GetGradients",
                                 [&](const mslite::Trainer &trainer) { return trainer.Gradients(&gradients); });
  if (status.IsError()) gradients.clear();
  return gradients;
}

Status Model::ApplyGradients(const Tensors &gradients) {
  return Call(impl_.get(), "ApplyGradients",
              [&](mslite::Trainer *trainer) { return trainer->ApplyGradients(gradients); });
}

Tensors Model::GetFeatureMaps() const { return Ask(impl_.get(), "GetFeatureMaps", &mslite::Trainer::FeatureMaps); }

Tensors Model::GetTrainableParams() const {
  return Ask(impl_.get(), "GetTrainableParams", &mslite::Trainer::TrainableParams);
}

Status Model::UpdateFeatureMaps(const Tensors &new_weights) {
  return Call(impl_.get(), "UpdateFeatureMaps",
              [&](mslite::Trainer *trainer) { return trainer->UpdateFeatureMaps(new_weights); });
}

Tensors Model::GetOptimizerParams() const {
  return Ask(impl_.get(), "GetOptimizerParams", &mslite::Trainer::OptimizerParams);
}

Status Model::SetOptimizerParams(const Tensors &params) {
  return Call(impl_.get(), "SetOptimizerParams",
              [&](mslite::Trainer *trainer) { return trainer->SetOptimizerParams(params); });
}

Status Model::SetLearningRate(float learning_rate) {
  return Call(impl_.get(), "SetLearningRate",
              [=](mslite::Trainer *trainer) { return trainer->SetLearningRate(learning_rate); });
}

float Model::GetLearningRate() {
  float rate = 0.0f;
  const Status status = Question(impl_.get(), "GetLearningRate", [&rate](const mslite::Trainer &trainer) -> Status {
    rate = trainer.learning_rate();
    return kSuccess;
  });
  return status.IsOk() ? rate : 0.0f;
}

Status Model::InitMetrics(std::vector<Metrics *> metrics) {
  return Call(impl_.get(), "InitMetrics", [&](mslite::Trainer *trainer) -> Status {
    if (std::find(metrics.begin(), metrics.end(), nullptr) != metrics.end()) {
      return mslite::Fail(kLiteNullptr, "InitMetrics: one of the metrics is null");
    }
    trainer->metrics = std::move(metrics);
    return kSuccess;
  });
}

std::vector<Metrics *> Model::GetMetrics() {
  std::vector<Metrics *> metrics;
  const Status status = Call(impl_.get(), "GetMetrics", [&](mslite::Trainer *trainer) -> Status {
    metrics = trainer->metrics;
    return kSuccess;
  });
  if (status.IsError()) metrics.clear();
  return metrics;
}

namespace {
// Calls `loop` with the trainer, without the lock of the model: the loop calls the model itself.
template <typename Function>
Status RunLoop(ModelImpl *impl, const char *what, const Function &loop) {
  mslite::Trainer *found = nullptr;
  MSLITE_TRY(Call(impl, what, [&found](mslite::Trainer *trainer) -> Status {
    found = trainer;
    return kSuccess;
  }));
  return mslite::Logged(mslite::Guard([&] { return loop(found); }));
}
}  // namespace

Status Model::Train(int epochs, std::shared_ptr<dataset::Dataset> data, std::vector<TrainCallBack *> callbacks) {
  return RunLoop(impl_.get(), "Train",
                 [&](mslite::Trainer *trainer) { return trainer->Train(this, epochs, data, callbacks); });
}

Status Model::Evaluate(std::shared_ptr<dataset::Dataset> data, std::vector<TrainCallBack *> callbacks) {
  return RunLoop(impl_.get(), "Evaluate",
                 [&](mslite::Trainer *trainer) { return trainer->Evaluate(this, data, callbacks); });
}

Status Model::SetupVirtualBatch(int virtual_batch_multiplier, float lr, float momentum) {
  return Call(impl_.get(), "SetupVirtualBatch", [=](mslite::Trainer *trainer) {
    return trainer->SetupVirtualBatch(virtual_batch_multiplier, lr, momentum);
  });
}

namespace {
// Calls `save`, Status(const mslite::Trainer &, const mslite::ExportSettings &), with settings from the arguments.
template <typename Function>
Status Export(ModelImpl *impl, ModelType type, QuantizationType quantization, bool inference_only,
              std::vector<std::string> *outputs, const Function &save) {
  return Call(impl, "ExportModel", [&](mslite::Trainer *trainer) -> Status {
    if (type != kMindIR && type != kMindIR_Lite) {
      return mslite::Fail(kLiteNotSupport, "ExportModel writes .ms files only (kMindIR_Lite or kMindIR)");
    }
    if (quantization != kNoQuant && quantization != kWeightQuant) {
      return mslite::Fail(kLiteNotSupport, "ExportModel quantizes weights only (kWeightQuant)");
    }
    mslite::ExportSettings settings;
    settings.inference_only = inference_only;
    settings.quantized_weights = quantization == kWeightQuant;
    settings.outputs = std::move(*outputs);
    return save(*trainer, settings);
  });
}
}  // namespace

Status Serialization::ExportModel(const Model &model, ModelType model_type, Buffer *model_data,
                                  QuantizationType quantization_type, bool export_inference_only,
                                  std::vector<std::string> output_tensor_name) {
  return Export(model.impl_.get(), model_type, quantization_type, export_inference_only, &output_tensor_name,
                [&](const mslite::Trainer &trainer, const mslite::ExportSettings &settings) -> Status {
                  if (model_data == nullptr) return mslite::Fail(kLiteNullptr, "ExportModel: the buffer is null");
                  std::vector<uint8_t> bytes;
                  MSLITE_TRY(trainer.Export(settings, &bytes));
                  return model_data->SetData(bytes.data(), bytes.size()) ? Status(kSuccess) : mslite::OutOfMemory();
                });
}

namespace {
// Adds the suffix ".ms" if it is missing. Errors: kLiteParamInvalid for an empty name.
Status AddSuffix(const char *what, const std::string &file, std::string *path) {
  if (file.empty()) return mslite::Fail(kLiteParamInvalid, std::string(what) + ": the file name is empty");
  const bool has_suffix = file.size() >= 3 && file.compare(file.size() - 3, 3, ".ms") == 0;
  *path = has_suffix ? file : file + ".ms";
  return kSuccess;
}
}  // namespace

Status Serialization::ExportAdapter(const Model &model, const std::string &adapter_file) {
  return Call(model.impl_.get(), "ExportAdapter", [&](mslite::Trainer *trainer) -> Status {
    std::string path;
    MSLITE_TRY(AddSuffix("ExportAdapter", adapter_file, &path));
    return trainer->ExportAdapter(path);
  });
}

Status Serialization::ExportModel(const Model &model, ModelType model_type, const std::string &model_file,
                                  QuantizationType quantization_type, bool export_inference_only,
                                  std::vector<std::string> output_tensor_name) {
  return Export(model.impl_.get(), model_type, quantization_type, export_inference_only, &output_tensor_name,
                [&](const mslite::Trainer &trainer, const mslite::ExportSettings &settings) -> Status {
                  std::string path;
                  MSLITE_TRY(AddSuffix("ExportModel", model_file, &path));
                  return trainer.Export(settings, path);
                });
}

Status Serialization::ExportWeightsCollaborateWithMicro(const Model &model, ModelType model_type,
                                                        const std::string &weight_file, bool is_inference,
                                                        bool enable_fp16,
                                                        const std::vector<std::string> &changeable_weights_name) {
  constexpr char kCaller[] = "ExportWeightsCollaborateWithMicro";
  return Call(model.impl_.get(), kCaller, [&](mslite::Trainer *trainer) -> Status {
    const std::string caller = kCaller;
    if (weight_file.empty()) return mslite::Fail(kLiteParamInvalid, caller + ": the file name is empty");
    if (model_type != kMindIR && model_type != kMindIR_Lite) {
      return mslite::Fail(kLiteNotSupport, caller + " writes weights of .ms models only (kMindIR_Lite or kMindIR)");
    }
    if (!is_inference) {
      return mslite::Fail(kLiteNotSupport, caller +
                                               " writes weights for inference only (is_inference); generated C for "
                                               "training writes its weights with MSModelExportWeight");
    }
    return trainer->ExportMicroWeights({enable_fp16, changeable_weights_name}, weight_file);
  });
}
}  // namespace mindspore
