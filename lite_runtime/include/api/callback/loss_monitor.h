#ifndef MINDSPORE_INCLUDE_API_CALLBACK_LOSS_MONITOR_H
#define MINDSPORE_INCLUDE_API_CALLBACK_LOSS_MONITOR_H

#include <climits>
#include <vector>

#include "include/api/callback/callback.h"

namespace mindspore {
/// Records the mean loss of each epoch. Prints the loss of every n-th step and the mean loss of each epoch; n = 0
/// prints nothing.
class MS_API LossMonitor : public TrainCallBack {
 public:
  explicit LossMonitor(int print_every_n_steps = INT_MAX);
  void Begin(const TrainCallBackData &data) override;
  void EpochBegin(const TrainCallBackData &data) override;
  CallbackRetValue EpochEnd(const TrainCallBackData &data) override;
  void StepEnd(const TrainCallBackData &data) override;

  /// Returns the mean loss of each epoch.
  const std::vector<GraphPoint> &GetLossPoints() { return losses_; }

 private:
  int print_every_n_steps_;
  double sum_ = 0;
  int steps_ = 0;
  std::vector<GraphPoint> losses_;
};
}  // namespace mindspore

#endif
