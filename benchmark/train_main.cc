// benchmark_train: trains a model, measures the training, compares outputs and exports the result.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "accuracy.h"
#include "command_line.h"
#include "files.h"
#include "include/api/cfg.h"
#include "include/api/context.h"
#include "include/api/model.h"
#include "include/api/serialization.h"
#include "include/mslite/inspect.h"
#include "inputs.h"
#include "machine.h"
#include "profile.h"
#include "program.h"
#include "train_flags.h"

namespace mslite::benchmark {
namespace {

using Clock = std::chrono::steady_clock;
using mindspore::Model;
using mindspore::MSTensor;
using mindspore::Status;

int64_t MicrosecondsSince(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count();
}

// Training data: for each input the bytes of all batches, or one random batch.
class Batches {
 public:
  std::string Load(const std::string &prefix, std::vector<MSTensor> inputs) {
    inputs_ = std::move(inputs);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      MSTensor &input = inputs_[i];
      if (input.MutableData() == nullptr) return "no memory for input '" + input.Name() + "'";
      if (prefix.empty()) {
        Randomize(&input);
        continue;
      }
      const std::string problem = Read(prefix + std::to_string(i + 1) + ".bin", input);
      if (!problem.empty()) return problem;
    }
    return "";
  }

  size_t count() const { return count_; }

  void Give(size_t batch) {
    for (size_t i = 0; i < data_.size(); ++i) {
      std::memcpy(inputs_[i].MutableData(), data_[i].data() + batch * inputs_[i].DataSize(), inputs_[i].DataSize());
    }
  }

 private:
  std::string Read(const std::string &path, const MSTensor &input) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) return "cannot read input file " + path;
    const auto size = static_cast<size_t>(file.tellg());
    const size_t batches = size / input.DataSize();
    if (batches == 0 || size % input.DataSize() != 0) {
      return "input file " + path + " has " + std::to_string(size) + " bytes, which is not a multiple of the " +
             std::to_string(input.DataSize()) + " bytes of input '" + input.Name() + "'";
    }
    if (!data_.empty() && batches != count_) {
      return "input file " + path + " has " + std::to_string(batches) + " batches, but the files before it have " +
             std::to_string(count_);
    }
    count_ = batches;
    data_.emplace_back(size);
    file.seekg(0);
    file.read(data_.back().data(), static_cast<std::streamsize>(size));
    return file ? "" : "cannot read input file " + path;
  }

  std::vector<MSTensor> inputs_;
  std::vector<std::vector<char>> data_;
  size_t count_ = 1;
};

bool PrintSums(const std::vector<MSTensor> & /*inputs*/, const std::vector<MSTensor> &outputs,
               const mindspore::MSCallBackParam &parameters) {
  for (const MSTensor &output : outputs) {
    std::vector<float> values;
    if (!AsFloats(output, &values).empty()) continue;
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    std::cout << parameters.node_type << " " << parameters.node_name << ": " << output.Name() << " sum " << sum << "\n";
  }
  return true;
}

std::shared_ptr<mindspore::Context> MakeContext(const TrainFlags &flags) {
  auto context = std::make_shared<mindspore::Context>();
  context->SetThreadNum(flags.numThreads);
  context->SetThreadAffinity(flags.cpuBindMode);
  auto cpu = std::make_shared<mindspore::CPUDeviceInfo>();
  cpu->SetEnableFP16(flags.enableFp16);
  context->MutableDeviceInfo().push_back(cpu);
  return context;
}

Status BuildForTraining(const TrainFlags &flags, const std::string &path, Model *model) {
  auto config = std::make_shared<mindspore::TrainCfg>();
  if (flags.enableFp16) config->optimization_level_ = mindspore::kAuto;
  config->keep_gradients_ = flags.keepGradients;
  if (!flags.lossName.empty()) config->SetLossName(Split(flags.lossName, ","));
  mindspore::Graph graph;
  Status status = mindspore::Serialization::Load(path, mindspore::kMindIR, &graph);
  if (status.IsError()) return status;
  if (flags.bbModelFile.empty()) {
    std::cout << "Build mindspore model from model file" << path << "\n";
    return model->Build(mindspore::GraphCell(graph), MakeContext(flags), config);
  }
  std::cout << "Build transfer learning model from model file " << path << " and " << flags.bbModelFile << "\n";
  mindspore::Graph backbone;
  status = mindspore::Serialization::Load(flags.bbModelFile, mindspore::kMindIR, &backbone);
  if (status.IsError()) return status;
  return model->BuildTransferLearning(mindspore::GraphCell(backbone), mindspore::GraphCell(graph), MakeContext(flags),
                                      config);
}

Status Build(const TrainFlags &flags, const std::string &path, bool trains, int epochs, Model *model) {
  if (!trains) {
    std::cout << "start reading model file " << path << "\n";
    return model->Build(path, mindspore::kMindIR, MakeContext(flags));
  }
  Status status = BuildForTraining(flags, path, model);
  if (status.IsError() || epochs == 0) return status;
  if (flags.virtualBatch) status = model->SetupVirtualBatch(epochs);
  return status.IsError() ? status : model->SetTrainMode(true);
}

