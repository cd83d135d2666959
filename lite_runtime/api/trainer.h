// What libmindspore-lite-train adds to a model that is built for training.
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
  std::shared_ptr<const Bytes> backbone;  // that comes before, and does not learn; or null
  mindspore::TrainCfg config;
  SessionOptions options;
};

// For C that mslite-codegen has made with keep_original_weight.
struct MicroWeightSettings {
  bool half = false;                    // as float16
  std::vector<std::string> changeable;  // as changeable_weights_name says; none: all
};

struct ExportSettings {
  bool inference_only = true;
  bool quantized_weights = false;
  std::vector<std::string> outputs;  // of inference, by names of tensors or nodes; none: all
};

// The sessions of a training graph, which share weights and states. One call at a time.
class Trainer {
 public:
  Trainer() = default;
  Trainer(const Trainer &) = delete;
  Trainer &operator=(const Trainer &) = delete;
  virtual ~Trainer() = default;

  // What calls change, but for the contents of variables. A call that fails, or whose results cannot be shown, is
  // undone with what was saved before it: calls change variables last, when nothing can fail any more.
  class State {
   public:
    virtual ~State() = default;
  };
  virtual std::unique_ptr<State> Save() const = 0;
  virtual void Restore(std::unique_ptr<State> state) noexcept = 0;

  // What the model runs now, and how many of its first outputs are the model's. Both may change with every other call.
  virtual const std::shared_ptr<Session> &session() const = 0;
  virtual size_t output_count() const = 0;

  // Between training, where a run is a step, and evaluation, where it computes what the loss is computed of.
  virtual Status SetTrainMode(bool train) = 0;
  virtual bool is_training() const = 0;
  virtual Status Resize(const std::vector<TensorShape> &inputs) = 0;
  // Before each run of the session, in whose place there may be another one then, with the same inputs and outputs. On
  // failure all stays as it was.
  virtual Status PrepareRun() = 0;
  // After each run of the session that succeeded. Errors: kLiteOpExecuteFailure for a gradient of another type or shape
  // than its weight; those of the updates.
  virtual Status FinishRun() = 0;

  // From the next step on, steps keep what inference gives, as they compute it.
  virtual Status KeepPredictions() = 0;
  // Of the last step, in memory that holds until the next call; none before it.
  virtual std::vector<mindspore::MSTensor> Predictions() const = 0;

  // In the order of the optimizers. Those that show memory of the trainer hold until its next call.
  // Errors: kLiteNotSupport where each is given up as soon as its weight is updated.
  virtual Status Gradients(std::vector<mindspore::MSTensor> *gradients) const = 0;
  virtual std::vector<mindspore::MSTensor> TrainableParams() const = 0;
  virtual std::vector<mindspore::MSTensor> FeatureMaps() const = 0;
  virtual std::vector<mindspore::MSTensor> OptimizerParams() const = 0;
  // Updates the weights by these gradients. Errors: kLiteParamInvalid for names or sizes that do not fit.
  virtual Status ApplyGradients(const std::vector<mindspore::MSTensor> &gradients) = 0;
  // Gives variables other contents. Errors: kLiteParamInvalid for names, types or sizes that do not fit.
  virtual Status UpdateFeatureMaps(const std::vector<mindspore::MSTensor> &weights) = 0;
  virtual Status SetOptimizerParams(const std::vector<mindspore::MSTensor> &params) = 0;
  virtual Status SetLearningRate(float learning_rate) = 0;
  virtual float learning_rate() const = 0;
  virtual Status SetupVirtualBatch(int multiplier, float learning_rate, float momentum) = 0;

  // Whole epochs, by the model's own functions: not within one call of them.
  virtual Status Train(mindspore::Model *model, int epochs, const std::shared_ptr<mindspore::dataset::Dataset> &dataset,
                       const std::vector<mindspore::TrainCallBack *> &callbacks) = 0;
  virtual Status Evaluate(mindspore::Model *model, const std::shared_ptr<mindspore::dataset::Dataset> &dataset,
                          const std::vector<mindspore::TrainCallBack *> &callbacks) = 0;
  std::vector<mindspore::Metrics *> metrics;  // of evaluations; the caller's

  // The bytes of a `.ms` file of what is there now.
  virtual Status Export(const ExportSettings &settings, std::vector<uint8_t> *model) const = 0;
  // The same into a file, which is there whole or as it was.
  virtual Status Export(const ExportSettings &settings, const std::string &path) const = 0;
  // The weights of inference, as generated C reads them, into a file; likewise. Errors: kLiteInputParamInvalid for
  // names of no weights; kLiteParamInvalid for weights beyond float16.
  virtual Status ExportMicroWeights(const MicroWeightSettings &settings, const std::string &path) const = 0;
  // What low-rank adapters have learned, and nothing else. Errors: kLiteNotSupport where the model has none.
  virtual Status ExportAdapter(const std::string &path) const = 0;
};

// What libmindspore-lite-train has under the name mslite_create_trainer; it sets `status`.
using CreateTrainerFunction = void (*)(const TrainerSettings &settings, std::unique_ptr<Trainer> *trainer,
                                       Status *status);

// Finds libmindspore-lite-train, linked to the program or beside this library, and makes a trainer.
// Errors: kLiteNotSupport without that library; those of the trainer: kLiteGraphFileError for a file that is no
// training model, kLiteNotFindOp naming every node that cannot run.
MSLITE_INTERNAL_API Status CreateTrainer(const TrainerSettings &settings, std::unique_ptr<Trainer> *trainer);
}  // namespace mslite

#endif
