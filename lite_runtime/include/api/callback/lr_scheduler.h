#ifndef MINDSPORE_INCLUDE_API_CALLBACK_LR_SCHEDULER_H
#define MINDSPORE_INCLUDE_API_CALLBACK_LR_SCHEDULER_H

#include <functional>

#include "include/api/callback/callback.h"

namespace mindspore {
constexpr int DONT_UPDATE_LR = 0;
constexpr int UPDATE_LR = 1;

/// May change the learning rate after epoch `epoch`; UPDATE_LR when it has.
using LR_Lambda = std::function<int(float *lr, int epoch, void *cb_data)>;

/// Multiplies by the float at `multiplication`.
MS_API int MultiplicativeLRLambda(float *lr, int epoch, void *multiplication);

struct StepLRLambda {
  StepLRLambda(int step, float g) : step_size(step), gamma(g) {}
  int step_size;  ///< in epochs
  float gamma;
};
/// Multiplies by `gamma` after every `step_size` epochs; `step_size` is a StepLRLambda.
MS_API int StepLRLambda(float *lr, int epoch, void *step_size);

/// Asks the function after every `step` epochs.
class MS_API LRScheduler : public TrainCallBack {
 public:
  explicit LRScheduler(LR_Lambda lambda_func, void *lr_cb_data = nullptr, int step = 1);
  CallbackRetValue EpochEnd(const TrainCallBackData &data) override;

 private:
  LR_Lambda lambda_;
  void *lambda_data_;
  int step_;
};
}  // namespace mindspore

#endif
