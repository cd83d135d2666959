/// Many requests at once over one set of packed weights.
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
class MS_API RunnerConfig {
 public:
  struct Data;
  RunnerConfig();
  ~RunnerConfig();

  /// Requests that run at the same time; 0: usable cores divided by the threads of one.
  void SetWorkersNum(int32_t workers_num);
  int32_t GetWorkersNum() const;
  void SetContext(const std::shared_ptr<Context> &context);
  std::shared_ptr<Context> GetContext() const;
  /// Section "dynamic_batching" (beyond MindSpore Lite): requests that come within max_queue_delay_microseconds run as
  /// one, of up to max_batch_size rows in the first dimension.
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

class MS_API ModelParallelRunner {
 public:
  ModelParallelRunner();
  ~ModelParallelRunner();

  Status Init(const std::string &model_path, const std::shared_ptr<RunnerConfig> &runner_config = nullptr);
  Status Init(const void *model_data, size_t data_size, const std::shared_ptr<RunnerConfig> &runner_config = nullptr);
  std::vector<MSTensor> GetInputs();
  std::vector<MSTensor> GetOutputs();
  /// Runs on an idle worker, waiting for one if need be. Each request gets output tensors of its own; those of the
  /// caller that have memory are written in place. Errors: kLiteServiceDeny when 1000 requests wait already.
  Status Predict(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs,
                 const MSKernelCallBack &before = nullptr, const MSKernelCallBack &after = nullptr);

  /// Runs on a thread of the runner, as Model::PredictAsync does on one of the model. include/mslite/async_run.h has
  /// priorities and cancellation. Beyond MindSpore Lite.
  std::future<Status> PredictAsync(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs);
  void PredictAsync(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs,
                    const std::function<void(const Status &)> &done);

 private:
  friend class ModelAccess;
  std::shared_ptr<ModelParallelRunnerImpl> impl_;
};
}  // namespace mindspore

#endif