// The losses of the step that has just run.
std::map<std::string, double> Losses(Model *model) {
  std::map<std::string, double> losses;
  for (const MSTensor &output : model->GetOutputs()) {
    std::vector<float> values;
    if (!AsFloats(output, &values).empty() || values.empty()) continue;
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    losses[output.Name()] = sum / static_cast<double>(values.size());
  }
  return losses;
}

std::string Train(const TrainFlags &flags, const std::string &path, int epochs, Batches *batches, Model *model) {
  std::cout << "Running train loops...\n";
  for (int i = 0; i < flags.warmUpLoopCount; ++i) {
    batches->Give(static_cast<size_t>(i) % batches->count());
    if (const Status status = model->RunStep(); status.IsError()) return "Inference error: " + Reason(status);
  }
  Profile profile;
  const mindspore::MSKernelCallBack before = flags.timeProfiling ? profile.Before() : nullptr;
  mindspore::MSKernelCallBack after = flags.timeProfiling ? profile.After() : nullptr;
  if (flags.layerCheckSum) after = PrintSums;
  std::vector<double> milliseconds;
  std::map<std::string, double> first;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const Clock::time_point start = Clock::now();
    for (size_t batch = 0; batch < batches->count(); ++batch) {
      batches->Give(batch);
      const Status status = model->RunStep(before, after);
      if (status.IsError()) return "Inference error: " + Reason(status);
      if (flags.layerCheckSum) after = nullptr;
      if (first.empty()) first = Losses(model);
    }
    milliseconds.push_back(static_cast<double>(MicrosecondsSince(start)) / 1000.0);
  }
  if (flags.timeProfiling && !flags.layerCheckSum) profile.Print(epochs);
  PrintTimes(FileName(path), flags.numThreads, Summarize(milliseconds));
  for (const auto &[name, last] : Losses(model)) {
    std::cout << "Loss " << name << ": " << first[name] << " in the first step, " << last << " in the last\n";
  }
  return "";
}

std::string ReadExpectedOutput(const std::string &path, size_t count, std::vector<float> *values) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "cannot read expected output " + path;
  const auto size = static_cast<size_t>(file.tellg());
  if (size != count * sizeof(float)) {
    return "Output buffer and output file differ by size. Tensor size: " + std::to_string(count * sizeof(float)) +
           ", read size: " + std::to_string(size) + ", file " + path;
  }
  values->resize(count);
  file.seekg(0);
  file.read(reinterpret_cast<char *>(values->data()), static_cast<std::streamsize>(size));
  return file ? "" : "cannot read expected output " + path;
}

void PrintValues(const char *label, const std::vector<float> &values) {
  constexpr size_t kShown = 50;
  std::cout << label;
  for (size_t i = 0; i < values.size() && i < kShown; ++i) std::cout << values[i] << " ";
  std::cout << "\n";
}

// Compares the outputs of the first batch in evaluation mode. `is_exact`: whether an error above the threshold is a
// failure.
std::string Compare(const TrainFlags &flags, bool is_exact, Batches *batches, Model *model) {
  if (const Status status = model->SetTrainMode(false); status.IsError()) return Said(status);
  batches->Give(0);
  std::cout << "MarkAccuracy\n";
  PrintInputs(model->GetInputs());
  if (const Status status = model->Predict(); status.IsError()) return "Inference error: " + Reason(status);
  std::map<std::string, MSTensor> outputs;
  for (const MSTensor &output : model->GetOutputs()) outputs.emplace(output.Name(), output);
  std::cout << "================ Comparing Forward Output data ================\n";
  double sum = 0;
  int number = 0;
  for (const auto &[name, output] : outputs) {
    std::cout << "output is tensor " << name << "\n";
    std::vector<float> got;
    std::vector<float> expected;
    std::string problem = AsFloats(output, &got);
    if (problem.empty()) {
      const std::string path = flags.expectedDataFile + std::to_string(++number) + ".bin";
      problem = ReadExpectedOutput(path, got.size(), &expected);
    }
    if (!problem.empty()) return problem;
    std::cout << "Out tensor size is: " << got.size() << "\n";
    PrintValues("Data of model output: ", got);
    PrintValues("Data of Ref output  : ", expected);
    const double bias = MeanBias(got, expected);
    if (bias < 0) return "output '" + name + "' contains NaN or infinity";
    std::cout << "Mean bias of tensor: " << bias * 100 << "%\n";
    sum += bias;
  }
  const double bias = number == 0 ? 0 : sum / number * 100;
  std::cout << "Mean bias of all nodes/tensors: " << bias << "% threshold is:" << flags.accuracyThreshold << "\n"
            << "=======================================================\n\n";
  if (bias <= static_cast<double>(flags.accuracyThreshold)) return "";
  if (is_exact) return "Mean bias of all nodes/tensors is too big: " + std::to_string(bias) + "%";
  std::cout << "Accuracy Error is big but not enforced\n";
  return "";
}

