// Gradients in the trainer: sums over several steps, and updates.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "api/log.h"
#include "api/tensor.h"
#include "model/names.h"
#include "plan/choose_kernel.h"
#include "training/trainer_impl.h"

namespace mslite {
using mindspore::MSTensor;

namespace {
std::string TextOf(const TensorShape &shape) {
  return TypeName(shape.type) + DimsText(shape.dims, static_cast<size_t>(std::max(shape.rank, int32_t{0})));
}

bool IsKnown(const TensorShape &shape) {
  return shape.rank >= 0 && std::all_of(shape.dims, shape.dims + shape.rank, [](int64_t dim) { return dim >= 0; });
}

// Returns whether the size of a tensor depends on the contents of its producer's inputs.
bool IsCounted(const Graph &graph, int32_t tensor) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [tensor](const Node &node) {
    return HasDataDependentShapes(node.op) &&
           std::find(node.outputs.begin(), node.outputs.end(), tensor) != node.outputs.end();
  });
}
}  // namespace

Status TrainerImpl::CheckGradient(size_t index, const TensorShape &shape) const {
  const TrainedWeight &weight = weights_[index];
  if (shape == weight.shape) return mindspore::kSuccess;
  return Fail(mindspore::kLiteGraphFileError,
              "file '" + file_->name() + "': weight '" + weight.weight + "' of '" + weight.node + "' is " +
                  TextOf(weight.shape) + ", and its gradient '" + gradient_names_[index] + "' is " + TextOf(shape) +
                  "; a gradient must have the type and the shape of its weight");
}

// Checks the sizes of gradients that are known before a run. Those after a result with a data-dependent size are not.
Status TrainerImpl::CheckGradients(const Session &session) const {
  const Graph &graph = session.graph();
  for (size_t i = 0; i < weights_.size(); ++i) {
    const TensorShape &shape = GradientSlot(session, i).shape;
    if (IsKnown(shape)) MSLITE_TRY(CheckGradient(i, shape));
    const int32_t tensor = graph.outputs[now_.loss_count + now_.predictions.size() + i];
    if (IsKnown(shape) || !IsCounted(graph, tensor)) continue;
    return Fail(mindspore::kLiteGraphFileError, "file '" + file_->name() + "': the size of the gradient '" +
                                                    gradient_names_[i] + "' depends on data; " +
                                                    "it must equal that of weight '" + weights_[i].weight + "', " +
                                                    TextOf(weights_[i].shape));
  }
  return mindspore::kSuccess;
}

// ---- sums of gradients ----

void TrainerImpl::ClearSums() {
  now_.accumulated = 0;
  now_.shows_sums = false;
  now_.sums.reset();
}

void TrainerImpl::SetLossScale() {
  const float scale = loss_scale_.value();
  std::memcpy(options_.variables->states.find(kLossScale)->second.current.own.get(), &scale, sizeof scale);
}

// Allocates the sums before a step, which must not fail after it has run.
void TrainerImpl::PrepareSums() {
  if (now_.sums != nullptr) return;
  auto sums = std::make_shared<std::vector<std::vector<float>>>(weights_.size());
  for (size_t i = 0; i < weights_.size(); ++i) {
    (*sums)[i].resize(static_cast<size_t>(ByteSize(weights_[i].shape)) / sizeof(float));
  }
  now_.sums = std::move(sums);
}

// Adds the step's gradients, without the loss scale, to the sums. Sets `are_finite` to whether all are finite.
Status TrainerImpl::AddGradients(bool *are_finite) {
  for (size_t i = 0; i < weights_.size(); ++i) {
    MSLITE_TRY(CheckGradient(i, GradientSlot(*now_.accumulation, i).shape));
  }
  const float factor = is_mixed_ ? 1.0f / loss_scale_.value() : 1.0f;
  *are_finite = true;
  for (size_t i = 0; i < weights_.size(); ++i) {
    const auto *values = reinterpret_cast<const float *>(GradientSlot(*now_.accumulation, i).data);
    std::vector<float> &sum = (*now_.sums)[i];
    if (now_.accumulated == 0) std::fill(sum.begin(), sum.end(), 0.0f);
    for (size_t k = 0; k < sum.size(); ++k) {
      *are_finite = *are_finite && std::isfinite(values[k]);
      sum[k] += factor * values[k];
    }
  }
  ++now_.accumulated;
  now_.shows_sums = true;
  return mindspore::kSuccess;
}

Status TrainerImpl::FinishRun() {
  if (now_.is_training) CheckLosses();
  if (!now_.is_training || !holds_gradients()) return mindspore::kSuccess;
  bool are_finite = true;
  MSLITE_TRY(AddGradients(&are_finite));
  if (is_mixed_) {
    const float scale = loss_scale_.value();
    loss_scale_.Follow(are_finite);
    SetLossScale();
    if (!are_finite) {
      CallOrDefault([scale] {
        Log(LogLevel::kInfo, Format("a gradient exceeds float16 with a loss scale of %g: the weights are not updated",
                                    static_cast<double>(scale)));
        return true;
      });
      now_.accumulated = 0;
      return mindspore::kSuccess;
    }
  }
  if (config_.accumulate_gradients_ || now_.accumulated < now_.multiplier) return mindspore::kSuccess;
  const std::vector<std::vector<float>> &sums = *now_.sums;
  MSLITE_TRY(Update([&sums](size_t i) { return static_cast<const void *>(sums[i].data()); }));
  if (accumulates()) {
    ClearSums();
  } else {
    now_.accumulated = 0;  // GetGradients returns those of the step
  }
  return mindspore::kSuccess;
}

