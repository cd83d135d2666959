#include "include/api/model_parallel_runner.h"

#include "api/log.h"
#include "api/runner_impl.h"
#include "api/shared_models.h"

namespace mindspore {
namespace {
using mslite::Fail;
using mslite::Guard;

Status NotInitialised() {
  return Guard([] { return Fail(kLiteUninitializedObj, "the runner is not initialized"); });
}
}  // namespace

struct RunnerConfig::Data {
  int32_t workers = 0;
  std::shared_ptr<Context> context;
  std::map<std::string, std::map<std::string, std::string>> config;
  std::string config_path;
  std::vector<uint32_t> device_ids;
};

RunnerConfig::RunnerConfig() : data_(std::make_shared<Data>()) {}
RunnerConfig::~RunnerConfig() = default;
void RunnerConfig::SetWorkersNum(int32_t workers_num) { data_->workers = workers_num; }
int32_t RunnerConfig::GetWorkersNum() const { return data_->workers; }
void RunnerConfig::SetContext(const std::shared_ptr<Context> &context) { data_->context = context; }
std::shared_ptr<Context> RunnerConfig::GetContext() const { return data_->context; }
void RunnerConfig::SetConfigInfo(const std::string &section, const std::map<std::string, std::string> &config) {
  mslite::LogFailure([&] { data_->config[section] = config; });
}
std::map<std::string, std::map<std::string, std::string>> RunnerConfig::GetConfigInfo() const { return data_->config; }
void RunnerConfig::SetConfigPath(const std::string &config_path) {
  mslite::LogFailure([&] { data_->config_path = config_path; });
}
std::string RunnerConfig::GetConfigPath() const { return data_->config_path; }
void RunnerConfig::SetDeviceIds(const std::vector<uint32_t> &device_ids) {
  mslite::LogFailure([&] { data_->device_ids = device_ids; });
}
std::vector<uint32_t> RunnerConfig::GetDeviceIds() const { return data_->device_ids; }

namespace {
Status InitWith(std::shared_ptr<ModelParallelRunnerImpl> *impl, const std::shared_ptr<RunnerConfig> &config,
                const ModelParallelRunnerImpl::Open &open) {
  return mslite::Logged(Guard([&]() -> Status {
    if (*impl != nullptr) return Fail(kLiteModelRebuild, "the runner is already initialized");
    auto result = std::make_shared<ModelParallelRunnerImpl>();
    MSLITE_TRY(result->Init(open, config));
    *impl = std::move(result);
    return kSuccess;
  }));
}
}  // namespace

ModelParallelRunner::ModelParallelRunner() = default;
ModelParallelRunner::~ModelParallelRunner() = default;

Status ModelParallelRunner::Init(const std::string &model_path, const std::shared_ptr<RunnerConfig> &runner_config) {
  return InitWith(&impl_, runner_config,
                  [&](const mslite::OpenSettings &settings, std::shared_ptr<mslite::SharedModel> *model) {
                    return mslite::OpenModel(model_path, settings, model);
                  });
}

Status ModelParallelRunner::Init(const void *model_data, size_t data_size,
                                 const std::shared_ptr<RunnerConfig> &runner_config) {
  return InitWith(&impl_, runner_config,
                  [&](const mslite::OpenSettings &settings, std::shared_ptr<mslite::SharedModel> *model) {
                    return mslite::OpenModel(model_data, data_size, settings, model);
                  });
}

std::vector<MSTensor> ModelParallelRunner::GetInputs() {
  return mslite::CallOrDefault([&] { return impl_ == nullptr ? std::vector<MSTensor>() : impl_->Describe(true); });
}

std::vector<MSTensor> ModelParallelRunner::GetOutputs() {
  return mslite::CallOrDefault([&] { return impl_ == nullptr ? std::vector<MSTensor>() : impl_->Describe(false); });
}

Status ModelParallelRunner::Predict(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs,
                                    const MSKernelCallBack &before, const MSKernelCallBack &after) {
  if (impl_ == nullptr) return NotInitialised();
  if (outputs == nullptr) return Guard([] { return Fail(kLiteNullptr, "outputs is null"); });
  const std::shared_ptr<ModelParallelRunnerImpl> impl = impl_;  // keeps it alive until the request has ended
  return impl->Predict(inputs, outputs, before, after, nullptr);
}

std::future<Status> ModelParallelRunner::PredictAsync(const std::vector<MSTensor> &inputs,
                                                      std::vector<MSTensor> *outputs) {
  return mslite::SubmitForFuture(impl_ == nullptr ? nullptr : &impl_->requests(), NotInitialised(), inputs, outputs);
}

void ModelParallelRunner::PredictAsync(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs,
                                       const std::function<void(const Status &)> &done) {
  mslite::Submit(impl_ == nullptr ? nullptr : &impl_->requests(), NotInitialised(), inputs, outputs, done, 0);
}
}  // namespace mindspore
