// Trains a model: the sessions of a training graph, which share one store of variables.
#ifndef MSLITE_TRAINING_TRAINER_IMPL_H
#define MSLITE_TRAINING_TRAINER_IMPL_H

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/trainer.h"
#include "training/mixed_precision.h"
#include "training/training_graph.h"

namespace mslite {
constexpr const char *kLossScale = "/loss_scale";  // a variable; tensors in files have no such names

// Returns a tensor that refers to `data`.
mindspore::MSTensor TensorView(const std::string &name, const TensorShape &shape, const void *data);
// Checks a tensor's data. Errors: kLiteNullptr for a tensor without data, kLiteParamInvalid for less data than its
// shape needs.
Status CheckContents(const mindspore::MSTensor &tensor);

class TrainerImpl : public Trainer {
 public:
  static Status Create(const TrainerSettings &settings, std::unique_ptr<Trainer> *trainer);

  std::unique_ptr<State> Save() const override { return std::make_unique<Saved>(now_); }
  void Restore(std::unique_ptr<State> state) noexcept override { now_ = std::move(static_cast<Saved &>(*state).now); }
  const std::shared_ptr<Session> &session() const override { return now_.is_training ? step() : now_.evaluation; }
  size_t output_count() const override;
  Status SetTrainMode(bool train) override;
  bool is_training() const override { return now_.is_training; }
  Status Resize(const std::vector<TensorShape> &inputs) override;
  Status PrepareRun() override;
  Status FinishRun() override;
  Status KeepPredictions() override;
  std::vector<mindspore::MSTensor> Predictions() const override;
  Status Gradients(std::vector<mindspore::MSTensor> *gradients) const override;
  std::vector<mindspore::MSTensor> TrainableParams() const override;
  std::vector<mindspore::MSTensor> FeatureMaps() const override;
  std::vector<mindspore::MSTensor> OptimizerParams() const override;
  Status ApplyGradients(const std::vector<mindspore::MSTensor> &gradients) override;
  Status UpdateFeatureMaps(const std::vector<mindspore::MSTensor> &weights) override;
  Status SetOptimizerParams(const std::vector<mindspore::MSTensor> &params) override;
  Status SetLearningRate(float learning_rate) override;
  float learning_rate() const override;
  Status SetupVirtualBatch(int multiplier, float learning_rate, float momentum) override;
  Status Train(mindspore::Model *model, int epochs, const std::shared_ptr<mindspore::dataset::Dataset> &dataset,
               const std::vector<mindspore::TrainCallBack *> &callbacks) override;
  Status Evaluate(mindspore::Model *model, const std::shared_ptr<mindspore::dataset::Dataset> &dataset,
                  const std::vector<mindspore::TrainCallBack *> &callbacks) override;
  Status Export(const ExportSettings &settings, std::vector<uint8_t> *model) const override;
  Status Export(const ExportSettings &settings, const std::string &path) const override;
  Status ExportMicroWeights(const MicroWeightSettings &settings, const std::string &path) const override;
  Status ExportAdapter(const std::string &path) const override;

 private:
  // The session that only updates, and the weights whose gradients are its inputs.
  struct Updates {
    std::shared_ptr<Session> session;
    std::vector<size_t> weights;
    std::vector<InputView> views;
  };
  // The state that calls change. Copies share sessions and sums.
  struct Now {
    std::vector<TensorShape> shapes;  // of the inputs, after a resize
    size_t loss_count = 0;
    bool keeps_predictions = false;
    std::vector<std::string> predictions;
    std::vector<std::string> inference_names;  // the variables that inference reads

    std::shared_ptr<Session> step;          // forward, backward and updates; null in mixed precision
    std::shared_ptr<Session> accumulation;  // without updates; made when first needed
    std::shared_ptr<Updates> updates;       // made when first needed
    std::shared_ptr<Session> evaluation;    // inference with the current weights as constants; null while training
    bool may_evaluate = false;              // `evaluation` has memory and can run
    bool is_training = false;
    bool is_fresh = false;  // in training: no step has run since the last evaluation

    int multiplier = 1;                                 // of the virtual batch
    std::map<std::string, float> plain_learning_rates;  // by variable, without a virtual batch
    float batch_norm_momentum = -1.0f;  // in virtual batches; negative: that of the file divided by the multiplier
    int accumulated = 0;                // steps in `sums`
    bool shows_sums = false;            // GetGradients returns the sums
    std::shared_ptr<std::vector<std::vector<float>>> sums;  // of gradients, each of the size of its weight
  };
  struct Saved : State {
    explicit Saved(Now saved) : now(std::move(saved)) {}
    Now now;
  };

  explicit TrainerImpl(const TrainerSettings &settings);

  bool accumulates() const { return config_.accumulate_gradients_ || now_.multiplier > 1; }
  // The gradients of a step are examined before the weights are updated.
  bool holds_gradients() const { return accumulates() || is_mixed_; }
  // The gradients of a plain step are kept until the next one.
  bool keeps_gradients() const { return config_.keep_gradients_ && file_keeps_gradients_; }
  const std::shared_ptr<Session> &step() const { return holds_gradients() ? now_.accumulation : now_.step; }
  Status MakeSession(std::shared_ptr<Graph> graph, const SessionOptions &options,
                     std::shared_ptr<Session> *session) const;
  Status MakeStep();
  Status MakeAccumulation();
  Status MakeUpdates();
  Status MakeEvaluation(bool only_plans);
  Status Choose();
  Status ResizeSessions(const std::vector<TensorShape> &inputs);
  Status CheckGradients(const Session &session) const;
  Status CheckGradient(size_t index, const TensorShape &shape) const;
  Status PlanGradients() const;
  Status CheckLearningRate(float learning_rate) const;
  float LearningRate(const std::string &variable) const;
  void SetLearningRate(const std::string &variable, float learning_rate);
  void ClearSums();
  void PrepareSums();
  Status AddGradients(bool *are_finite);
  Status Update(const std::function<const void *(size_t)> &gradient);
  void CheckLosses();
  void SetLossScale();
  std::vector<mindspore::MSTensor> Show(const std::vector<std::string> &names) const;
  Status SetVariables(const std::vector<mindspore::MSTensor> &values, const std::vector<std::string> &known);
  std::vector<std::string> settings_names() const;
  const OutputSlot &GradientSlot(const Session &session, size_t index) const {
    return session.outputs()[now_.loss_count + now_.predictions.size() + index];
  }

  std::shared_ptr<const Bytes> file_;
  bool evaluates_in_half_;
  mindspore::TrainCfg config_;
  bool is_mixed_;  // mixed precision
  LossScale loss_scale_;
  std::vector<std::string> loss_names_;
  const KernelLists inference_kernels_;  // of the options, without the training kernels
  SessionOptions options_;
  std::vector<TensorShape> first_shapes_;  // of the inputs in the file
  std::vector<TrainedWeight> weights_;
  std::vector<std::string> gradient_names_;
  bool file_keeps_gradients_ = true;    // converted without --trainMemory and sparse_embeddings
  std::set<std::string> zero_momenta_;  // momentum variables that sparse updates need to be 0
  bool losses_are_finite_ = true;       // in all steps so far
  Now now_;
};
}  // namespace mslite

#endif
