// Allocation number n fails, for every n of every call of the training API: the call says so, never by an exception,
// and leaves weights, states, rates and mode as they were; the model goes on as one that the call was not made of.
#include <gtest/gtest.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <utility>

#include "failing_memory.h"
#include "include/api/callback/train_accuracy.h"
#include "include/api/metrics/accuracy.h"
#include "include/dataset/datasets.h"
#include "training_models.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT

constexpr int kMostAllocations = 20000;
#ifdef __x86_64__
constexpr int kStride = 1;
#else
constexpr int kStride = 17;  // in emulators
#endif

// logits = x w^T and batch normalisation of them; their cross entropy. SGD has states that steps do not change where
// they are, and what is normalised moves statistics in the forward pass.
std::string Network() {
  ModelBuilder m;
  auto &b = m.builder;
  constexpr int32_t kRows = 4, kFeatures = 3;
  const std::vector<int32_t> features = {kFeatures}, rows = {kRows, 1, 1, kFeatures};
  const std::vector<float> zeros(kFeatures, 0.0f), ones(kFeatures, 1.0f);
  const uint32_t x = m.Value("x", rows), target = m.Value("target", rows);
  const uint32_t scale = m.Floats("scale", features, ones), offset = m.Floats("offset", features, zeros);
  const uint32_t mean = m.Floats("mean", features, zeros), variance = m.Floats("variance", features, ones);
  const auto value = [&](const char *name) { return m.Value(name, features); };
  const uint32_t y = m.Value("y", rows), saved_mean = value("saved_mean"), saved_variance = value("saved_variance");
  const uint32_t loss = m.Value("loss", rows), dy = m.Value("dy", rows);
  const uint32_t dx = m.Value("dx", rows), dscale = value("dscale"), doffset = value("doffset");
  m.Node("norm", schema::CreateFusedBatchNorm(b, 1e-5f, 0.5f), {x, scale, offset, mean, variance},
         {y, value("copied_scale"), value("copied_offset"), saved_mean, saved_variance});
  m.Node("net/_loss_fn", schema::CreateSubFusion(b), {y, target}, {loss});
  m.Node("Gradients/loss", schema::CreateAddFusion(b), {loss, loss}, {dy});
  m.Node("Gradients/norm", schema::CreateBatchNormGrad(b, 1e-5f, true), {dy, x, scale, saved_mean, saved_variance},
         {dx, dscale, doffset});
  const uint32_t rate = m.Floats("learning_rate", {}, {0.25f}), momentum = m.Floats("momentum", {}, {0.5f});
  m.Node("optimizer/scale", schema::CreateSGD(b),
         {scale, dscale, rate, m.Floats("accumulated.scale", features, zeros), momentum,
          m.Floats("stat.scale", {1}, {1.0f})},
         {value("new_scale")});
  m.Node("optimizer/offset", schema::CreateApplyMomentum(b),
         {offset, m.Floats("moments.offset", features, zeros), rate, doffset, momentum}, {value("new_offset")});
  m.Graph({x, target}, {loss}, {0, 1, 2, 3, 4, 5});
  return m.Finish({x, target}, {loss});
}

struct Way {
  const char *name;
  bool trains;
  bool accumulates;
  bool keeps;
  OptimizationLevel level;
  int multiplier;
  int steps;  // that were run before the call
  bool is_tried_for_good = false;
};
const std::vector<Way> kWays = {
    {"evaluation", false, false, true, kO0, 1, 1},
    {"plain", true, false, true, kO0, 1, 1},
    {"first step", true, false, true, kO0, 1, 0, true},
    {"gives up", true, false, false, kO0, 1, 1},
    {"accumulates", true, true, true, kO0, 1, 1},
    {"virtual", true, false, true, kO0, 3, 1},
    {"its last step", true, false, true, kO0, 2, 1, true},
    {"mixed", true, false, true, kO2, 1, 1},
    {"mixed virtual", true, false, true, kO2, 2, 1},
    {"mixed evaluation", false, false, true, kO2, 1, 1},
    {"virtual evaluation", false, false, true, kO0, 2, 1, true},
};

