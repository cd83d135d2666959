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
#include "training/export.h"
#include "training/micro_weights.h"
#include "training/sparse_descent.h"
#include "training/trainable_constants.h"
#include "training/transfer.h"

namespace mslite {
using mindspore::MSTensor;

Status CheckContents(const MSTensor &tensor) {
  if (tensor == nullptr || tensor.impl()->data == nullptr) {
    return Fail(mindspore::kLiteNullptr, "a tensor has no data");
  }
  if (tensor.impl()->size >= tensor.DataSize()) return mindspore::kSuccess;
  return Fail(mindspore::kLiteParamInvalid, Format("the data of '%.300s' has %zu bytes, but its shape needs %zu",
                                                   tensor.Name().c_str(), tensor.impl()->size, tensor.DataSize()));
}

MSTensor TensorView(const std::string &name, const TensorShape &shape, const void *data) {
  const std::vector<int64_t> dims(shape.dims, shape.dims + std::max(shape.rank, int32_t{0}));
  MSTensor tensor(std::make_shared<MSTensor::Impl>(name, static_cast<enum mindspore::DataType>(shape.type), dims));
  tensor.impl()->Show(data, static_cast<size_t>(std::max<int64_t>(ByteSize(shape), 0)));
  return tensor;
}

namespace {
// Returns freed small pieces of memory to the system, because steps need one large block.
void ReturnFreeMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

// Returns the tensors that the remaining nodes read.
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
                "TrainCfg::SetLossName: an empty name matches every node; set a part of the loss's name");
  }
  std::unique_ptr<TrainerImpl> made(new TrainerImpl(settings));
  if (settings.backbone != nullptr) MSLITE_TRY(JoinModels(settings.backbone, settings.file, &made->file_));
  MSLITE_TRY(made->MakeStep());
  MSLITE_TRY(made->MakeEvaluation(true));
  const Graph &graph = made->now_.evaluation->graph();
  for (const int32_t input : graph.inputs) {
    made->first_shapes_.push_back(ShapeInFile(graph.tensors[static_cast<size_t>(input)]));
  }
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
  MSLITE_TRY(ReadTrainingGraph(file_, loss_names_, now_.keeps_predictions, &training));
  std::vector<std::string> names;
  for (const TrainedWeight &weight : training.weights) {
    names.push_back(training.graph->tensors[static_cast<size_t>(weight.gradient)].name);
  }
  file_keeps_gradients_ = schema::GetMetaGraph(file_->data())->mempoolSize() == 0 && !HasSparseUpdates(training);
  gradient_names_ = std::move(names);
  weights_ = training.weights;
  now_.loss_count = training.loss_count;
  now_.predictions = training.predictions;
  if (is_mixed_) {
    MSLITE_TRY(MakeAccumulation());
    return MakeUpdates();
  }
  if (!keeps_gradients()) RemoveGradientOutputs(&training);
  if (!file_keeps_gradients_) zero_momenta_ = UseSparseUpdates(&training);
  if (!keeps_gradients()) MSLITE_TRY(PlanGradients());
  std::shared_ptr<Session> made;
  if (const Status status = MakeSession(training.graph, options_, &made); status.IsError()) {
    MSLITE_TRY(PlanGradients());
    return status;
  }
  if (!now_.shapes.empty()) MSLITE_TRY(made->Resize(now_.shapes));
  if (keeps_gradients()) MSLITE_TRY(CheckGradients(*made));
  now_.step = std::move(made);
  return mindspore::kSuccess;
}

// Checks gradients that the step does not keep, or that may be the reason why it cannot be made.
Status TrainerImpl::PlanGradients() const {
  TrainingGraph training;
  MSLITE_TRY(ReadTrainingGraph(file_, loss_names_, now_.keeps_predictions, &training));
  KeepGradients(&training);
  SessionOptions options = options_;
  options.only_plans = true;
  std::shared_ptr<Session> made;
  // MakeStep reports the error.
  if (MakeSession(training.graph, options, &made).IsError()) return mindspore::kSuccess;
  return CheckGradients(*made);
}

