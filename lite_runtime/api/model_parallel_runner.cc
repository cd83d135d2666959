#include "include/api/model_parallel_runner.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "api/log.h"
#include "api/model_impl.h"
#include "api/shared_models.h"

namespace mindspore {
namespace {
using mslite::Fail;
using mslite::Guard;

constexpr int32_t kWorkersPerCore = 5;

int32_t AutomaticThreads(int32_t cores) { return cores <= 16 ? std::max(cores / 2, int32_t{1}) : 8; }
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
  data_->config[section] = config;
}
std::map<std::string, std::map<std::string, std::string>> RunnerConfig::GetConfigInfo() const { return data_->config; }
void RunnerConfig::SetConfigPath(const std::string &config_path) { data_->config_path = config_path; }
std::string RunnerConfig::GetConfigPath() const { return data_->config_path; }
void RunnerConfig::SetDeviceIds(const std::vector<uint32_t> &device_ids) { data_->device_ids = device_ids; }
std::vector<uint32_t> RunnerConfig::GetDeviceIds() const { return data_->device_ids; }

// Workers are sessions over one shared model; a request takes an idle one and runs on the caller's thread.
class ModelParallelRunnerImpl {
 public:
  Status Init(std::shared_ptr<mslite::SharedModel> model, const std::shared_ptr<RunnerConfig> &config) {
    if (config != nullptr) MSLITE_TRY(CheckSettings(*config));
    const int32_t cores = mslite::UsableCores();
    std::shared_ptr<Context> context = config == nullptr ? nullptr : config->GetContext();
    if (context == nullptr) {
      context = std::make_shared<Context>();
      context->SetThreadNum(AutomaticThreads(cores));
      context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
    } else if (context->GetThreadNum() == 0) {
      context->SetThreadNum(AutomaticThreads(cores));
    }
    int32_t workers = config == nullptr ? 0 : config->GetWorkersNum();
    if (workers < 0 || workers > kWorkersPerCore * cores) {
      return Fail(kLiteParamInvalid, mslite::Format("workers number %d is outside of 0..%d", static_cast<int>(workers),
                                                    static_cast<int>(kWorkersPerCore * cores)));
    }
    if (workers == 0) workers = std::max(cores / std::max(context->GetThreadNum(), int32_t{1}), int32_t{1});
    std::vector<std::unique_ptr<ModelImpl>> built;
    for (int32_t i = 0; i < workers; ++i) {
      built.push_back(std::make_unique<ModelImpl>());
      MSLITE_TRY(built.back()->Build(model, context));
    }
    workers_ = std::move(built);
    for (const auto &worker : workers_) idle_.push_back(worker.get());
    return kSuccess;
  }

  Status Predict(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs, const MSKernelCallBack &before,
                 const MSKernelCallBack &after) {
    ModelImpl *worker = Take();
    const Status status = Guard([&]() -> Status {
      std::vector<MSTensor> results;
      MSLITE_TRY(worker->Predict(inputs, &results, before, after));
      outputs->clear();
      for (const MSTensor &result : results) {
        const std::unique_ptr<MSTensor> copy(result.Clone());
        if (copy == nullptr) return Fail(kLiteMemoryFailed, "no memory for an output");
        outputs->push_back(*copy);
      }
      return kSuccess;
    });
    Return(worker);
    return status;
  }

  bool is_ready() const { return !workers_.empty(); }
  const ModelImpl &first() const { return *workers_.front(); }

 private:
  static Status CheckSettings(const RunnerConfig &config) {
    mslite::ConfigSections sections;
    if (!config.GetConfigPath().empty()) MSLITE_TRY(mslite::ReadConfig(config.GetConfigPath(), &sections));
    for (const auto &[section, settings] : config.GetConfigInfo()) {
      for (const auto &setting : settings) MSLITE_TRY(mslite::AddSetting(section, setting, &sections));
    }
    return kSuccess;
  }

  ModelImpl *Take() {
    std::unique_lock<std::mutex> lock(mutex_);
    wake_.wait(lock, [this] { return !idle_.empty(); });
    ModelImpl *worker = idle_.front();
    idle_.pop_front();
    return worker;
  }

  void Return(ModelImpl *worker) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      idle_.push_front(worker);
    }
    wake_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::unique_ptr<ModelImpl>> workers_;
  std::deque<ModelImpl *> idle_;
};

namespace {
template <typename Open>
Status InitWith(std::shared_ptr<ModelParallelRunnerImpl> *impl, const std::shared_ptr<RunnerConfig> &config,
                Open open) {
  return mslite::Logged(Guard([&]() -> Status {
    if (*impl != nullptr) return Fail(kLiteModelRebuild, "the runner is initialised already");
    std::shared_ptr<mslite::SharedModel> model;
    MSLITE_TRY(open(&model));
    auto result = std::make_shared<ModelParallelRunnerImpl>();
    MSLITE_TRY(result->Init(std::move(model), config));
    *impl = std::move(result);
    return kSuccess;
  }));
}

// Descriptions of the tensors, not the memory of one worker.
std::vector<MSTensor> Descriptions(const std::vector<MSTensor> &tensors) {
  std::vector<MSTensor> result;
  for (const MSTensor &tensor : tensors) {
    result.emplace_back(std::make_shared<MSTensor::Impl>(tensor.Name(), tensor.DataType(), tensor.Shape()));
    result.back().SetFormat(tensor.format());
    result.back().SetQuantParams(tensor.QuantParams());
  }
  return result;
}
}  // namespace

ModelParallelRunner::ModelParallelRunner() = default;
ModelParallelRunner::~ModelParallelRunner() = default;

Status ModelParallelRunner::Init(const std::string &model_path, const std::shared_ptr<RunnerConfig> &runner_config) {
  return InitWith(&impl_, runner_config,
                  [&](std::shared_ptr<mslite::SharedModel> *model) { return mslite::OpenModel(model_path, model); });
}

Status ModelParallelRunner::Init(const void *model_data, size_t data_size,
                                 const std::shared_ptr<RunnerConfig> &runner_config) {
  return InitWith(&impl_, runner_config, [&](std::shared_ptr<mslite::SharedModel> *model) {
    return mslite::OpenModel(model_data, data_size, model);
  });
}

std::vector<MSTensor> ModelParallelRunner::GetInputs() {
  return impl_ == nullptr ? std::vector<MSTensor>() : Descriptions(impl_->first().inputs());
}

std::vector<MSTensor> ModelParallelRunner::GetOutputs() {
  return impl_ == nullptr ? std::vector<MSTensor>() : Descriptions(impl_->first().outputs());
}

Status ModelParallelRunner::Predict(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs,
                                    const MSKernelCallBack &before, const MSKernelCallBack &after) {
  if (impl_ == nullptr) return Fail(kLiteUninitializedObj, "the runner is not initialised");
  if (outputs == nullptr) return Fail(kLiteNullptr, "outputs is null");
  return impl_->Predict(inputs, outputs, before, after);
}
}  // namespace mindspore
