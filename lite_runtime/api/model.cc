#include "include/api/model.h"

#include "api/graph_data.h"
#include "api/log.h"
#include "api/model_group_impl.h"
#include "api/model_impl.h"
#include "api/session_options.h"
#include "api/shared_models.h"

namespace mindspore {
namespace {
using mslite::CallOrDefault;
using mslite::Fail;
using mslite::Guard;
using mslite::Logged;

Status CheckType(ModelType type) {
  if (type == kMindIR || type == kMindIR_Lite) return kSuccess;
  return Fail(kLiteNotSupport, "only .ms models (kMindIR_Lite or kMindIR) are supported");
}

// Calls a function with Guard. Fails if memory was exhausted when the model was created.
template <typename Function>
Status With(const ModelImpl *impl, Function function) {
  return impl == nullptr ? mslite::OutOfMemory() : Guard(function);
}

// Returns the tensor with this name, or a null tensor.
MSTensor FindTensor(const std::vector<MSTensor> &tensors, const std::string &name) {
  for (const MSTensor &tensor : tensors) {
    if (tensor.impl()->name == name) return tensor;
  }
  return MSTensor(nullptr);
}

// Opens a model with `open` and builds it.
template <typename Open>
Status BuildWith(ModelImpl *impl, ModelType type, const std::shared_ptr<Context> &context,
                 const mslite::Decryption *decryption, Open open) {
  return Logged(With(impl, [&]() -> Status {
    if (context == nullptr) return Fail(kLiteNullptr, "the context is null");
    if (impl->is_built()) return Fail(kLiteModelRebuild, "the model is already built");
    MSLITE_TRY(CheckType(type));
    MSLITE_TRY(mslite::CheckDevices(context.get()));
    mslite::OpenSettings settings;
    settings.decryption = decryption == nullptr || decryption->key.len == 0 ? nullptr : decryption;
    MSLITE_TRY(mslite::ObfuscationRatio(impl->config, &settings.obfuscation_ratio));
    impl->obfuscation_ratio = settings.obfuscation_ratio;
    std::shared_ptr<mslite::Delegation> delegation;
    if (mslite::HasDelegates(context.get())) {
      settings.delegating = context;  // this also reports missing backends
    } else {
      MSLITE_TRY(mslite::ReportMissingBackends(context.get()));
    }
    settings.delegation = &delegation;
    std::shared_ptr<mslite::SharedModel> model;
    MSLITE_TRY(open(settings, &model));
    return impl->Build(std::move(model), context, std::move(delegation));
  }));
}

Status BuildFrom(ModelImpl *impl, const void *data, size_t size, ModelType type,
                 const std::shared_ptr<Context> &context, const mslite::Decryption *decryption) {
  return BuildWith(impl, type, context, decryption,
                   [&](const mslite::OpenSettings &settings, std::shared_ptr<mslite::SharedModel> *model) {
                     return mslite::OpenModel(data, size, settings, model);
                   });
}

Status BuildFrom(ModelImpl *impl, const std::string &path, ModelType type, const std::shared_ptr<Context> &context,
                 const mslite::Decryption *decryption) {
  return BuildWith(impl, type, context, decryption,
                   [&](const mslite::OpenSettings &settings, std::shared_ptr<mslite::SharedModel> *model) {
                     if (impl->workspace == nullptr) impl->workspace = mslite::GroupWorkspace(path);
                     return mslite::OpenModel(path, settings, model);
                   });
}
}  // namespace

Model::Model() : impl_(CallOrDefault([] { return std::make_shared<ModelImpl>(); })) {}
Model::~Model() = default;

Status Model::Build(const void *model_data, size_t data_size, ModelType model_type,
                    const std::shared_ptr<Context> &model_context) {
  return BuildFrom(impl_.get(), model_data, data_size, model_type, model_context, nullptr);
}

Status Model::Build(const std::string &model_path, ModelType model_type,
                    const std::shared_ptr<Context> &model_context) {
  return BuildFrom(impl_.get(), model_path, model_type, model_context, nullptr);
}

Status Model::Build(const void *model_data, size_t data_size, ModelType model_type,
                    const std::shared_ptr<Context> &model_context, const Key &dec_key, const std::string &dec_mode,
                    const std::string &cropto_lib_path) {
  const mslite::Decryption decryption{dec_key, dec_mode, cropto_lib_path};
  return BuildFrom(impl_.get(), model_data, data_size, model_type, model_context, &decryption);
}

Status Model::Build(const std::string &model_path, ModelType model_type, const std::shared_ptr<Context> &model_context,
                    const Key &dec_key, const std::string &dec_mode, const std::string &cropto_lib_path) {
  const mslite::Decryption decryption{dec_key, dec_mode, cropto_lib_path};
  return BuildFrom(impl_.get(), model_path, model_type, model_context, &decryption);
}

namespace {
const mslite::SharedModel *LoadedModel(GraphCell *cell) {
  return cell->GetGraph() == nullptr || *cell->GetGraph() == nullptr ? nullptr : cell->GetGraph()->data()->model.get();
}

// Builds a model for training, with an optional backbone. If `config` is null, the default configuration is used.
Status BuildToTrain(ModelImpl *impl, const std::shared_ptr<Context> &context, GraphCell *backbone, GraphCell *head,
                    const TrainCfg *config) {
  return Logged(With(impl, [&]() -> Status {
    if (context == nullptr) return Fail(kLiteNullptr, "the context is null");
    if (impl->is_built()) return Fail(kLiteModelRebuild, "the model is already built");
    const mslite::SharedModel *model = LoadedModel(head);
    const mslite::SharedModel *before = backbone == nullptr ? nullptr : LoadedModel(backbone);
    if (model == nullptr || (backbone != nullptr && before == nullptr)) {
      return Fail(kLiteNullptr, "the graph is not loaded");
    }
    MSLITE_TRY(mslite::CheckDevices(context.get()));
    return impl->BuildTraining(*model, before, context, config == nullptr ? TrainCfg() : *config);
  }));
}
}  // namespace

Status Model::Build(GraphCell graph, const std::shared_ptr<Context> &model_context,
                    const std::shared_ptr<TrainCfg> &cfg) {
  if (cfg != nullptr) return BuildToTrain(impl_.get(), model_context, nullptr, &graph, cfg.get());
  return BuildWith(impl_.get(), kMindIR, model_context, nullptr,
                   [&](const mslite::OpenSettings &settings, std::shared_ptr<mslite::SharedModel> *model) -> Status {
                     if (LoadedModel(&graph) == nullptr) return Fail(kLiteNullptr, "the graph is not loaded");
                     return mslite::OpenModel(graph.GetGraph()->data()->model, settings, model);
                   });
}

Status Model::BuildTransferLearning(GraphCell backbone, GraphCell head, const std::shared_ptr<Context> &context,
                                    const std::shared_ptr<TrainCfg> &train_cfg) {
  return BuildToTrain(impl_.get(), context, &backbone, &head, train_cfg.get());
}

Status Model::LoadAdapter(const std::string &adapter_path) {
  return Logged(With(impl_.get(), [&] { return impl_->LoadAdapter(adapter_path); }));
}

Status Model::UnloadAdapter() {
  return Logged(With(impl_.get(), [&] { return impl_->UnloadAdapter(); }));
}

Status Model::UpdateWeights(const std::vector<MSTensor> &new_weights) {
  return Logged(With(impl_.get(), [&] { return impl_->UpdateWeights(new_weights); }));
}

Status Model::Resize(const std::vector<MSTensor> &inputs, const std::vector<std::vector<int64_t>> &dims) {
  return With(impl_.get(), [&] { return impl_->Resize(inputs, dims); });
}

Status Model::Predict(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs,
                      const MSKernelCallBack &before, const MSKernelCallBack &after) {
  return With(impl_.get(), [&]() -> Status {
    if (outputs == nullptr) return Fail(kLiteNullptr, "outputs is null");
    return impl_->Predict(inputs, outputs, before, after);
  });
}

Status Model::Predict(const MSKernelCallBack &before, const MSKernelCallBack &after) {
  return With(impl_.get(), [&] { return impl_->Predict(before, after); });
}

Status Model::RunStep(const MSKernelCallBack &before, const MSKernelCallBack &after) { return Predict(before, after); }

std::future<Status> Model::PredictAsync(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs) {
  return mslite::SubmitForFuture(impl_ == nullptr ? nullptr : &impl_->requests(), mslite::OutOfMemory(), inputs,
                                 outputs);
}

void Model::PredictAsync(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs,
                         const std::function<void(const Status &)> &done) {
  mslite::Submit(impl_ == nullptr ? nullptr : &impl_->requests(), mslite::OutOfMemory(), inputs, outputs, done, 0);
}

Status Model::LoadConfig(const std::string &config_path) {
  return Logged(With(impl_.get(), [&]() -> Status {
    if (impl_->is_built()) return Fail(kLiteError, "LoadConfig must be called before Build");
    return mslite::ReadConfig(config_path, &impl_->config);
  }));
}

Status Model::UpdateConfig(const std::string &section, const std::pair<std::string, std::string> &config) {
  return Logged(With(impl_.get(), [&]() -> Status {
    if (impl_->is_built()) return Fail(kLiteError, "UpdateConfig must be called before Build");
    return mslite::AddSetting(section, config, &impl_->config);
  }));
}

std::vector<MSTensor> Model::GetInputs() {
  return CallOrDefault([&] { return impl_ == nullptr ? std::vector<MSTensor>() : impl_->inputs(); });
}

std::vector<MSTensor> Model::GetOutputs() {
  return CallOrDefault([&] { return impl_ == nullptr ? std::vector<MSTensor>() : impl_->outputs(); });
}

MSTensor Model::GetInputByTensorName(const std::string &name) { return FindTensor(GetInputs(), name); }
MSTensor Model::GetOutputByTensorName(const std::string &name) { return FindTensor(GetOutputs(), name); }

std::vector<std::string> Model::GetOutputTensorNames() {
  return CallOrDefault([&] {
    std::vector<std::string> names;
    for (const MSTensor &tensor : GetOutputs()) names.push_back(tensor.Name());
    return names;
  });
}

std::vector<MSTensor> Model::GetOutputsByNodeName(const std::string &node_name) {
  return CallOrDefault([&] { return impl_ == nullptr ? std::vector<MSTensor>() : impl_->OutputsOfNode(node_name); });
}

bool Model::CheckModelSupport(enum DeviceType device_type, ModelType model_type) {
  return device_type == kCPU && (model_type == kMindIR || model_type == kMindIR_Lite);
}

std::string Model::GetModelInfo(const std::string &) { return ""; }
Status Model::Finalize() { return kSuccess; }
}  // namespace mindspore