void Fill(Model *model, float seed) {
  for (MSTensor &input : model->GetInputs()) {
    auto *values = static_cast<float *>(input.MutableData());
    for (int64_t i = 0; i < input.ElementNum(); ++i) values[i] = seed + static_cast<float>(i * 5 % 7);
  }
}

std::unique_ptr<Model> Make(const Way &way, const std::string &file, const std::shared_ptr<Context> &context) {
  TrainCfg config;
  config.keep_gradients_ = way.keeps;
  config.accumulate_gradients_ = way.accumulates;
  config.optimization_level_ = way.level;
  auto model = std::make_unique<Model>();
  EXPECT_EQ(BuildForTraining(file, config, context, model.get()), kSuccess);
  if (way.multiplier > 1) {
    EXPECT_EQ(model->SetupVirtualBatch(way.multiplier), kSuccess);
  }
  EXPECT_EQ(model->SetTrainMode(true), kSuccess);
  for (int step = 0; step < way.steps; ++step) {
    Fill(model.get(), static_cast<float>(step));
    EXPECT_EQ(model->RunStep(), kSuccess);
  }
  EXPECT_EQ(model->SetTrainMode(way.trains), kSuccess);
  if (!way.trains) {
    EXPECT_EQ(model->Predict(), kSuccess);
  }
  Fill(model.get(), 0.5f);
  return model;
}

// All that a model has, and what it does with it: exported states, rates, mode, and what the next steps make of them.
std::string Contents(Model *model) {
  std::string all = model->GetTrainMode() ? "trains " : "evaluates ";
  all += std::to_string(model->GetLearningRate());
  for (const MSTensor &input : model->GetInputs()) all += " " + std::to_string(input.DataSize());
  const auto add = [&all](const std::vector<MSTensor> &tensors) {
    for (const MSTensor &tensor : tensors) {
      all += tensor.Name() + std::to_string(tensor.DataSize());
      all.append(static_cast<const char *>(tensor.Data().get()), tensor.DataSize());
    }
  };
  add(model->GetTrainableParams());
  add(model->GetOptimizerParams());
  Buffer file;
  EXPECT_EQ(Serialization::ExportModel(*model, kMindIR, &file, kNoQuant, false), kSuccess);
  all.append(static_cast<const char *>(file.Data()), file.DataSize());
  return all;
}

std::string Future(Model *model) {
  std::string all = Contents(model);
  EXPECT_EQ(model->SetTrainMode(true), kSuccess);
  for (int step = 0; step < 3; ++step) {
    Fill(model, static_cast<float>(step));
    const Status status = model->RunStep();
    EXPECT_EQ(status, kSuccess) << status.ToString();
    all += Contents(model);
  }
  EXPECT_EQ(model->SetTrainMode(false), kSuccess);
  EXPECT_EQ(model->Predict(), kSuccess);
  return all;
}

std::vector<MSTensor> Copies(const std::vector<MSTensor> &tensors) {
  std::vector<MSTensor> copies;
  for (const MSTensor &tensor : tensors) {
    const std::unique_ptr<MSTensor> copy(tensor.Clone());
    auto *values = static_cast<float *>(copy->MutableData());
    for (int64_t i = 0; i < copy->ElementNum(); ++i) values[i] += 0.125f;
    copies.push_back(*copy);
  }
  return copies;
}

// A status that the program makes itself, with memory of its own.
Status OfProgram(StatusCode code) {
  armed = false;
  return code;
}

struct Call {
  const char *name;
  std::function<Status(Model *model)> make;
  bool keeps_state = true;  // when it fails
};

