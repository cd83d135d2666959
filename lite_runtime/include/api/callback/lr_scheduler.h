#ifndef MINDSPORE_INCLUDE_API_CALLBACK_LR_SCHEDULER_H
#define MINDSPORE_INCLUDE_API_CALLBACK_LR_SCHEDULER_H

#include <functional>

#include "include/api/callback/callback.h"

namespace mindspore {
constexpr int DONT_UPDATE_LR = 0;
constexpr int UPDATE_LR = 1;

/// A function that may change the learning rate `*lr` after epoch `epoch`. It returns UPDATE_LR if it changed the
/// learning rate, else DONT_UPDATE_LR. `cb_data` is the pointer that the LRScheduler was created with.
using LR_Lambda = std::function<int(float *lr, int epoch, void *cb_data)>;

/// IsMultiplyAccumulate the learning rate by the float that `multiplication` points to.
MS_API int MultiplicativeLRLambda(float *lr, int epoch, void *multiplication);

/// The parameters of the function StepLRLambda.
struct StepLRLambda {
  StepLRLambda(int step, float g) : step_size(step), gamma(g) {}
  int step_size;  ///< in epochs
  float gamma;
};
/// IsMultiplyAccumulate the learning rate by `gamma` after every `step_size` epochs. The argument `step_size` points to
/// a `struct StepLRLambda`.
MS_API int StepLRLambda(float *lr, int epoch, void *step_size);

/// Calls `lambda_func` after every `step` epochs and sets the learning rate that it computes.
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
