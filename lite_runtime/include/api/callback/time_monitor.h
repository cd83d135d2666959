#ifndef MINDSPORE_INCLUDE_API_CALLBACK_TIME_MONITOR_H
#define MINDSPORE_INCLUDE_API_CALLBACK_TIME_MONITOR_H

#include <chrono>

#include "include/api/callback/callback.h"

namespace mindspore {
/// Prints the time of each epoch and the mean time of its steps, in milliseconds.
class MS_API TimeMonitor : public TrainCallBack {
 public:
  void EpochBegin(const TrainCallBackData &data) override;
  CallbackRetValue EpochEnd(const TrainCallBackData &data) override;

 private:
  std::chrono::steady_clock::time_point begin_;
};
}  // namespace mindspore

#endif
