// parallel_runner MODEL.ms: four threads of the caller over two workers; then two models of a group.
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "include/api/context.h"
#include "include/api/model_group.h"
#include "include/api/model_parallel_runner.h"

using mindspore::ModelParallelRunner;
using mindspore::MSTensor;
using mindspore::RunnerConfig;

static std::shared_ptr<mindspore::Context> CpuContext() {
  auto context = std::make_shared<mindspore::Context>();
  context->SetThreadNum(1);
  context->SetInterOpParallelNum(1);
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  return context;
}

static std::vector<MSTensor> Filled(std::vector<MSTensor> inputs, float value) {
  for (auto &input : inputs) {
    auto *data = static_cast<float *>(input.MutableData());
    for (int64_t i = 0; i < input.ElementNum(); ++i) data[i] = value;
  }
  return inputs;
}

int main(int argc, const char **argv) {
  if (argc != 2) return 2;
  auto config = std::make_shared<RunnerConfig>();
  config->SetContext(CpuContext());
  config->SetWorkersNum(2);
  if (config->GetWorkersNum() != 2 || config->GetContext()->GetThreadNum() != 1) return 1;
  ModelParallelRunner runner;
  if (runner.Init(argv[1], config) != mindspore::kSuccess) return 1;

  std::vector<float> sums(4, 0.0f);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < sums.size(); ++t) {
    threads.emplace_back([&, t] {
      const auto inputs = Filled(runner.GetInputs(), 0.25f * static_cast<float>(t));
      for (int task = 0; task < 5; ++task) {
        std::vector<MSTensor> outputs;
        if (runner.Predict(inputs, &outputs) != mindspore::kSuccess) return;
        sums[t] = static_cast<const float *>(outputs[0].Data().get())[0];
      }
    });
  }
  for (auto &thread : threads) thread.join();
  std::cout << runner.GetOutputs()[0].Name();
  for (const float sum : sums) std::cout << ' ' << sum;
  std::cout << std::endl;

  mindspore::ModelGroup group(mindspore::ModelGroupFlag::kShareWorkspace);
  if (group.AddModel(std::vector<std::string>{argv[1], argv[1]}) != mindspore::kSuccess) return 1;
  if (group.CalMaxSizeOfWorkspace(mindspore::kMindIR, CpuContext()) != mindspore::kSuccess) return 1;
  mindspore::Model first, second;
  if (first.Build(argv[1], mindspore::kMindIR, CpuContext()) != mindspore::kSuccess) return 1;
  if (second.Build(argv[1], mindspore::kMindIR, CpuContext()) != mindspore::kSuccess) return 1;
  for (auto *model : {&first, &second}) {
    std::vector<MSTensor> outputs;
    if (model->Predict(Filled(model->GetInputs(), 0.25f), &outputs) != mindspore::kSuccess) return 1;
    if (static_cast<const float *>(outputs[0].Data().get())[0] != sums[1]) return 1;
  }
  return 0;
}
