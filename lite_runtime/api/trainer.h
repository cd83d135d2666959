// Trainer: the interface of libmindspore-lite-train for a model that is built for training.
#ifndef MSLITE_API_TRAINER_H
#define MSLITE_API_TRAINER_H

#include <memory>
#include <string>
#include <vector>

#include "exec/session.h"
#include "include/api/cfg.h"
#include "include/api/model.h"
#include "include/api/types.h"

namespace mslite {
struct TrainerSettings {
  std::shared_ptr<const Bytes> file;
  std::shared_ptr<const Bytes> backbone;  // a frozen model before the training model; or null
  mindspore::TrainCfg config;
  SessionOptions options;
};

// Settings for the weight file of C that mslite-codegen has generated with keep_original_weight.
struct MicroWeightSettings {
  bool half = false;                    // store weights as float16
  std::vector<std::string> changeable;  // changeable_weights_name; empty: all
};

struct ExportSettings {
  bool inference_only = true;
  bool quantized_weights = false;
  std::vector<std::string> outputs;  // of the inference graph: names of tensors or nodes; empty: all
};

// The sessions of a training graph, which share weights and states. Not thread-safe.
class Trainer {
 public:
  Trainer() = default;
  Trainer(const Trainer &) = delete;
  Trainer &operator=(const Trainer &) = delete;
  virtual ~Trainer() = default;

  // The state of the trainer without the values of variables. It is saved before a call and restored if the call fails
  // or the output tensors cannot be updated. Calls change variables last, when nothing can fail any more.
  class State {
   public:
    virtual ~State() = default;
  };
  virtual std::unique_ptr<State> Save() const = 0;
  virtual void Restore(std::unique_ptr<State> state) noexcept = 0;

  // Return the current session, and how many of its first outputs are outputs of the model. Both may change with every
  // non-const call.
  virtual const std::shared_ptr<Session> &session() const = 0;
  virtual size_t output_count() const = 0;

  // Switches between training mode, in which a run is a training step, and evaluation mode, in which a run computes the
  // inputs of the loss.
  virtual Status SetTrainMode(bool train) = 0;
  virtual bool is_training() const = 0;
  virtual Status Resize(const std::vector<TensorShape> &inputs) = 0;
  // Called before each run. It may replace the session by one with the same inputs and outputs. On failure, nothing
  // changes.
  virtual Status PrepareRun() = 0;
  // Called after each successful run. Errors: kLiteOpExecuteFailure for a gradient with another type or shape than its
  // weight; errors of the updates.
  virtual Status FinishRun() = 0;

  // Makes training steps keep the outputs of inference that they compute.
  virtual Status KeepPredictions() = 0;
  // Returns the predictions of the last step. They are valid until the next call; empty before the first step.
  virtual std::vector<mindspore::MSTensor> Predictions() const = 0;

  // Return tensors in the order of the optimizers. Tensors in memory of the trainer are valid until its next call.
  // Errors: kLiteNotSupport if gradients are not kept after their weights have been updated.
  virtual Status Gradients(std::vector<mindspore::MSTensor> *gradients) const = 0;
  virtual std::vector<mindspore::MSTensor> TrainableParams() const = 0;
  virtual std::vector<mindspore::MSTensor> FeatureMaps() const = 0;
  virtual std::vector<mindspore::MSTensor> OptimizerParams() const = 0;
  // Updates the weights with gradients. Errors: kLiteParamInvalid for wrong names or sizes.
  virtual Status ApplyGradients(const std::vector<mindspore::MSTensor> &gradients) = 0;
  // Replaces the values of variables. Errors: kLiteParamInvalid for wrong names, types or sizes.
  virtual Status UpdateFeatureMaps(const std::vector<mindspore::MSTensor> &weights) = 0;
  virtual Status SetOptimizerParams(const std::vector<mindspore::MSTensor> &params) = 0;
  virtual Status SetLearningRate(float learning_rate) = 0;
  virtual float learning_rate() const = 0;
  virtual Status SetupVirtualBatch(int multiplier, float learning_rate, float momentum) = 0;

  // Run whole epochs with functions of the model, so they must be called without its lock.
  virtual Status Train(mindspore::Model *model, int epochs, const std::shared_ptr<mindspore::dataset::Dataset> &dataset,
                       const std::vector<mindspore::TrainCallBack *> &callbacks) = 0;
  virtual Status Evaluate(mindspore::Model *model, const std::shared_ptr<mindspore::dataset::Dataset> &dataset,
                          const std::vector<mindspore::TrainCallBack *> &callbacks) = 0;
  std::vector<mindspore::Metrics *> metrics;  // for Evaluate; owned by the caller

  // Returns the bytes of a `.ms` file with the current weights.
  virtual Status Export(const ExportSettings &settings, std::vector<uint8_t> *model) const = 0;
  // The same to a file, which is replaced atomically.
  virtual Status Export(const ExportSettings &settings, const std::string &path) const = 0;
  // Writes the inference weights to a weight file of generated C, which is replaced atomically. Errors:
  // kLiteInputParamInvalid for unknown names; kLiteParamInvalid for weights outside the range of float16.
  virtual Status ExportMicroWeights(const MicroWeightSettings &settings, const std::string &path) const = 0;
  // Writes the low-rank adapters. Errors: kLiteNotSupport if the model has none.
  virtual Status ExportAdapter(const std::string &path) const = 0;
};

// The type of the function mslite_create_trainer in libmindspore-lite-train, which sets `status`.
using CreateTrainerFunction = void (*)(const TrainerSettings &settings, std::unique_ptr<Trainer> *trainer,
                                       Status *status);

// Finds libmindspore-lite-train, which is linked to the program or is in the folder of this library, and creates a
// trainer. Errors: kLiteNotSupport without that library; kLiteGraphFileError for a file that is not a training model;
// kLiteNotFindOp, with all unsupported nodes.
MSLITE_INTERNAL_API Status CreateTrainer(const TrainerSettings &settings, std::unique_ptr<Trainer> *trainer);
}  // namespace mslite

#endif