Status TrainerImpl::MakeAccumulation() {
  if (now_.accumulation != nullptr) return mindspore::kSuccess;
  TrainingGraph training;
  MSLITE_TRY(ReadTrainingGraph(file_, loss_names_, now_.keeps_predictions, &training));
  KeepGradients(&training);
  for (Node &node : training.graph->nodes) {
    if (node.op != MSLITE_OP_BatchNormTraining) continue;
    auto *params = training.graph->arena.Make<mslite_BatchNormTraining>();
    *params = *static_cast<const mslite_BatchNormTraining *>(node.params);
    const float part = params->momentum / static_cast<float>(now_.multiplier);
    params->momentum = now_.batch_norm_momentum < 0.0f ? part : now_.batch_norm_momentum;
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
  if (!now_.shapes.empty()) MSLITE_TRY(made->Resize(now_.shapes));
  MSLITE_TRY(CheckGradients(*made));
  now_.accumulation = std::move(made);
  if (is_mixed_) SetLossScale();
  return mindspore::kSuccess;
}

Status TrainerImpl::MakeUpdates() {
  if (now_.updates != nullptr) return mindspore::kSuccess;
  TrainingGraph training;
  MSLITE_TRY(ReadTrainingGraph(file_, loss_names_, false, &training));
  KeepUpdates(&training);
  auto made = std::make_shared<Updates>();
  Graph &graph = *training.graph;
  for (const int32_t input : graph.inputs) {
    const auto place = std::find_if(training.weights.begin(), training.weights.end(),
                                    [input](const TrainedWeight &weight) { return weight.gradient == input; });
    Tensor &gradient = graph.tensors[static_cast<size_t>(input)];
    gradient.type = place->shape.type;  // replaces the type in the file
    gradient.dims.assign(place->shape.dims, place->shape.dims + place->shape.rank);
    gradient.has_rank = true;
    made->weights.push_back(static_cast<size_t>(place - training.weights.begin()));
    made->views.push_back({place->shape, nullptr});
  }
  MSLITE_TRY(MakeSession(training.graph, options_, &made->session));
  MSLITE_TRY(made->session->ReserveMemory());
  now_.updates = std::move(made);
  return mindspore::kSuccess;
}

// Makes the inference session. The current weights are its constants, so they are packed and fused as in any model.
Status TrainerImpl::MakeEvaluation(bool only_plans) {
  std::shared_ptr<Graph> graph;
  MSLITE_TRY(LoadTrainableConstants(file_, &graph));
  const std::vector<int32_t> inputs = graph->inputs;
  PruneToInference(loss_names_, graph.get());
  // Labels stay inputs, so that the inputs of the model do not change.
  graph->inputs = graph->subgraphs[0].inputs = inputs;
  NewWeights weights;
  std::vector<std::string> names;
  for (const int32_t index : UsedTensors(*graph)) {
    const Tensor &tensor = graph->tensors[static_cast<size_t>(index)];
    const uint8_t *contents = VariableContents(tensor, *options_.variables);
    if (contents == nullptr) continue;
    weights[tensor.name] = {contents, tensor.size, tensor.type};
    names.push_back(tensor.name);
  }
  // Plans do not depend on the values of weights, so those in the file are used without a copy.
  if (!only_plans) MSLITE_TRY(SetNewWeights(weights, graph.get()));
  SessionOptions options = options_;
  options.variables = nullptr;
  options.more_kernels = inference_kernels_;
  options.half = evaluates_in_half_;
  options.only_plans = only_plans;
  std::shared_ptr<Session> made;
  MSLITE_TRY(MakeSession(graph, options, &made));
  if (!now_.shapes.empty()) MSLITE_TRY(made->Resize(now_.shapes));
  now_.evaluation = std::move(made);
  now_.may_evaluate = !only_plans;
  now_.inference_names = std::move(names);
  return mindspore::kSuccess;
}

Status TrainerImpl::PrepareRun() {
  if (!now_.is_training) return now_.may_evaluate ? Status(mindspore::kSuccess) : MakeEvaluation(false);
  if (holds_gradients()) {
    PrepareSums();
    if (!config_.accumulate_gradients_ && now_.accumulated + 1 >= now_.multiplier) MSLITE_TRY(MakeUpdates());
  }
  if (now_.is_fresh) ReturnFreeMemory();  // the evaluation session is destroyed by now
  now_.is_fresh = false;
  return mindspore::kSuccess;
}

// Makes the session for the current mode.
Status TrainerImpl::Choose() {
  if (!now_.is_training) return MakeEvaluation(true);
  if (holds_gradients()) MSLITE_TRY(MakeAccumulation());
  now_.evaluation.reset();
  now_.is_fresh = true;
  return mindspore::kSuccess;
}

size_t TrainerImpl::output_count() const { return now_.is_training ? now_.loss_count : session()->outputs().size(); }

Status TrainerImpl::SetTrainMode(bool train) {
  if (train == now_.is_training) return mindspore::kSuccess;
  now_.is_training = train;
  return Choose();
}

Status TrainerImpl::ResizeSessions(const std::vector<TensorShape> &inputs) {
  for (const std::shared_ptr<Session> &session : {now_.step, now_.accumulation, now_.evaluation}) {
    if (session != nullptr) MSLITE_TRY(session->Resize(inputs));
  }
  if (now_.accumulation != nullptr) MSLITE_TRY(CheckGradients(*now_.accumulation));
  return now_.step != nullptr && keeps_gradients() ? CheckGradients(*now_.step) : Status(mindspore::kSuccess);
}

Status TrainerImpl::Resize(const std::vector<TensorShape> &inputs) {
  std::vector<TensorShape> shapes = inputs;
  struct Undo {
    TrainerImpl *trainer;
    ~Undo() {
      if (trainer == nullptr) return;
      const Now &now = trainer->now_;  // a failure to restore is only logged: runs plan for the shapes that they get
      const std::vector<TensorShape> &before = now.shapes.empty() ? trainer->first_shapes_ : now.shapes;
      CallOrDefault([&] { return trainer->ResizeSessions(before).IsOk(); });
    }
  } undo = {this};
  MSLITE_TRY(ResizeSessions(inputs));
  undo.trainer = nullptr;
  now_.shapes = std::move(shapes);
  ClearSums();
  return mindspore::kSuccess;
}

// ---- predictions ----

Status TrainerImpl::KeepPredictions() {
  if (now_.keeps_predictions) return mindspore::kSuccess;
  now_.keeps_predictions = true;
  now_.accumulation = nullptr;
  MSLITE_TRY(MakeStep());
  return now_.is_training ? Choose() : Status(mindspore::kSuccess);
}

std::vector<MSTensor> TrainerImpl::Predictions() const {
  if (step() == nullptr) return {};
  const Session &session = *step();
  std::vector<MSTensor> predictions;
  for (size_t i = 0; i < now_.predictions.size(); ++i) {
    const OutputSlot &slot = session.outputs()[now_.loss_count + i];
    if (slot.data == nullptr) return {};
    predictions.push_back(TensorView(now_.predictions[i], slot.shape, slot.data));
  }
  return predictions;
}

// Logs a warning if a loss is no longer finite. The program reads the loss itself and decides what to do.
void TrainerImpl::CheckLosses() {
  bool are_finite = true;
  const std::vector<OutputSlot> &outputs = session()->outputs();
  for (size_t i = 0; i < now_.loss_count; ++i) {
    const OutputSlot &loss = outputs[i];
    if (loss.shape.type != MSLITE_FLOAT32 || loss.data == nullptr) continue;
    const auto *values = reinterpret_cast<const float *>(loss.data);
    const auto elements = static_cast<size_t>(ByteSize(loss.shape)) / sizeof(float);
    are_finite = are_finite && std::all_of(values, values + elements, [](float value) { return std::isfinite(value); });
  }
  if (!are_finite && losses_are_finite_) {
    CallOrDefault([&] {
      Log(LogLevel::kWarning,
          "file '" + file_->name() +
              "': the loss of this step is not finite, and the weights may not be either. Check the "
              "inputs and the learning rate, and continue from a checkpoint");
      return true;
    });
  }
  losses_are_finite_ = are_finite;
}

// ---- variables ----

std::vector<MSTensor> TrainerImpl::Show(const std::vector<std::string> &names) const {
  std::vector<MSTensor> tensors;
  for (const std::string &name : names) {
    const VariableState &state = options_.variables->states.at(name);
    tensors.push_back(TensorView(name, state.shape, state.current.own.get()));
  }
  return tensors;
}

std::vector<MSTensor> TrainerImpl::TrainableParams() const {
  std::vector<std::string> names;
  for (const TrainedWeight &weight : weights_) names.push_back(weight.weight);
  return Show(names);
}

std::vector<MSTensor> TrainerImpl::FeatureMaps() const { return Show(now_.inference_names); }

// Returns the learning rates and other settings of the optimizers, each once.
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
    MSLITE_TRY(CheckContents(value));
    if (std::find(known.begin(), known.end(), value.Name()) == known.end()) {
      return Fail(mindspore::kLiteParamInvalid, "the model has no value named '" + value.Name() + "'");
    }
    const TensorShape &shape = options_.variables->states.at(value.Name()).shape;
    if (static_cast<int32_t>(value.DataType()) != shape.type ||
        value.DataSize() != static_cast<size_t>(ByteSize(shape))) {
      return Fail(mindspore::kLiteParamInvalid,
                  Format("'%.300s' has %zu bytes of %s, but the model has %lld of %s", value.Name().c_str(),
                         value.DataSize(), TypeName(static_cast<int32_t>(value.DataType())).c_str(),
                         static_cast<long long>(ByteSize(shape)), TypeName(shape.type).c_str()));
    }
  }
  if (!now_.is_training) MSLITE_TRY(Choose());
  for (const MSTensor &value : values) {  // nothing fails after this
    const MSTensor::Impl &from = *value.impl();
    uint8_t *to = options_.variables->states.find(from.name)->second.current.own.get();
    if (from.DataSize() != 0) std::memmove(to, from.data, from.DataSize());
  }
  return mindspore::kSuccess;
}

