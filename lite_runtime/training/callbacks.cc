// The callbacks of MindSpore Lite's API.
#include <cstdio>
#include <new>

#include "api/log.h"
#include "api/model_access.h"
#include "api/model_impl.h"
#include "include/api/callback/ckpt_saver.h"
#include "include/api/callback/loss_monitor.h"
#include "include/api/callback/lr_scheduler.h"
#include "include/api/callback/time_monitor.h"
#include "include/api/callback/train_accuracy.h"
#include "include/api/serialization.h"
#include "training/pointers.h"

namespace mindspore {
namespace {
bool IsNth(unsigned int number, int every) { return every > 0 && (number + 1) % static_cast<unsigned int>(every) == 0; }

// Throws if memory is out. Train and Evaluate catch it and return the error.
Status OrThrow(Status status) {
  if (status.StatusCode() == kLiteMemoryFailed) throw std::bad_alloc();
  return status;
}
}  // namespace

CkptSaver::CkptSaver(int save_every_n, const std::string &filename_prefix)
    : save_every_n_(save_every_n), filename_prefix_(filename_prefix) {}

CallbackRetValue CkptSaver::EpochEnd(const TrainCallBackData &data) {
  if (!IsNth(data.epoch_, save_every_n_)) return kContinue;
  const std::string path = filename_prefix_ + "_trained_" + std::to_string(data.epoch_ + 1) + ".ms";
  (void)Serialization::ExportModel(*data.model_, kMindIR, path, kNoQuant, false);  // which logs errors
  return kContinue;
}

LossMonitor::LossMonitor(int print_every_n_steps) : print_every_n_steps_(print_every_n_steps) {}

void LossMonitor::Begin(const TrainCallBackData & /*data*/) { losses_.clear(); }

void LossMonitor::EpochBegin(const TrainCallBackData & /*data*/) {
  sum_ = 0;
  steps_ = 0;
}

void LossMonitor::StepEnd(const TrainCallBackData &data) {
  for (const MSTensor &output : ModelAccess::Of(*data.model_)->outputs()) {
    if (output.ElementNum() != 1 || output.DataType() != DataType::kNumberTypeFloat32) continue;
    if (output.Data() == nullptr) return;  // another callback has ended training mode
    const float loss = *static_cast<const float *>(output.Data().get());
    sum_ += loss;
    ++steps_;
    if (IsNth(data.step_, print_every_n_steps_)) {
      std::printf("epoch %u, step %u: loss %g\n", data.epoch_ + 1, data.step_ + 1, static_cast<double>(loss));
    }
    return;
  }
}

CallbackRetValue LossMonitor::EpochEnd(const TrainCallBackData &data) {
  if (steps_ == 0) return kContinue;
  losses_.emplace_back(static_cast<int>(data.epoch_), static_cast<float>(sum_ / steps_));
  if (print_every_n_steps_ > 0) {
    std::printf("epoch %u: loss %g\n", data.epoch_ + 1, static_cast<double>(losses_.back().second));
  }
  return kContinue;
}

int MultiplicativeLRLambda(float *lr, int /*epoch*/, void *multiplication) {
  if (lr == nullptr || multiplication == nullptr) return DONT_UPDATE_LR;
  *lr *= *static_cast<const float *>(multiplication);
  return UPDATE_LR;
}

int StepLRLambda(float *lr, int epoch, void *step_size) {
  if (lr == nullptr || step_size == nullptr) return DONT_UPDATE_LR;
  const auto &schedule = *static_cast<const struct StepLRLambda *>(step_size);
  if (!IsNth(static_cast<unsigned int>(epoch), schedule.step_size)) return DONT_UPDATE_LR;
  *lr *= schedule.gamma;
  return UPDATE_LR;
}

LRScheduler::LRScheduler(LR_Lambda lambda_func, void *lr_cb_data, int step)
    : lambda_(std::move(lambda_func)), lambda_data_(lr_cb_data), step_(step) {}

CallbackRetValue LRScheduler::EpochEnd(const TrainCallBackData &data) {
  if (!IsNth(data.epoch_, step_) || !lambda_) return kContinue;
  float rate = data.model_->GetLearningRate();
  if (lambda_(&rate, static_cast<int>(data.epoch_), lambda_data_) != UPDATE_LR) return kContinue;
  return OrThrow(data.model_->SetLearningRate(rate)).IsOk() ? kContinue : kStopTraining;
}

void TimeMonitor::EpochBegin(const TrainCallBackData & /*data*/) { begin_ = std::chrono::steady_clock::now(); }

CallbackRetValue TimeMonitor::EpochEnd(const TrainCallBackData &data) {
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin_;
  std::printf("epoch %u: %.3f ms, %.3f ms per step\n", data.epoch_ + 1, took.count(), took.count() / (data.step_ + 1));
  return kContinue;
}

TrainAccuracy::TrainAccuracy(int print_every_n, int accuracy_metrics, const std::vector<int> &input_indexes,
                             const std::vector<int> &output_indexes)
    : print_every_n_(print_every_n), metrics_(accuracy_metrics, input_indexes, output_indexes) {}

void TrainAccuracy::Begin(const TrainCallBackData &data) {
  accuracies_.clear();
  if (!data.train_mode_) return;
  const Status status =
      OrThrow(ModelAccess::Of(*data.model_)->WithTrainer("TrainAccuracy", [](mslite::Trainer *trainer) {
        return trainer->KeepPredictions();
      }));
  if (status.IsError()) mslite::Log(mslite::LogLevel::kError, "TrainAccuracy: " + status.GetErrDescription());
}
void TrainAccuracy::EpochBegin(const TrainCallBackData & /*data*/) { metrics_.Clear(); }

void TrainAccuracy::StepEnd(const TrainCallBackData &data) {
  const ModelImpl &model = *ModelAccess::Of(*data.model_);
  std::vector<MSTensor> inputs = model.inputs();
  std::vector<MSTensor> outputs = data.train_mode_ ? model.trainer()->Predictions() : model.outputs();
  metrics_.Update(mslite::Pointers(&inputs), mslite::Pointers(&outputs));
  if (IsNth(data.step_, print_every_n_)) {
    std::printf("epoch %u, step %u: accuracy %g\n", data.epoch_ + 1, data.step_ + 1,
                static_cast<double>(metrics_.Eval()));
  }
}

CallbackRetValue TrainAccuracy::EpochEnd(const TrainCallBackData &data) {
  accuracies_.emplace_back(static_cast<int>(data.epoch_), metrics_.Eval());
  return kContinue;
}
}  // namespace mindspore
