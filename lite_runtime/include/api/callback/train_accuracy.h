#ifndef MINDSPORE_INCLUDE_API_CALLBACK_TRAIN_ACCURACY_H
#define MINDSPORE_INCLUDE_API_CALLBACK_TRAIN_ACCURACY_H

#include <climits>
#include <vector>

#include "include/api/callback/callback.h"
#include "include/api/metrics/accuracy.h"

namespace mindspore {
/// The accuracy of each epoch: in training of what each step computes its loss of, with the weights that it begins
/// with. `output_indexes[0]` is the place among the outputs of evaluation, `input_indexes[0]` that of the labels among
/// the inputs.
class MS_API TrainAccuracy : public TrainCallBack {
 public:
  explicit TrainAccuracy(int print_every_n = INT_MAX, int accuracy_metrics = METRICS_CLASSIFICATION,
                         const std::vector<int> &input_indexes = {1}, const std::vector<int> &output_indexes = {0});
  void Begin(const TrainCallBackData &data) override;
  void EpochBegin(const TrainCallBackData &data) override;
  CallbackRetValue EpochEnd(const TrainCallBackData &data) override;
  void StepEnd(const TrainCallBackData &data) override;

  const std::vector<GraphPoint> &GetAccuracyPoints() { return accuracies_; }

 private:
  int print_every_n_;
  AccuracyMetrics metrics_;
  std::vector<GraphPoint> accuracies_;
};
using ClassificationTrainAccuracyMonitor = TrainAccuracy;
}  // namespace mindspore

#endif
