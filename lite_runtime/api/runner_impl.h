// ModelParallelRunnerImpl: the workers of a runner, its request queue and dynamic batching.
#ifndef MSLITE_API_RUNNER_IMPL_H
#define MSLITE_API_RUNNER_IMPL_H

#include <functional>
#include <memory>
#include <vector>

#include "api/request_queue.h"
#include "api/runner_batches.h"
#include "api/runner_workers.h"
#include "api/shared_models.h"
#include "include/api/model_parallel_runner.h"

namespace mindspore {
// A request uses an idle worker and runs on the caller's thread. Requests of StartPredict run on threads of the runner.
class ModelParallelRunnerImpl {
 public:
  ModelParallelRunnerImpl() = default;
  ~ModelParallelRunnerImpl();
  ModelParallelRunnerImpl(const ModelParallelRunnerImpl &) = delete;
  ModelParallelRunnerImpl &operator=(const ModelParallelRunnerImpl &) = delete;

  using Open = std::function<Status(const mslite::OpenSettings &settings, std::shared_ptr<mslite::SharedModel> *model)>;
  // Reads the settings and opens the model.
  Status Init(const Open &open, const std::shared_ptr<RunnerConfig> &config);
  Status Predict(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs, const MSKernelCallBack &before,
                 const MSKernelCallBack &after, mslite::Request *request);
  Status Replace(const std::shared_ptr<mslite::SharedModel> &model);

  // Returns the inputs or outputs without data.
  std::vector<MSTensor> Describe(bool inputs) const;
  mslite::RequestQueue &requests() { return *requests_; }
  // Returns the settings for opening a new model of the runner.
  const mslite::OpenSettings &open_settings() const { return open_settings_; }

 private:
  Status ReadSettings(const std::shared_ptr<RunnerConfig> &config);
  Status RunOnWorker(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs,
                     const MSKernelCallBack &before, const MSKernelCallBack &after, int32_t priority,
                     mslite::Request *request);

  std::vector<std::shared_ptr<Context>> contexts_;  // one for each worker
  mslite::ConfigSections sections_;
  mslite::OpenSettings open_settings_;
  mslite::BatchSettings batches_;
  std::unique_ptr<mslite::WorkerQueue> desk_;
  std::unique_ptr<mslite::Batcher> batcher_;  // null: every request runs alone
  std::unique_ptr<mslite::RequestQueue> requests_;
};
}  // namespace mindspore

#endif
