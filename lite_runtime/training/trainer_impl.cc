#include "training/trainer_impl.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "api/log.h"
#include "api/tensor.h"
#include "model/load.h"
#include "plan/rewrite/new_weights.h"
#include "plan/rewrite/rewrite.h"
#include "schema/ops_generated.h"
#include "training/adapters.h"
#include "training/constants.h"
#include "training/export.h"
#include "training/micro_weights.h"
#include "training/sparse_descent.h"
#include "training/transfer.h"

namespace mslite {
namespace {
using mindspore::MSTensor;

constexpr const char *kLossScale = "/loss_scale";  // a variable; no name of a file's tensor begins so

// A tensor that shows memory.
MSTensor ShownTensor(const std::string &name, const TensorShape &shape, const void *data) {
  const std::vector<int64_t> dims(shape.dims, shape.dims + std::max(shape.rank, int32_t{0}));
  MSTensor tensor(std::make_shared<MSTensor::Impl>(name, static_cast<enum mindspore::DataType>(shape.type), dims));
  tensor.impl()->Show(data, static_cast<size_t>(std::max<int64_t>(ByteSize(shape), 0)));
  return tensor;
}

// What has been freed in many pieces goes back to the system: steps want one large piece.
void ReturnFreeMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

// What the nodes that are left read of the constants.
std::set<int32_t> UsedTensors(const Graph &graph) {
  std::set<int32_t> used;
  for (const int32_t index : graph.subgraphs[0].nodes) {
    const Node &node = graph.nodes[static_cast<size_t>(index)];
    used.insert(node.inputs.begin(), node.inputs.end());
  }
  return used;
}
}  // namespace

TrainerImpl::TrainerImpl(const TrainerSettings &settings)
    : file_(settings.file),
      evaluates_in_half_(settings.options.half),
      config_(settings.config),
      is_mixed_(IsMixed(config_, settings.options.half && settings.options.isas.Has(MSLITE_ISA_NEON_FP16))),
      loss_scale_(config_.mix_precision_cfg_),
      loss_names_(config_.GetLossName()),
      inference_kernels_(settings.options.more_kernels),
      options_(settings.options) {
  if (loss_names_.empty()) loss_names_ = DefaultLossNames();
  options_.inter_op = 1;  // updates in place rely on the order of the nodes
  if (options_.workspace == nullptr) options_.workspace = std::make_shared<Workspace>();
  options_.variables = std::make_shared<VariableStore>();
  options_.half = false;  // small gradients would be lost
  options_.more_kernels.push_back(mslite_training_kernels);
}

Status TrainerImpl::Create(const TrainerSettings &settings, std::unique_ptr<Trainer> *trainer) {
  MSLITE_TRY(CheckMixedPrecision(settings.config));
  const std::vector<std::string> names = settings.config.GetLossName();
  if (std::find(names.begin(), names.end(), "") != names.end()) {
    return Fail(mindspore::kLiteParamInvalid,
                "TrainCfg::SetLossName: an empty name is part of every node's name; give a part of the loss's");
  }
  std::unique_ptr<TrainerImpl> made(new TrainerImpl(settings));
  if (settings.backbone != nullptr) MSLITE_TRY(JoinModels(settings.backbone, settings.file, &made->file_));
  MSLITE_TRY(made->MakeStep());
  MSLITE_TRY(made->MakeEvaluation(true));
  *trainer = std::move(made);
  return mindspore::kSuccess;
}

// ---- sessions ----

Status TrainerImpl::MakeSession(std::shared_ptr<Graph> graph, const SessionOptions &options,
                                std::shared_ptr<Session> *session) const {
  MSLITE_TRY(RewriteGraph(graph.get(), [](const Node &) { return false; }));
  std::shared_ptr<SharedModel> model;
  MSLITE_TRY(SharedModel::Create(std::move(graph), &model));
  std::unique_ptr<Session> made;
  MSLITE_TRY(Session::Create(std::move(model), options, &made));
  *session = std::move(made);
  return mindspore::kSuccess;
}

Status TrainerImpl::MakeStep() {
  TrainingGraph training;
  MSLITE_TRY(ReadTrainingGraph(file_, loss_names_, keeps_predictions_, &training));
  gradient_names_.clear();
  for (const TrainedWeight &weight : training.weights) {
    gradient_names_.push_back(training.graph->tensors[static_cast<size_t>(weight.gradient)].name);
  }
  file_keeps_gradients_ = schema::GetMetaGraph(file_->data())->mempoolSize() == 0 && !AsksForSparseDescent(training);
  if (!keeps_gradients()) GiveUpGradients(&training);
  if (!file_keeps_gradients_) zero_momenta_ = DescendSparsely(&training);
  if (!is_mixed_) {
    MSLITE_TRY(MakeSession(training.graph, options_, &step_));
    if (!shapes_.empty()) MSLITE_TRY(step_->Resize(shapes_));
  }
  loss_count_ = training.loss_count;
  prediction_names_ = std::move(training.predictions);
  weights_ = std::move(training.weights);
  if (!is_mixed_) return mindspore::kSuccess;
  MSLITE_TRY(MakeAccumulation());
  return MakeUpdates();
}

Status TrainerImpl::MakeAccumulation() {
  if (accumulation_ != nullptr) return mindspore::kSuccess;
  TrainingGraph training;
  MSLITE_TRY(ReadTrainingGraph(file_, loss_names_, keeps_predictions_, &training));
  KeepGradients(&training);
  for (Node &node : training.graph->nodes) {
    if (node.op != MSLITE_OP_BatchNormTraining) continue;
    auto *params = training.graph->arena.Make<mslite_BatchNormTraining>();
    *params = *static_cast<const mslite_BatchNormTraining *>(node.params);
    const float part = params->momentum / static_cast<float>(multiplier_);
    params->momentum = batch_norm_momentum_ < 0.0f ? part : batch_norm_momentum_;
    node.params = params;
  }
  SessionOptions options = options_;
  if (is_mixed_) {
    MSLITE_TRY(ScaleLoss(loss_names_, kLossScale, &training));
    options.mixed = true;
    options.node_types = FloatNodes(*training.graph, loss_names_, config_.optimization_level_);
  }
  std::shared_ptr<Session> made;
  MSLITE_TRY(MakeSession(training.graph, options, &made));
  if (!shapes_.empty()) MSLITE_TRY(made->Resize(shapes_));
  accumulation_ = std::move(made);
  if (is_mixed_) SetLossScale();
  return mindspore::kSuccess;
}

Status TrainerImpl::MakeUpdates() {
  if (updates_ != nullptr) return mindspore::kSuccess;
  TrainingGraph training;
  MSLITE_TRY(ReadTrainingGraph(file_, loss_names_, false, &training));
  KeepUpdates(&training);
  return MakeSession(training.graph, options_, &updates_);
}

// Inference with the weights as they are, as constants: packed and fused as in any model.
Status TrainerImpl::MakeEvaluation(bool only_plans) {
  std::shared_ptr<Graph> graph;
  MSLITE_TRY(LoadSettled(file_, &graph));
  const std::vector<int32_t> inputs = graph->inputs;
  KeepInference(loss_names_, graph.get());
  graph->inputs = graph->subgraphs[0].inputs = inputs;  // labels, too: the inputs of the model stay the same
  NewWeights weights;
  inference_names_.clear();
  for (const int32_t index : UsedTensors(*graph)) {
    const Tensor &tensor = graph->tensors[static_cast<size_t>(index)];
    const auto state = options_.variables->states.find(tensor.name);
    if (!tensor.is_constant || state == options_.variables->states.end()) continue;
    const TensorShape &shape = state->second.shape;
    weights[tensor.name] = {state->second.current.own.get(), static_cast<size_t>(ByteSize(shape)), shape.type};
    inference_names_.push_back(tensor.name);
  }
  // Plans do not look at what weights are: those of the file will do, which are there without a copy.
  if (!only_plans) MSLITE_TRY(SetNewWeights(weights, graph.get()));
  SessionOptions options = options_;
  options.variables = nullptr;
  options.more_kernels = inference_kernels_;
  options.half = evaluates_in_half_;
  options.only_plans = only_plans;
  std::shared_ptr<Session> made;
  MSLITE_TRY(MakeSession(graph, options, &made));
  if (!shapes_.empty()) MSLITE_TRY(made->Resize(shapes_));
  evaluation_ = std::move(made);
  may_evaluate_ = !only_plans;
  return mindspore::kSuccess;
}

Status TrainerImpl::PrepareRun() {
  if (!is_training_) return may_evaluate_ ? Status(mindspore::kSuccess) : MakeEvaluation(false);
  if (is_fresh_) ReturnFreeMemory();  // now nobody holds the session of evaluation any more
  is_fresh_ = false;
  return mindspore::kSuccess;
}

// The session for the mode of now.
Status TrainerImpl::Choose() {
  if (!is_training_) {
    MSLITE_TRY(MakeEvaluation(true));
    running_ = &evaluation_;
    return mindspore::kSuccess;
  }
  if (holds_gradients()) MSLITE_TRY(MakeAccumulation());
  running_ = holds_gradients() ? &accumulation_ : &step_;
  evaluation_.reset();
  is_fresh_ = true;
  return mindspore::kSuccess;
}

size_t TrainerImpl::output_count() const { return is_training_ ? loss_count_ : session()->outputs().size(); }

Status TrainerImpl::SetTrainMode(bool train) {
  if (train == is_training_) return mindspore::kSuccess;
  is_training_ = train;
  const Status status = Choose();
  if (status.IsError()) is_training_ = !train;
  return status;
}

Status TrainerImpl::Resize(const std::vector<TensorShape> &inputs) {
  for (const std::shared_ptr<Session> &session : {step_, accumulation_, evaluation_}) {
    if (session != nullptr) MSLITE_TRY(session->Resize(inputs));
  }
  shapes_ = inputs;
  ClearSums();
  return mindspore::kSuccess;
}

// ---- predictions ----

Status TrainerImpl::KeepPredictions() {
  if (keeps_predictions_) return mindspore::kSuccess;
  keeps_predictions_ = true;
  const std::shared_ptr<Session> step_before = step_;
  const std::shared_ptr<Session> accumulation_before = std::exchange(accumulation_, nullptr);
  Status status = MakeStep();
  if (status.IsOk() && is_training_) status = Choose();
  if (status.IsOk()) return status;
  keeps_predictions_ = false;
  prediction_names_.clear();
  step_ = step_before;
  accumulation_ = accumulation_before;
  return status;
}

std::vector<MSTensor> TrainerImpl::Predictions() const {
  const Session &session = holds_gradients() ? *accumulation_ : *step_;
  std::vector<MSTensor> predictions;
  for (size_t i = 0; i < prediction_names_.size(); ++i) {
    const OutputSlot &slot = session.outputs()[loss_count_ + i];
    if (slot.data == nullptr) return {};
    predictions.push_back(ShownTensor(prediction_names_[i], slot.shape, slot.data));
  }
  return predictions;
}

// ---- gradients ----

const TensorShape &TrainerImpl::GradientShape(size_t index) const {
  return GradientSlot(accumulation_ != nullptr ? *accumulation_ : *step_, index).shape;
}

void TrainerImpl::ClearSums() {
  accumulated_ = 0;
  sums_.clear();
}

void TrainerImpl::SetLossScale() {
  const float scale = loss_scale_.value();
  std::memcpy(options_.variables->states[kLossScale].current.own.get(), &scale, sizeof scale);
}

// Adds those of the step, without the scale of the loss, to the sums; false where one is no finite number.
bool TrainerImpl::AddGradients() {
  const float factor = is_mixed_ ? 1.0f / loss_scale_.value() : 1.0f;
  const bool is_first = accumulated_ == 0;
  bool are_finite = true;
  sums_.resize(weights_.size());
  for (size_t i = 0; i < weights_.size(); ++i) {
    const OutputSlot &gradient = GradientSlot(*accumulation_, i);
    const auto *values = reinterpret_cast<const float *>(gradient.data);
    const auto elements = static_cast<size_t>(ByteSize(gradient.shape)) / sizeof(float);
    if (is_first) sums_[i].assign(elements, 0.0f);
    for (size_t k = 0; k < elements; ++k) {
      are_finite = are_finite && std::isfinite(values[k]);
      sums_[i][k] += factor * values[k];
    }
  }
  ++accumulated_;
  return are_finite;
}

// Says so when a loss stops to be a number; the program sees the loss itself, and decides.
void TrainerImpl::LookAtLosses() {
  bool are_finite = true;
  const std::vector<OutputSlot> &outputs = session()->outputs();
  for (size_t i = 0; i < loss_count_; ++i) {
    const OutputSlot &loss = outputs[i];
    if (loss.shape.type != MSLITE_FLOAT32 || loss.data == nullptr) continue;
    const auto *values = reinterpret_cast<const float *>(loss.data);
    const auto elements = static_cast<size_t>(ByteSize(loss.shape)) / sizeof(float);
    are_finite = are_finite && std::all_of(values, values + elements, [](float value) { return std::isfinite(value); });
  }
  if (!are_finite && losses_are_finite_) {
    Log(LogLevel::kWarning,
        "file '" + file_->name() +
            "': the loss of this step is no finite number, and the weights may be none now. Look at the "
            "inputs and at the learning rate, and go back to a checkpoint");
  }
  losses_are_finite_ = are_finite;
}

Status TrainerImpl::FinishRun() {
  if (is_training_) LookAtLosses();
  if (!is_training_ || !holds_gradients()) return mindspore::kSuccess;
  const bool are_finite = AddGradients();
  if (is_mixed_) {
    const float scale = loss_scale_.value();
    loss_scale_.Follow(are_finite);
    SetLossScale();
    if (!are_finite) {
      Log(LogLevel::kInfo,
          Format("a gradient is beyond float16 with the loss scaled by %g: the weights stay as they are",
                 static_cast<double>(scale)));
      accumulated_ = 0;
      return mindspore::kSuccess;
    }
  }
  if (config_.accumulate_gradients_ || accumulated_ < multiplier_) return mindspore::kSuccess;
  std::vector<const void *> gradients;
  for (const std::vector<float> &sum : sums_) gradients.push_back(sum.data());
  MSLITE_TRY(Update(gradients));
  if (accumulates()) {
    ClearSums();
  } else {
    accumulated_ = 0;  // GetGradients shows those of the step
  }
  return mindspore::kSuccess;
}

// Runs the optimisers with one gradient per weight.
Status TrainerImpl::Update(const std::vector<const void *> &gradients) {
  MSLITE_TRY(MakeUpdates());
  std::vector<InputView> views;
  const Graph &graph = updates_->graph();
  for (const int32_t input : graph.inputs) {
    const std::string &name = graph.tensors[static_cast<size_t>(input)].name;
    const auto place = std::find(gradient_names_.begin(), gradient_names_.end(), name);
    const auto index = static_cast<size_t>(place - gradient_names_.begin());
    views.push_back({GradientShape(index), gradients[index]});
  }
  return updates_->Run(views.data(), nullptr);
}

Status TrainerImpl::Gradients(std::vector<MSTensor> *gradients) const {
  if (!holds_gradients() && !keeps_gradients()) {
    const char *reason = file_keeps_gradients_ ? "' is trained with TrainCfg::keep_gradients_ = false"
                                               : "' was made with --trainMemory or sparse_embeddings";
    const char *remedy = file_keeps_gradients_ ? "leave keep_gradients_ true"
                                               : "convert the model without --trainMemory and sparse_embeddings";
    return Fail(mindspore::kLiteNotSupport, "file '" + file_->name() + reason +
                                                ": each gradient gives up its memory when its weight is updated. Set "
                                                "TrainCfg::accumulate_gradients_ to read gradients, or " +
                                                remedy);
  }
  for (size_t i = 0; i < weights_.size(); ++i) {
    const TensorShape &shape = GradientShape(i);
    const void *data = nullptr;
    if (holds_gradients()) {
      data = sums_.empty() ? nullptr : sums_[i].data();
    } else {
      data = GradientSlot(*step_, i).data;
    }
    if (data != nullptr) gradients->push_back(ShownTensor(gradient_names_[i], shape, data));
  }
  return mindspore::kSuccess;
}

Status TrainerImpl::ApplyGradients(const std::vector<MSTensor> &gradients) {
  if (!keeps_gradients()) MSLITE_TRY(MakeAccumulation());  // which knows their shapes
  std::vector<const void *> found(weights_.size(), nullptr);
  for (const MSTensor &gradient : gradients) {
    if (gradient == nullptr || gradient.Data() == nullptr)
      return Fail(mindspore::kLiteNullptr, "a gradient has no data");
    bool is_known = false;
    for (size_t i = 0; i < weights_.size(); ++i) {
      if (gradient_names_[i] != gradient.Name()) continue;
      const int64_t bytes = ByteSize(GradientShape(i));
      if (bytes < 0 || gradient.DataSize() != static_cast<size_t>(bytes)) {
        return Fail(mindspore::kLiteParamInvalid,
                    Format("gradient '%.300s' has %zu bytes where weight '%.300s' needs %lld", gradient.Name().c_str(),
                           gradient.DataSize(), weights_[i].weight.c_str(), static_cast<long long>(bytes)));
      }
      found[i] = gradient.Data().get();
      is_known = true;
    }
    if (!is_known) {
      return Fail(mindspore::kLiteParamInvalid,
                  "'" + gradient.Name() + "' is no gradient of the model; GetGradients gives their names");
    }
  }
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (found[i] != nullptr) continue;
    return Fail(mindspore::kLiteParamInvalid,
                "the gradient '" + gradient_names_[i] + "' of weight '" + weights_[i].weight + "' is missing");
  }
  MSLITE_TRY(Update(found));
  ClearSums();
  return is_training_ ? Status(mindspore::kSuccess) : Choose();
}