Status TrainerImpl::UpdateFeatureMaps(const std::vector<MSTensor> &weights) {
  std::vector<std::string> names = now_.inference_names;
  for (const TrainedWeight &weight : weights_) names.push_back(weight.weight);
  return SetVariables(weights, names);
}

Status TrainerImpl::SetOptimizerParams(const std::vector<MSTensor> &params) {
  for (const MSTensor &param : params) {
    if (zero_momenta_.empty()) break;
    MSLITE_TRY(CheckContents(param));
    if (zero_momenta_.count(param.Name()) == 0) continue;
    float value = 0.0f;
    if (param.DataSize() == sizeof value) std::memcpy(&value, param.Data().get(), sizeof value);
    if (value == 0.0f) continue;
    return Fail(
        mindspore::kLiteNotSupport,
        "'" + param.Name() +
            "' must stay 0: only the rows of embedding tables that were read are updated, but momentum changes all. "
            "Convert the model with optimizer=Momentum");
  }
  return SetVariables(params, settings_names());
}

Status TrainerImpl::CheckLearningRate(float learning_rate) const {
  if (!std::isfinite(learning_rate) || learning_rate < 0.0f) {
    return Fail(mindspore::kLiteParamInvalid, Format("the learning rate must be finite and not negative; it is %g",
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
  std::memcpy(&value, options_.variables->states.find(variable)->second.current.own.get(), sizeof value);
  return value;
}

void TrainerImpl::SetLearningRate(const std::string &variable, float learning_rate) {
  std::memcpy(options_.variables->states.find(variable)->second.current.own.get(), &learning_rate,
              sizeof learning_rate);
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
