/// Callbacks of Model::Train and Model::Evaluate. These classes are in libmindspore-lite-train.
#ifndef MINDSPORE_INCLUDE_API_CALLBACK_CALLBACK_H
#define MINDSPORE_INCLUDE_API_CALLBACK_CALLBACK_H

#include <cstdint>
#include <utility>
#include <vector>

#include "include/api/model.h"

namespace mindspore {
/// An epoch, counted from 0, and the value of a metric.
using GraphPoint = std::pair<int, float>;

/// The argument of a callback.
struct TrainCallBackData {
  TrainCallBackData(bool train_mode, int epoch, int step, Model *model)
      : train_mode_(train_mode),
        epoch_(static_cast<unsigned int>(epoch)),
        step_(static_cast<unsigned int>(step)),
        model_(model) {}

  bool train_mode_;         ///< false in Model::Evaluate
  unsigned int epoch_ = 0;  ///< from 0
  unsigned int step_ = 0;   ///< within the epoch, from 0
  Model *model_;
};

/// Whether training continues after a callback.
enum CallbackRetValue : uint32_t {
  kContinue = 0,
  kStopTraining = 1,  ///< ends training after this epoch
  kExit = 2,          ///< ends training at once; End is not called
  kUnknownRetValue = 0xFFFFFFFF
};

/// The base class of callbacks. The functions are called at the begin and the end of the whole training, of each epoch
/// and of each training step.
class MS_API TrainCallBack {
 public:
  virtual ~TrainCallBack();
  virtual void Begin(const TrainCallBackData &) {}
  virtual void End(const TrainCallBackData &) {}
  virtual void EpochBegin(const TrainCallBackData &) {}
  virtual CallbackRetValue EpochEnd(const TrainCallBackData &) { return kContinue; }
  virtual void StepBegin(const TrainCallBackData &) {}
  virtual void StepEnd(const TrainCallBackData &) {}
};
}  // namespace mindspore

#endif