// ---- variables ----

std::vector<MSTensor> TrainerImpl::Show(const std::vector<std::string> &names) const {
  std::vector<MSTensor> tensors;
  for (const std::string &name : names) {
    const VariableState &state = options_.variables->states[name];
    tensors.push_back(ShownTensor(name, state.shape, state.current.own.get()));
  }
  return tensors;
}

std::vector<MSTensor> TrainerImpl::TrainableParams() const {
  std::vector<std::string> names;
  for (const TrainedWeight &weight : weights_) names.push_back(weight.weight);
  return Show(names);
}

std::vector<MSTensor> TrainerImpl::FeatureMaps() const { return Show(inference_names_); }

// Learning rates and the optimisers' other numbers, each once.
std::vector<std::string> TrainerImpl::settings_names() const {
  std::vector<std::string> names;
  for (const TrainedWeight &weight : weights_) {
    for (const std::string &name : weight.settings) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

std::vector<MSTensor> TrainerImpl::OptimizerParams() const { return Show(settings_names()); }

Status TrainerImpl::SetVariables(const std::vector<MSTensor> &values, const std::vector<std::string> &known) {
  for (const MSTensor &value : values) {
    if (value == nullptr || value.Data() == nullptr) return Fail(mindspore::kLiteNullptr, "a tensor has no data");
    if (std::find(known.begin(), known.end(), value.Name()) == known.end()) {
      return Fail(mindspore::kLiteParamInvalid, "the model has nothing of the name '" + value.Name() + "' here");
    }
    const TensorShape &shape = options_.variables->states[value.Name()].shape;
    if (static_cast<int32_t>(value.DataType()) != shape.type ||
        value.DataSize() != static_cast<size_t>(ByteSize(shape))) {
      return Fail(mindspore::kLiteParamInvalid,
                  Format("'%.300s' has %zu bytes of %s where the model has %lld of %s", value.Name().c_str(),
                         value.DataSize(), TypeName(static_cast<int32_t>(value.DataType())).c_str(),
                         static_cast<long long>(ByteSize(shape)), TypeName(shape.type).c_str()));
    }
  }
  for (const MSTensor &value : values) {
    std::memmove(options_.variables->states[value.Name()].current.own.get(), value.Data().get(), value.DataSize());
  }
  return is_training_ ? Status(mindspore::kSuccess) : Choose();
}

Status TrainerImpl::UpdateFeatureMaps(const std::vector<MSTensor> &weights) {
  std::vector<std::string> names = inference_names_;
  for (const TrainedWeight &weight : weights_) names.push_back(weight.weight);
  return SetVariables(weights, names);
}

Status TrainerImpl::SetOptimizerParams(const std::vector<MSTensor> &params) {
  for (const MSTensor &param : params) {
    if (param == nullptr || param.Data() == nullptr || zero_momenta_.count(param.Name()) == 0) continue;
    float value = 0.0f;
    if (param.DataSize() == sizeof value) std::memcpy(&value, param.Data().get(), sizeof value);
    if (value == 0.0f) continue;
    return Fail(
        mindspore::kLiteNotSupport,
        "'" + param.Name() +
            "' must stay 0: tables of embeddings are changed in the rows that were read, and momentum moves all. "
            "Convert the model with optimizer=Momentum");
  }
  return SetVariables(params, settings_names());
}

Status TrainerImpl::CheckLearningRate(float learning_rate) const {
  if (!std::isfinite(learning_rate) || learning_rate < 0.0f) {
    return Fail(mindspore::kLiteParamInvalid, Format("the learning rate must not be negative, and be finite; it is %g",
                                                     static_cast<double>(learning_rate)));
  }
  for (const TrainedWeight &weight : weights_) {
    if (!weight.learning_rate.empty()) continue;
    return Fail(mindspore::kLiteNotSupport,
                "the learning rate of '" + weight.node + "' is computed by the graph; it cannot be set");
  }
  return mindspore::kSuccess;
}

Status TrainerImpl::SetLearningRate(float learning_rate) {
  MSLITE_TRY(CheckLearningRate(learning_rate));
  for (const TrainedWeight &weight : weights_) SetLearningRate(weight.learning_rate, learning_rate);
  return mindspore::kSuccess;
}

float TrainerImpl::learning_rate() const {
  if (weights_[0].learning_rate.empty()) return 0.0f;
  return LearningRate(weights_[0].learning_rate);
}

float TrainerImpl::LearningRate(const std::string &variable) const {
  float value = 0.0f;
  std::memcpy(&value, options_.variables->states[variable].current.own.get(), sizeof value);
  return value;
}

void TrainerImpl::SetLearningRate(const std::string &variable, float learning_rate) {
  std::memcpy(options_.variables->states[variable].current.own.get(), &learning_rate, sizeof learning_rate);
}

Status TrainerImpl::SetupVirtualBatch(int multiplier, float learning_rate, float momentum) {
  if (multiplier > 1) {  // all that can be said before anything changes
    MSLITE_TRY(CheckLearningRate(learning_rate < 0.0f ? 0.0f : learning_rate));
    if (!(momentum <= 1.0f)) {
      return Fail(mindspore::kLiteParamInvalid,
                  Format("the momentum of batch normalisation must be at most 1, or negative for that of the model; it "
                         "is %g",
                         static_cast<double>(momentum)));
    }
  }
  const int multiplier_before = multiplier_;
  const float momentum_before = batch_norm_momentum_;
  const std::shared_ptr<Session> accumulation_before = accumulation_;
  multiplier_ = std::max(multiplier, 1);
  batch_norm_momentum_ = multiplier_ > 1 ? momentum : -1.0f;
  accumulation_.reset();  // its batch normalisations have the old momentum
  Status status = is_mixed_ ? MakeAccumulation() : Status(mindspore::kSuccess);
  if (status.IsOk() && is_training_) status = Choose();
  if (status.IsError()) {
    multiplier_ = multiplier_before;
    batch_norm_momentum_ = momentum_before;
    accumulation_ = accumulation_before;
    return status;
  }
  ClearSums();
  for (const auto &[variable, plain] : plain_learning_rates_) SetLearningRate(variable, plain);
  plain_learning_rates_.clear();
  if (multiplier_ == 1) return mindspore::kSuccess;
  for (const TrainedWeight &weight : weights_) {
    const float plain = LearningRate(weight.learning_rate);
    if (!plain_learning_rates_.emplace(weight.learning_rate, plain).second) continue;
    SetLearningRate(weight.learning_rate,
                    learning_rate >= 0.0f ? learning_rate : plain / static_cast<float>(multiplier_));
  }
  return mindspore::kSuccess;
}

// ---- files ----

Status TrainerImpl::Export(const ExportSettings &settings, std::vector<uint8_t> *model) const {
  return ExportModel(file_, loss_names_, *options_.variables, settings, model);
}

Status TrainerImpl::Export(const ExportSettings &settings, const std::string &path) const {
  std::vector<uint8_t> model;
  MSLITE_TRY(Export(settings, &model));
  return WriteFile(path, model);
}

Status TrainerImpl::ExportMicroWeights(const MicroWeightSettings &settings, const std::string &path) const {
  std::vector<uint8_t> model;
  MSLITE_TRY(Export(ExportSettings(), &model));
  std::vector<uint8_t> weights;
  MSLITE_TRY(WriteMicroWeights(model, settings, &weights));
  return WriteFile(path, weights);
}

Status TrainerImpl::ExportAdapter(const std::string &path) const {
  std::vector<std::string> names;
  for (const TrainedWeight &weight : weights_) names.push_back(weight.weight);
  std::vector<uint8_t> adapter;
  MSLITE_TRY(mslite::ExportAdapter(file_, names, *options_.variables, &adapter));
  return WriteFile(path, adapter);
}
}  // namespace mslite

extern "C" __attribute__((visibility("default"))) void mslite_create_trainer(const mslite::TrainerSettings &settings,
                                                                             std::unique_ptr<mslite::Trainer> *trainer,
                                                                             mslite::Status *status) {
  *status = mslite::TrainerImpl::Create(settings, trainer);
}
