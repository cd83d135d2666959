#ifndef MINDSPORE_INCLUDE_API_CALLBACK_LOSS_MONITOR_H
#define MINDSPORE_INCLUDE_API_CALLBACK_LOSS_MONITOR_H

#include <climits>
#include <vector>

#include "include/api/callback/callback.h"

namespace mindspore {
/// Keeps the mean loss of each epoch, and prints the loss of every n-th step (0: of none) and of each epoch.
class MS_API LossMonitor : public TrainCallBack {
 public:
  explicit LossMonitor(int print_every_n_steps = INT_MAX);
  void Begin(const TrainCallBackData &data) override;
  void EpochBegin(const TrainCallBackData &data) override;
  CallbackRetValue EpochEnd(const TrainCallBackData &data) override;
  void StepEnd(const TrainCallBackData &data) override;

  const std::vector<GraphPoint> &GetLossPoints() { return losses_; }

 private:
  int print_every_n_steps_;
  double sum_ = 0;
  int steps_ = 0;
  std::vector<GraphPoint> losses_;
};
}  // namespace mindspore

#endif
