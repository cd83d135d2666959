// The sessions of a training graph over one store of variables.
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
constexpr const char *kLossScale = "/loss_scale";  // a variable; no name of a file's tensor begins so

// A tensor that shows memory.
mindspore::MSTensor ShownTensor(const std::string &name, const TensorShape &shape, const void *data);
// Errors: kLiteNullptr for a tensor without data, kLiteParamInvalid for less data than its shape needs.
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
  // The updates alone, and the weights whose gradients are their inputs.
  struct Updates {
    std::shared_ptr<Session> session;
    std::vector<size_t> weights;
    std::vector<InputView> views;
  };
  // What calls change; whoever copies it shares sessions and sums.
  struct Now {
    std::vector<TensorShape> shapes;  // of the inputs, when they have been resized
    size_t loss_count = 0;
    bool keeps_predictions = false;
    std::vector<std::string> predictions;
    std::vector<std::string> inference_names;  // the variables that inference reads

    std::shared_ptr<Session> step;          // forward, backward and updates; none in mixed precision
    std::shared_ptr<Session> accumulation;  // without updates; when it was needed once
    std::shared_ptr<Updates> updates;       // likewise
    std::shared_ptr<Session> evaluation;    // with the weights as constants, as they are now; null while training
    bool may_evaluate = false;              // `evaluation` can run; until it has to, it takes no memory for that
    bool is_training = false;
    bool is_fresh = false;  // in training: no step has been run since it evaluated

    int multiplier = 1;                                 // of the batch
    std::map<std::string, float> plain_learning_rates;  // by variable, before there was a virtual batch
    float batch_norm_momentum = -1.0f;  // in virtual batches; negative: that of the file divided by the multiplier
    int accumulated = 0;                // steps in `sums`
    bool shows_sums = false;            // as gradients
    std::shared_ptr<std::vector<std::vector<float>>> sums;  // of gradients, each as large as its weight
  };
  struct Saved : State {
    explicit Saved(Now saved) : now(std::move(saved)) {}
    Now now;
  };

  explicit TrainerImpl(const TrainerSettings &settings);

  bool accumulates() const { return config_.accumulate_gradients_ || now_.multiplier > 1; }
  // The gradients of a step are looked at before the weights change.
  bool holds_gradients() const { return accumulates() || is_mixed_; }
  // Those of a plain step, until the next one.
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
  void LookAtLosses();
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
  bool is_mixed_;  // precision
  LossScale loss_scale_;
  std::vector<std::string> loss_names_;
  const KernelLists inference_kernels_;  // of the options, without those of training
  SessionOptions options_;
  std::vector<TensorShape> first_shapes_;  // of the inputs, as the file has them
  std::vector<TrainedWeight> weights_;
  std::vector<std::string> gradient_names_;
  bool file_keeps_gradients_ = true;    // as it was converted
  std::set<std::string> zero_momenta_;  // variables: sparse steps rely on it
  bool losses_are_finite_ = true;       // as far as steps have shown
  Now now_;
};
}  // namespace mslite

#endif