class TrainingMemory : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/mslite_memory_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    Model model;
    TrainCfg config;
    ASSERT_EQ(BuildForTraining(file_, config, context_, &model), kSuccess);
    weights_ = Copies(model.GetTrainableParams());
    params_ = Copies(model.GetOptimizerParams());
    ASSERT_EQ(model.SetTrainMode(true), kSuccess);
    Fill(&model, 1.0f);
    ASSERT_EQ(model.RunStep(), kSuccess);
    gradients_ = Copies(model.GetGradients());
    ASSERT_EQ(gradients_.size(), 2u);
    const std::vector<float> rows(size_t{8} * 3, 0.5f);
    for (const char *input : {"x", "target"}) {
      rows_.emplace_back(input, DataType::kNumberTypeFloat32, std::vector<int64_t>{8, 1, 1, 3}, rows.data(),
                         rows.size() * sizeof(float));
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Makes the call with every allocation failing in turn, once or from there on, on a model of its own each.
  void Try(const Way &way, const Call &call, bool for_good) {
    const std::string label = std::string(way.name) + ", " + call.name + (for_good ? ", for good" : "");
    std::string before;
    {
      const std::unique_ptr<Model> untouched = Make(way, file_, context_);
      before = Future(untouched.get());
    }
    stays = for_good;
    int n = 1;
    for (; n < kMostAllocations; n += kStride) {
      const std::unique_ptr<Model> model = Make(way, file_, context_);
      left = n;
      const Status status = Armed([&] { return call.make(model.get()); });
      if (left.exchange(kNever) > 0) break;  // there were fewer allocations than n
      if (status.IsOk()) {
        (void)Future(model.get());
        continue;
      }
      ASSERT_EQ(status.StatusCode(), kLiteMemoryFailed) << label << ", allocation " << n << ": " << status.ToString();
      const std::string after = Future(model.get());
      if (call.keeps_state) {
        ASSERT_EQ(after, before) << label << ", allocation " << n;
      }
    }
    ASSERT_LT(n, kMostAllocations) << label;
    tried_ += n - 1;
  }

  void TryAll(const Call &call) {
    for (const Way &way : kWays) {
      for (const bool for_good : {false, true}) {
        if (for_good && !way.is_tried_for_good) continue;
        Try(way, call, for_good);
        if (HasFatalFailure()) return;
      }
    }
    EXPECT_GT(tried_, 0) << call.name;
  }

  const std::string file_ = Network();
  const std::shared_ptr<Context> context_ = OneThread();
  std::string folder_;
  int tried_ = 0;  // allocations
  std::vector<MSTensor> weights_, params_, gradients_, rows_;
};

TEST_F(TrainingMemory, Build) {
  for (const Way &way : kWays) {
    for (const bool for_good : {false, true}) {
      stays = for_good;
      int n = 1;
      for (; n < kMostAllocations; n += kStride) {
        Graph graph;
        ASSERT_EQ(Serialization::Load(file_.data(), file_.size(), kMindIR, &graph), kSuccess);
        const auto config = std::make_shared<TrainCfg>();
        config->optimization_level_ = way.level;
        config->keep_gradients_ = way.keeps;
        Model model;
        left = n;
        const GraphCell cell(graph);
        const Status status = Armed([&] { return model.Build(cell, context_, config); });
        if (left.exchange(kNever) > 0) break;
        if (status.IsOk()) continue;
        ASSERT_EQ(status.StatusCode(), kLiteMemoryFailed) << way.name << ", allocation " << n;
        ASSERT_EQ(model.Build(cell, context_, config), kSuccess) << way.name << ", allocation " << n;
        ASSERT_EQ(model.SetTrainMode(true), kSuccess);
        Fill(&model, 1.0f);
        ASSERT_EQ(model.RunStep(), kSuccess);
      }
      ASSERT_LT(n, kMostAllocations);
      ASSERT_GT(n, 100);
    }
  }
}

