/// ModelParallelRunner: runs several requests of one model at the same time. The workers share the packed weights.
#ifndef MINDSPORE_INCLUDE_API_MODEL_PARALLEL_RUNNER_H
#define MINDSPORE_INCLUDE_API_MODEL_PARALLEL_RUNNER_H

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "include/api/context.h"
#include "include/api/status.h"
#include "include/api/types.h"

namespace mindspore {
/// The configuration of a ModelParallelRunner.
class MS_API RunnerConfig {
 public:
  struct Data;
  RunnerConfig();
  ~RunnerConfig();

  /// Sets the number of workers: the requests that run at the same time. 0: the available cores divided by the threads
  /// of one worker.
  void SetWorkersNum(int32_t workers_num);
  int32_t GetWorkersNum() const;
  void SetContext(const std::shared_ptr<Context> &context);
  std::shared_ptr<Context> GetContext() const;
  /// Adds a section to the configuration. Section "dynamic_batching" is an mslite extension: requests that arrive
  /// within max_queue_delay_microseconds are run as one batch, with at most max_batch_size in the first dimension.
  void SetConfigInfo(const std::string &section, const std::map<std::string, std::string> &config);
  std::map<std::string, std::map<std::string, std::string>> GetConfigInfo() const;
  void SetConfigPath(const std::string &config_path);
  std::string GetConfigPath() const;
  void SetDeviceIds(const std::vector<uint32_t> &device_ids);
  std::vector<uint32_t> GetDeviceIds() const;

 private:
  std::shared_ptr<Data> data_;
};

class ModelParallelRunnerImpl;

/// A set of workers for one model.
class MS_API ModelParallelRunner {
 public:
  ModelParallelRunner();
  ~ModelParallelRunner();

  Status Init(const std::string &model_path, const std::shared_ptr<RunnerConfig> &runner_config = nullptr);
  Status Init(const void *model_data, size_t data_size, const std::shared_ptr<RunnerConfig> &runner_config = nullptr);
  std::vector<MSTensor> GetInputs();
  std::vector<MSTensor> GetOutputs();
  /// Runs a request on an idle worker, and waits for one if all are busy. Each request has its own output tensors. If
  /// `outputs` already has tensors with data, the results are written to them. Errors: kLiteServiceDeny if 1000
  /// requests are waiting.
  Status Predict(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs,
                 const MSKernelCallBack &before = nullptr, const MSKernelCallBack &after = nullptr);

  /// Runs a request on a thread of the runner, with the rules of Model::PredictAsync. include/mslite/async_run.h has
  /// functions with priorities and cancellation. mslite extension.
  std::future<Status> PredictAsync(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs);
  void PredictAsync(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs,
                    const std::function<void(const Status &)> &done);

 private:
  friend class ModelAccess;
  std::shared_ptr<ModelParallelRunnerImpl> impl_;
};
}  // namespace mindspore

#endif
