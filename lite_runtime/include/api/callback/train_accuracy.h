#ifndef MINDSPORE_INCLUDE_API_CALLBACK_TRAIN_ACCURACY_H
#define MINDSPORE_INCLUDE_API_CALLBACK_TRAIN_ACCURACY_H

#include <climits>
#include <vector>

#include "include/api/callback/callback.h"
#include "include/api/metrics/accuracy.h"

namespace mindspore {
/// Computes the accuracy of each epoch, and prints it after every n-th step. In training, it uses the predictions from
/// which each step computes its loss, before the step updates the weights. `output_indexes[0]` is the index of the
/// predictions among the outputs in evaluation mode, `input_indexes[0]` the index of the labels among the inputs.
class MS_API TrainAccuracy : public TrainCallBack {
 public:
  explicit TrainAccuracy(int print_every_n = INT_MAX, int accuracy_metrics = METRICS_CLASSIFICATION,
                         const std::vector<int> &input_indexes = {1}, const std::vector<int> &output_indexes = {0});
  void Begin(const TrainCallBackData &data) override;
  void EpochBegin(const TrainCallBackData &data) override;
  CallbackRetValue EpochEnd(const TrainCallBackData &data) override;
  void StepEnd(const TrainCallBackData &data) override;

  /// Returns the accuracy of each epoch.
  const std::vector<GraphPoint> &GetAccuracyPoints() { return accuracies_; }

 private:
  int print_every_n_;
  AccuracyMetrics metrics_;
  std::vector<GraphPoint> accuracies_;
};
using ClassificationTrainAccuracyMonitor = TrainAccuracy;
}  // namespace mindspore

#endif