// Writes the files of --exportFile and --inferenceFile.
std::string Export(const TrainFlags &flags, const Model &model) {
  using mindspore::kMindIR;
  using mindspore::Serialization;
  for (const bool for_inference : {false, true}) {
    const std::string &path = for_inference ? flags.inferenceFile : flags.exportFile;
    if (path.empty()) continue;
    Status status = Serialization::ExportModel(model, kMindIR, path + "_qt", mindspore::kWeightQuant, for_inference);
    if (status.IsError()) return Said(status);
    const Clock::time_point start = Clock::now();
    status = Serialization::ExportModel(model, kMindIR, path, mindspore::kNoQuant, for_inference);
    if (status.IsError()) return Said(status);
    if (for_inference) std::cout << "ExportInference() execution time is " << MicrosecondsSince(start) << "us\n";
  }
  return "";
}

// Builds, trains and compares one file. `exports`: whether it is also exported.
std::string RunFile(const TrainFlags &flags, const std::string &path, bool trains, int epochs, bool is_exact,
                    bool exports) {
  Model model;
  const Clock::time_point start = Clock::now();
  if (const Status status = Build(flags, path, trains, epochs, &model); status.IsError()) return Said(status);
  std::vector<std::vector<int64_t>> shapes;
  std::string problem = RequestedShapes(flags.inputShapes, "", model.GetInputs(), &shapes);
  if (problem.empty()) problem = ResizeTo(shapes, &model);
  if (!problem.empty()) return problem;
  std::cout << "PrepareTime = " << static_cast<double>(MicrosecondsSince(start)) / 1000.0 << " ms\n";
  Batches batches;
  problem = batches.Load(flags.inDataFile, model.GetInputs());
  if (problem.empty() && trains && epochs > 0) {
    problem = Train(flags, path, epochs, &batches, &model);
    if (problem.empty() && exports) problem = Export(flags, model);
  }
  if (problem.empty() && !flags.expectedDataFile.empty()) problem = Compare(flags, is_exact, &batches, &model);
  PlanInfo plan;
  if (problem.empty() && exports && InspectPlan(model, &plan).IsOk()) {
    std::cout << "Arena allocation: " << plan.arena_bytes << "\n";
  }
  return problem;
}

std::string WithSuffix(const std::string &path) {
  const bool has_suffix = path.size() >= 3 && path.compare(path.size() - 3, 3, ".ms") == 0;
  return has_suffix ? path : path + ".ms";
}

// Runs the model, and then the exported files.
std::string Run(const TrainFlags &flags) {
  const std::string name = FileName(flags.modelFile);
  const bool trains = name.find("train") != std::string::npos || !flags.bbModelFile.empty();
  if (!trains && flags.epochs > 0 && flags.expectedDataFile.empty()) {
    return "'" + flags.modelFile +
           "' is not trained: its file name does not contain \"train\". Convert the model with converter_lite " +
           "--trainModel=true to a name such as net_train.ms, or use --epochs=0 for evaluation only";
  }
  if (!trains && !(flags.exportFile.empty() && flags.inferenceFile.empty())) {
    return "'" + flags.modelFile + "' is not exported: its file name does not contain \"train\", so it is not trained";
  }
  std::string problem = RunFile(flags, flags.modelFile, trains, flags.epochs, true, true);
  const bool has_exports = trains && flags.epochs > 0;
  TrainFlags again = flags;  // the exported files continue the training
  again.warmUpLoopCount = 0;
  again.bbModelFile.clear();
  if (problem.empty() && has_exports && !flags.exportFile.empty()) {
    problem = RunFile(again, WithSuffix(flags.exportFile), true, flags.epochs, false, false);
    if (problem.empty())
      problem = RunFile(again, WithSuffix(flags.exportFile + "_qt"), true, flags.epochs, false, false);
  }
  if (problem.empty() && has_exports && !flags.inferenceFile.empty()) {
    problem = RunFile(again, WithSuffix(flags.inferenceFile), false, 0, true, false);
    if (problem.empty()) problem = RunFile(again, WithSuffix(flags.inferenceFile + "_qt"), false, 0, false, false);
  }
  if (problem.empty()) std::cout << "Run NetTrain " << name << " Success.\n";
  return problem;
}

int Main(int argc, char **argv) {
  TrainFlags flags;
  const std::string wrong = ParseTrainFlags({argv + 1, argv + argc}, &flags);
  if (!wrong.empty()) {
    std::cerr << wrong << "\nSee benchmark_train --help\n";
    return kWrongUsage;
  }
  if (flags.help || flags.version) {
    std::cout << (flags.help ? TrainUsage() : "benchmark_train (mslite) " MSLITE_VERSION "\n");
    return FlushOutput().empty() ? 0 : kFailed;
  }
  const std::string problem = Run(flags);
  if (problem.empty()) std::cout << "VmHWM: " << PeakMemory() / 1024 << " kB\n";
  return Finish(problem, "Run NetTrain " + flags.modelFile);
}

}  // namespace
}  // namespace mslite::benchmark

int main(int argc, char **argv) {
  return mslite::benchmark::RunProgram("benchmark_train", mslite::benchmark::Main, argc, argv);
}
