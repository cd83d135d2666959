#include "api/runner_impl.h"

#include <algorithm>

#include "api/context_limits.h"
#include "api/input_sizes.h"
#include "api/log.h"

namespace mindspore {
namespace {
using mslite::Fail;
using mslite::Guard;

constexpr int32_t kWorkersPerCore = 5;

int32_t AutomaticThreads(int32_t cores) { return cores <= 16 ? std::max(cores / 2, int32_t{1}) : 8; }

Status CheckEqual(const char *what, const std::vector<MSTensor> &old, const std::vector<MSTensor> &given) {
  bool is_equal = old.size() == given.size();
  for (size_t i = 0; is_equal && i < old.size(); ++i) {
    is_equal = old[i].Name() == given[i].Name() && old[i].DataType() == given[i].DataType();
  }
  if (is_equal) return kSuccess;
  return Fail(kLiteParamInvalid, "the new model has other " + std::string(what) +
                                     "s than the current one; number, names and types must be equal");
}
}  // namespace

ModelParallelRunnerImpl::~ModelParallelRunnerImpl() {
  if (requests_ != nullptr) requests_->Close();
}

Status ModelParallelRunnerImpl::Init(const Open &open, const std::shared_ptr<RunnerConfig> &config) {
  MSLITE_TRY(ReadSettings(config));
  std::shared_ptr<mslite::SharedModel> model;
  MSLITE_TRY(open(open_settings_, &model));
  std::shared_ptr<mslite::WorkerSet> set;
  MSLITE_TRY(mslite::WorkerSet::Create(model, contexts_, sections_, &set));
  const bool fixes_rows = mslite::FixesRows(*model->graph);
  if (batches_.most_rows > 1 && fixes_rows) {
    mslite::Log(mslite::LogLevel::kWarning,
                "the model cannot be batched: the first dimension of an input is fixed; requests run one by one");
  }
  desk_ = std::make_unique<mslite::WorkerQueue>(std::move(set));
  if (batches_.most_rows > 1 && !fixes_rows) batcher_ = std::make_unique<mslite::Batcher>(batches_);
  requests_ = std::make_unique<mslite::RequestQueue>(
      [this](mslite::Request *request) {
        return Predict(request->inputs, request->outputs, nullptr, nullptr, request);
      },
      static_cast<int32_t>(contexts_.size()));
  return kSuccess;
}

Status ModelParallelRunnerImpl::ReadSettings(const std::shared_ptr<RunnerConfig> &config) {
  if (config != nullptr) {
    if (!config->GetConfigPath().empty()) MSLITE_TRY(mslite::ReadConfig(config->GetConfigPath(), &sections_));
    for (const auto &[section, settings] : config->GetConfigInfo()) {
      for (const auto &setting : settings) MSLITE_TRY(mslite::AddSetting(section, setting, &sections_));
    }
  }
  MSLITE_TRY(mslite::ObfuscationRatio(sections_, &open_settings_.obfuscation_ratio));
  MSLITE_TRY(mslite::BatchSettings::Read(sections_, &batches_));
  const int32_t cores = mslite::UsableCores();
  std::shared_ptr<Context> context = config == nullptr ? nullptr : config->GetContext();
  if (context == nullptr) {
    context = std::make_shared<Context>();
    context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  }
  const int32_t threads = context->GetThreadNum() == 0 ? AutomaticThreads(cores) : context->GetThreadNum();
  int32_t workers = config == nullptr ? 0 : config->GetWorkersNum();
  if (workers < 0 || workers > kWorkersPerCore * cores) {
    return Fail(kLiteParamInvalid,
                mslite::Format("the number of workers is %d; it must be in 0..%d", static_cast<int>(workers),
                               static_cast<int>(kWorkersPerCore * cores)));
  }
  if (workers == 0) workers = std::max(cores / std::max(threads, int32_t{1}), int32_t{1});
  const std::vector<int32_t> list = context->GetThreadAffinityCoreList();
  if (!list.empty() && static_cast<int64_t>(list.size()) != int64_t{workers} * threads) {
    return Fail(kLiteParamInvalid, mslite::Format("the core list has %zu entries, but %d workers of %d threads need %d",
                                                  list.size(), static_cast<int>(workers), static_cast<int>(threads),
                                                  static_cast<int>(workers * threads)));
  }
  for (int32_t i = 0; i < workers; ++i) {
    contexts_.push_back(ContextLimits::Copy(*context));
    contexts_.back()->SetThreadNum(threads);
    if (!list.empty()) {
      contexts_.back()->SetThreadAffinity(
          std::vector<int32_t>(list.begin() + i * threads, list.begin() + (i + 1) * threads));
    }
  }
  return kSuccess;
}

Status ModelParallelRunnerImpl::Predict(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs,
                                        const MSKernelCallBack &before, const MSKernelCallBack &after,
                                        mslite::Request *request) {
  const int32_t priority = request == nullptr ? 0 : request->priority;
  const auto run = [&](const std::vector<MSTensor> &given, std::vector<MSTensor> *results) {
    return RunOnWorker(given, results, before, after, priority, request);
  };
  return Guard([&]() -> Status {
    // Requests with callbacks and requests that can be canceled are not batched.
    if (batcher_ == nullptr || before || after || request != nullptr) return run(inputs, outputs);
    return batcher_->Predict(inputs, outputs, run);
  });
}

Status ModelParallelRunnerImpl::RunOnWorker(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs,
                                            const MSKernelCallBack &before, const MSKernelCallBack &after,
                                            int32_t priority, mslite::Request *request) {
  mslite::WorkerQueue::Lease worker;
  MSLITE_TRY(desk_->Take(priority, &worker));
  std::vector<MSTensor> results = *outputs;  // results are written to the caller's tensors that have memory
  for (MSTensor &result : results) {
    if (result == nullptr || result.impl()->is_shown || result.impl()->data == nullptr) result = MSTensor(nullptr);
  }
  MSLITE_TRY(worker->Predict(inputs, &results, before, after, request));
  for (MSTensor &result : results) {
    if (!result.impl()->is_shown) continue;  // memory of the caller
    const std::unique_ptr<MSTensor> copy(result.Clone());
    if (copy == nullptr) return Fail(kLiteMemoryFailed, "no memory for an output");
    result = *copy;
  }
  *outputs = std::move(results);
  return kSuccess;
}

Status ModelParallelRunnerImpl::Replace(const std::shared_ptr<mslite::SharedModel> &model) {
  std::shared_ptr<mslite::WorkerSet> set;
  MSLITE_TRY(mslite::WorkerSet::Create(model, contexts_, sections_, &set));
  const std::shared_ptr<const mslite::WorkerSet> old = desk_->set();
  MSLITE_TRY(CheckEqual("input", old->inputs, set->inputs));
  MSLITE_TRY(CheckEqual("output", old->outputs, set->outputs));
  desk_->Replace(std::move(set));
  return kSuccess;
}

std::vector<MSTensor> ModelParallelRunnerImpl::Describe(bool inputs) const {
  const std::shared_ptr<const mslite::WorkerSet> set = desk_->set();
  return mslite::Descriptions(inputs ? set->inputs : set->outputs);
}
}  // namespace mindspore