// Runs the optimizers, which were created before, with one gradient per weight.
Status TrainerImpl::Update(const std::function<const void *(size_t)> &gradient) {
  Updates &updates = *now_.updates;
  for (size_t i = 0; i < updates.views.size(); ++i) updates.views[i].data = gradient(updates.weights[i]);
  return updates.session->Run(updates.views.data(), nullptr);
}

// ---- API for gradients ----

Status TrainerImpl::Gradients(std::vector<MSTensor> *gradients) const {
  if (!holds_gradients() && !keeps_gradients()) {
    const char *reason = file_keeps_gradients_ ? "' is trained with TrainCfg::keep_gradients_ = false"
                                               : "' was made with --trainMemory or sparse_embeddings";
    const char *remedy = file_keeps_gradients_ ? "leave keep_gradients_ true"
                                               : "convert the model without --trainMemory and sparse_embeddings";
    return Fail(mindspore::kLiteNotSupport,
                "file '" + file_->name() + reason +
                    ": the memory of each gradient is reused after its weight is updated. Set "
                    "TrainCfg::accumulate_gradients_ to read gradients, or " +
                    remedy);
  }
  for (size_t i = 0; i < weights_.size(); ++i) {
    const void *data = nullptr;
    if (!holds_gradients()) {
      const OutputSlot &slot = GradientSlot(*now_.step, i);
      if (slot.data != nullptr) MSLITE_TRY(CheckGradient(i, slot.shape));
      data = slot.data;
    } else if (now_.shows_sums) {
      data = (*now_.sums)[i].data();
    }
    if (data != nullptr) gradients->push_back(TensorView(gradient_names_[i], weights_[i].shape, data));
  }
  return mindspore::kSuccess;
}

Status TrainerImpl::ApplyGradients(const std::vector<MSTensor> &gradients) {
  std::vector<const void *> found(weights_.size(), nullptr);
  for (const MSTensor &gradient : gradients) {
    MSLITE_TRY(CheckContents(gradient));
    bool is_known = false;
    for (size_t i = 0; i < weights_.size(); ++i) {
      if (gradient_names_[i] != gradient.Name()) continue;
      const int64_t bytes = ByteSize(weights_[i].shape);
      if (static_cast<int32_t>(gradient.DataType()) != weights_[i].shape.type ||
          gradient.DataSize() != static_cast<size_t>(bytes)) {
        return Fail(mindspore::kLiteParamInvalid,
                    Format("gradient '%.300s' has %zu bytes of %s, but weight '%.300s' needs %lld of %s",
                           gradient.Name().c_str(), gradient.DataSize(),
                           TypeName(static_cast<int32_t>(gradient.DataType())).c_str(), weights_[i].weight.c_str(),
                           static_cast<long long>(bytes), TypeName(weights_[i].shape.type).c_str()));
      }
      found[i] = gradient.Data().get();
      is_known = true;
    }
    if (!is_known) {
      return Fail(mindspore::kLiteParamInvalid,
                  "'" + gradient.Name() + "' is not a gradient of the model; GetGradients returns their names");
    }
  }
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (found[i] != nullptr) continue;
    return Fail(mindspore::kLiteParamInvalid,
                "the gradient '" + gradient_names_[i] + "' of weight '" + weights_[i].weight + "' is missing");
  }
  MSLITE_TRY(MakeUpdates());
  if (!now_.is_training) MSLITE_TRY(Choose());
  MSLITE_TRY(Update([&found](size_t i) { return found[i]; }));
  ClearSums();
  return mindspore::kSuccess;
}

Status TrainerImpl::SetupVirtualBatch(int multiplier, float learning_rate, float momentum) {
  if (multiplier > 1) {  // checks before anything changes
    MSLITE_TRY(CheckLearningRate(learning_rate < 0.0f ? 0.0f : learning_rate));
    if (!(momentum <= 1.0f)) {
      return Fail(mindspore::kLiteParamInvalid,
                  Format("the momentum of batch normalization must be at most 1, or negative for that of the model; it "
                         "is %g",
                         static_cast<double>(momentum)));
    }
  }
  now_.multiplier = std::max(multiplier, 1);
  now_.batch_norm_momentum = now_.multiplier > 1 ? momentum : -1.0f;
  now_.accumulation.reset();  // its batch normalizations have the old momentum
  if (is_mixed_) MSLITE_TRY(MakeAccumulation());
  if (now_.is_training) MSLITE_TRY(Choose());
  ClearSums();
  const std::map<std::string, float> before = std::exchange(now_.plain_learning_rates, {});
  const auto plain_rate = [&](const std::string &variable) {
    const auto found = before.find(variable);
    return found == before.end() ? LearningRate(variable) : found->second;
  };
  if (now_.multiplier > 1) {
    for (const TrainedWeight &weight : weights_) {
      now_.plain_learning_rates.emplace(weight.learning_rate, plain_rate(weight.learning_rate));
    }
  }
  // Nothing fails after this.
  for (const auto &[variable, plain] : before) SetLearningRate(variable, plain);
  for (const auto &[variable, plain] : now_.plain_learning_rates) {
    SetLearningRate(variable, learning_rate >= 0.0f ? learning_rate : plain / static_cast<float>(now_.multiplier));
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
