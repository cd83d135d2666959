// Does with each `.ms` file given on the command line, in a process of its own, all that a program does that trains: in
// every kind of step, with gradients, weights and rates that it reads and gives back, other shapes, datasets and
// exports, which are built again. Prints what run_ms prints.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "each_file.h"
#include "include/api/callback/train_accuracy.h"
#include "include/api/cfg.h"
#include "include/api/context.h"
#include "include/api/metrics/accuracy.h"
#include "include/api/model.h"
#include "include/api/serialization.h"
#include "include/dataset/datasets.h"
#include "include/mslite/run_control.h"

namespace {
using namespace mindspore;  // NOLINT

constexpr mslite::RunLimits kLimits = {2000, 0, int64_t{64} << 20};
constexpr size_t kMaxInput = 4 << 20;

std::shared_ptr<Context> Limited() {
  auto context = std::make_shared<Context>();
  context->SetThreadNum(1);
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  return mslite::SetRunLimits(context, kLimits).IsOk() ? context : nullptr;
}

// Small whole numbers first, which labels and places may be, then zeros, then anything.
bool Fill(Model *model, int round) {
  for (MSTensor &input : model->GetInputs()) {
    if (input.DataSize() > kMaxInput || input.MutableData() == nullptr) return false;
    auto *bytes = static_cast<unsigned char *>(input.MutableData());
    const bool is_float = input.DataType() == DataType::kNumberTypeFloat32;
    const size_t step = input.DataType() == DataType::kNumberTypeInt64 ? 8 : 4;
    for (size_t i = 0; i < input.DataSize(); ++i) {
      bytes[i] = round % 3 == 2 ? static_cast<unsigned char>((i * 2654435761U) >> 13) : 0;
    }
    for (size_t i = 0; round % 3 == 0 && i + step <= input.DataSize(); i += step) {
      const float number = static_cast<float>(i / step % 3);
      const auto index = static_cast<int32_t>(i / step % 2);
      std::memcpy(bytes + i, is_float ? static_cast<const void *>(&number) : &index, 4);
    }
  }
  return true;
}

// Copies of the tensors, every byte of which is read.
std::vector<MSTensor> Copies(const std::vector<MSTensor> &tensors) {
  std::vector<MSTensor> copies;
  for (const MSTensor &tensor : tensors) {
    const std::unique_ptr<MSTensor> copy(tensor.Clone());
    if (copy != nullptr) copies.push_back(*copy);
  }
  return copies;
}

// Unknown sizes become `unknown`, the first dimension grows by `more`.
Status ResizeBy(Model *model, int64_t unknown, int64_t more) {
  std::vector<std::vector<int64_t>> shapes;
  const std::vector<MSTensor> inputs = model->GetInputs();
  for (const MSTensor &input : inputs) {
    shapes.push_back(input.Shape());
    for (int64_t &dim : shapes.back()) dim = dim < 0 ? unknown : dim;
    if (!shapes.back().empty()) shapes.back()[0] += more;
  }
  return inputs.empty() ? Status(kSuccess) : model->Resize(inputs, shapes);
}

bool IsDynamic(Model *model) {
  for (const MSTensor &input : model->GetInputs()) {
    for (const int64_t dim : input.Shape()) {
      if (dim < 0) return true;
    }
  }
  return false;
}

void BuildAgain(const Buffer &file, bool trains) {
  Model model;
  if (!trains) {
    if (model.Build(file.Data(), file.DataSize(), kMindIR, Limited()).IsError()) return;
    if (IsDynamic(&model) && ResizeBy(&model, 2, 0).IsError()) return;
    if (Fill(&model, 0)) (void)model.Predict();
    return;
  }
  Graph graph;
  if (Serialization::Load(file.Data(), file.DataSize(), kMindIR, &graph).IsError()) return;
  if (model.Build(GraphCell(graph), Limited(), std::make_shared<TrainCfg>()).IsError()) return;
  if (Fill(&model, 0) && model.SetTrainMode(true).IsOk()) (void)model.RunStep();
}

void Export(const Model &model, const std::string &folder, const Graph &head) {
  for (const bool for_inference : {true, false}) {
    for (const QuantizationType type : {kNoQuant, kWeightQuant}) {
      Buffer file;
      if (Serialization::ExportModel(model, kMindIR, &file, type, for_inference).IsError()) continue;
      BuildAgain(file, !for_inference);
      Graph backbone;
      if (!for_inference || Serialization::Load(file.Data(), file.DataSize(), kMindIR, &backbone).IsError()) continue;
      Model joined;
      (void)joined.BuildTransferLearning(GraphCell(backbone), GraphCell(head), Limited());
    }
  }
  (void)Serialization::ExportAdapter(model, folder + "adapter.ms");
  (void)Serialization::ExportWeightsCollaborateWithMicro(model, kMindIR, folder + "weights", true, false, {});
  (void)Serialization::ExportWeightsCollaborateWithMicro(model, kMindIR, folder + "weights", true, true, {});
}

// Rows of what the inputs hold now.
void TrainOnRows(Model *model) {
  std::vector<MSTensor> inputs = model->GetInputs();
  std::vector<MSTensor> rows = Copies(inputs);
  if (rows.size() != inputs.size() || rows.empty()) return;
  TrainAccuracy accuracy(INT_MAX);
  AccuracyMetrics metrics;
  (void)model->InitMetrics({&metrics});
  (void)model->Train(2, dataset::Tensors(rows), {&accuracy});
  (void)model->Evaluate(dataset::Tensors(rows), {});
  (void)model->InitMetrics({});
}

Status Use(const Graph &graph, const TrainCfg &config, const std::string &folder) {
  Model model;
  Status status = model.Build(GraphCell(graph), Limited(), std::make_shared<TrainCfg>(config));
  if (status.IsError()) return status;
  (void)model.GetGradients();
  if (IsDynamic(&model)) status = ResizeBy(&model, 2, 0);
  if (status.IsError()) return status;
  (void)model.SetTrainMode(true);
  for (int round = 0; round < 3; ++round) {
    if (!Fill(&model, round)) return {kLiteMemoryFailed, "no memory for an input"};
    const Status step = model.RunStep();
    if (round == 0) status = step;
    const std::vector<MSTensor> gradients = Copies(model.GetGradients());
    (void)Copies(model.GetOutputs());
    (void)model.ApplyGradients(gradients);
  }
  (void)model.SetLearningRate(model.GetLearningRate());
  for (const int multiplier : {2, 1}) {
    (void)model.SetupVirtualBatch(multiplier, multiplier == 2 ? -1.0f : 0.01f);
    for (int round = 0; round < 3; ++round) {
      if (Fill(&model, round)) (void)model.RunStep();
      (void)Copies(model.GetGradients());
    }
  }
  (void)model.SetOptimizerParams(Copies(model.GetOptimizerParams()));
  (void)model.UpdateFeatureMaps(Copies(model.GetTrainableParams()));
  if (ResizeBy(&model, 2, 1).IsOk()) {
    (void)Copies(model.GetGradients());
    if (Fill(&model, 0)) (void)model.RunStep();
  }
  (void)model.SetTrainMode(false);
  if (Fill(&model, 0)) (void)model.Predict();
  (void)model.UpdateFeatureMaps(Copies(model.GetFeatureMaps()));
  (void)model.ApplyGradients(Copies(model.GetGradients()));
  (void)model.Predict();
  TrainOnRows(&model);
  Export(model, folder, graph);
  return status;
}

int UseFile(const char *path, int report) {
  Graph graph;
  Status status = Serialization::Load(std::string(path), kMindIR, &graph);
  if (status.IsError()) return mslite::test::Finish(report, mslite::test::kRefused, status.ToString());
  std::string folder = std::string(path) + ".out/";
  (void)mkdir(folder.c_str(), 0700);
  Status first;
  for (int way = 0; way < 4; ++way) {
    TrainCfg config;
    config.keep_gradients_ = way != 1;
    config.accumulate_gradients_ = way == 2;
    config.optimization_level_ = way == 3 ? kO2 : kO0;
    status = Use(graph, config, folder);
    if (way == 0) first = status;
  }
  for (const char *name : {"adapter.ms", "weights"}) (void)unlink((folder + name).c_str());
  (void)rmdir(folder.c_str());
  return first.IsError() ? mslite::test::Finish(report, mslite::test::kRefused, first.ToString())
                         : mslite::test::Finish(report, 0, "ran");
}
}  // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) mslite::test::InProcess(argv[i], UseFile);
  return 0;
}