TEST_F(TrainingMemory, RunStep) {
  TryAll({"RunStep", [](Model *model) { return model->RunStep(); }});
}
TEST_F(TrainingMemory, SetTrainMode) {
  TryAll({"SetTrainMode", [](Model *model) { return model->SetTrainMode(!model->GetTrainMode()); }});
}
TEST_F(TrainingMemory, SetupVirtualBatch) {
  TryAll({"SetupVirtualBatch(4)", [](Model *model) { return model->SetupVirtualBatch(4, 0.5f, 0.25f); }});
  TryAll({"SetupVirtualBatch(1)", [](Model *model) { return model->SetupVirtualBatch(1); }});
}
TEST_F(TrainingMemory, ApplyGradients) {
  TryAll({"ApplyGradients", [this](Model *model) { return model->ApplyGradients(gradients_); }});
}
TEST_F(TrainingMemory, UpdateFeatureMaps) {
  TryAll({"UpdateFeatureMaps", [this](Model *model) { return model->UpdateFeatureMaps(weights_); }});
}
TEST_F(TrainingMemory, SetOptimizerParams) {
  TryAll({"SetOptimizerParams", [this](Model *model) { return model->SetOptimizerParams(params_); }});
}
TEST_F(TrainingMemory, SetLearningRate) {
  TryAll({"SetLearningRate", [](Model *model) { return model->SetLearningRate(0.75f); }});
}
TEST_F(TrainingMemory, Resize) {
  const std::vector<std::vector<int64_t>> shapes = {{8, 1, 1, 3}, {8, 1, 1, 3}};
  TryAll({"Resize", [&shapes](Model *model) {
            const std::vector<MSTensor> inputs = model->GetInputs();
            return inputs.empty() ? OfProgram(kLiteMemoryFailed) : model->Resize(inputs, shapes);
          }});
}
TEST_F(TrainingMemory, Getters) {
  TryAll({"getters", [](Model *model) {
            const bool are_there = !model->GetTrainableParams().empty() && !model->GetOptimizerParams().empty() &&
                                   !model->GetOutputs().empty();
            (void)model->GetGradients();
            (void)model->GetFeatureMaps();
            (void)model->GetLearningRate();
            (void)model->GetMetrics();
            return OfProgram(are_there ? kSuccess : kLiteMemoryFailed);
          }});
}
TEST_F(TrainingMemory, Exports) {
  const std::string path = folder_ + "/model", weights = folder_ + "/weights";
  const auto export_model = [&](QuantizationType type, bool for_inference) {
    return [&path, type, for_inference](Model *model) {
      return Serialization::ExportModel(*model, kMindIR, path, type, for_inference);
    };
  };
  const Way &way = kWays[1];
  const std::vector<Call> calls = {
      {"ExportModel", export_model(kNoQuant, false)},
      {"ExportModel for inference", export_model(kNoQuant, true)},
      {"ExportModel of 8 bits", export_model(kWeightQuant, true)},
      {"ExportModel to memory",
       [](Model *model) {
         Buffer buffer;
         return Serialization::ExportModel(*model, kMindIR, &buffer);
       }},
      {"ExportWeightsCollaborateWithMicro",
       [&](Model *model) { return Serialization::ExportWeightsCollaborateWithMicro(*model, kMindIR, weights); }},
  };
  for (const Call &call : calls) {
    for (const bool for_good : {false, true}) Try(way, call, for_good);
    for (const auto &entry : std::filesystem::directory_iterator(folder_)) {
      EXPECT_EQ(entry.path().string().find(".part"), std::string::npos) << call.name;
    }
  }
}
// They make many calls, each of which may have been made before one fails.
TEST_F(TrainingMemory, TrainAndEvaluate) {
  const std::shared_ptr<dataset::Dataset> data = dataset::Tensors(rows_);
  const Way &way = kWays[1];
  for (const bool for_good : {false, true}) {
    Try(way, {"Train", [&](Model *model) { return model->Train(1, data, {}); }, false}, for_good);
    Try(way, {"Evaluate", [&](Model *model) { return model->Evaluate(data, {}); }, false}, for_good);
    Try(way,
        {"TrainAccuracy",
         [&](Model *model) {
           armed = false;  // the program's own memory
           TrainAccuracy accuracy(INT_MAX);
           std::vector<TrainCallBack *> callbacks = {&accuracy};
           armed = true;
           return model->Train(1, data, std::move(callbacks));
         },
         false},
        for_good);
  }
}
}  // namespace
}  // namespace mslite::test
