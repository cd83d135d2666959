// The sessions of a training graph over one store of variables.
#ifndef MSLITE_TRAINING_TRAINER_IMPL_H
#define MSLITE_TRAINING_TRAINER_IMPL_H

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/trainer.h"
#include "training/mixed_precision.h"
#include "training/training_graph.h"

namespace mslite {
class TrainerImpl : public Trainer {
 public:
  static Status Create(const TrainerSettings &settings, std::unique_ptr<Trainer> *trainer);

  const std::shared_ptr<Session> &session() const override { return *running_; }
  size_t output_count() const override;
  Status SetTrainMode(bool train) override;
  bool is_training() const override { return is_training_; }
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
  explicit TrainerImpl(const TrainerSettings &settings);

  bool accumulates() const { return config_.accumulate_gradients_ || multiplier_ > 1; }
  // The gradients of a step are looked at before the weights change.
  bool holds_gradients() const { return accumulates() || is_mixed_; }
  // Those of a plain step, until the next one.
  bool keeps_gradients() const { return config_.keep_gradients_ && file_keeps_gradients_; }
  Status MakeSession(std::shared_ptr<Graph> graph, const SessionOptions &options,
                     std::shared_ptr<Session> *session) const;
  Status MakeStep();
  Status MakeAccumulation();
  Status MakeUpdates();
  Status MakeEvaluation(bool only_plans);
  Status Choose();
  Status Update(const std::vector<const void *> &gradients);
  Status CheckLearningRate(float learning_rate) const;
  float LearningRate(const std::string &variable) const;
  void SetLearningRate(const std::string &variable, float learning_rate);
  void ClearSums();
  bool AddGradients();
  void LookAtLosses();
  void SetLossScale();
  std::vector<mindspore::MSTensor> Show(const std::vector<std::string> &names) const;
  Status SetVariables(const std::vector<mindspore::MSTensor> &values, const std::vector<std::string> &known);
  std::vector<std::string> settings_names() const;
  const OutputSlot &GradientSlot(const Session &session, size_t index) const {
    return session.outputs()[loss_count_ + prediction_names_.size() + index];
  }
  const TensorShape &GradientShape(size_t index) const;

  std::shared_ptr<const Bytes> file_;
  bool evaluates_in_half_;
  mindspore::TrainCfg config_;
  bool is_mixed_;  // precision
  LossScale loss_scale_;
  std::vector<std::string> loss_names_;
  const KernelLists inference_kernels_;  // of the options, without those of training
  SessionOptions options_;
  std::vector<TensorShape> shapes_;  // of the inputs, when they have been resized
  size_t loss_count_ = 0;
  bool keeps_predictions_ = false;
  std::vector<std::string> prediction_names_;
  std::vector<TrainedWeight> weights_;
  std::vector<std::string> gradient_names_;
  bool file_keeps_gradients_ = true;          // as it was converted
  std::set<std::string> zero_momenta_;        // variables: sparse steps rely on it
  std::vector<std::string> inference_names_;  // the variables that inference reads

  std::shared_ptr<Session> step_;          // forward, backward and updates; none in mixed precision
  std::shared_ptr<Session> accumulation_;  // without updates; when it was needed once
  std::shared_ptr<Session> updates_;       // alone; likewise
  std::shared_ptr<Session> evaluation_;    // with the weights as constants, as they are now; null while training
  bool may_evaluate_ = false;              // `evaluation_` can run; until it has to, it takes no memory for that
  const std::shared_ptr<Session> *running_ = &evaluation_;
  bool is_training_ = false;
  bool losses_are_finite_ = true;  // as far as steps have shown
  bool is_fresh_ = false;          // in training: no step has been run since it evaluated

  int multiplier_ = 1;                                 // of the batch
  std::map<std::string, float> plain_learning_rates_;  // by variable, before there was a virtual batch
  float batch_norm_momentum_ = -1.0f;  // in virtual batches; negative: that of the file divided by the multiplier
  int accumulated_ = 0;                // steps in `sums_`
  std::vector<std::vector<float>> sums_;
};
}  // namespace mslite

#endif
