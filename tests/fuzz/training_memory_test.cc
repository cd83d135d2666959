// Allocation number n fails, for every n of every call of the training API: the call says so, never by an exception,
// and leaves weights, states, rates and mode as they were; the model goes on as one that the call was not made of.
#include <climits>
#include <functional>
#include <utility>

#include "include/api/callback/loss_monitor.h"
#include "include/api/callback/lr_scheduler.h"
#include "include/api/callback/train_accuracy.h"
#include "include/api/metrics/accuracy.h"
#include "include/dataset/datasets.h"
#include "training_memory.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT

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

struct Call {
  const char *name;
  std::function<Status(Model *model)> make;
  bool keeps_state = true;  // when it fails
};

class TrainingMemory : public MemoryTest {
 protected:
  void SetUp() override {
    MemoryTest::SetUp();
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

  // Makes the call with every allocation failing in turn, once or from there on, on a model of its own each. One that
  // succeeds all the same has done all that it does with memory.
  void Try(const Way &way, const Call &call, bool for_good) {
    const std::string label = std::string(way.name) + ", " + call.name + (for_good ? ", for good" : "");
    const auto make = [&] { return Make(way, file_, context_); };
    const std::string before = Future(make().get());
    const std::unique_ptr<Model> called = make();
    const bool can_succeed = Armed([&] { return call.make(called.get()); }).IsOk();
    const std::string done = Future(called.get());
    tried_ += EachAllocation(for_good, make, call.make, [&](int n, Model *model, const Status &status) {
      const std::string after = Future(model);
      if (status.IsOk()) {
        ASSERT_TRUE(can_succeed && after == done) << label << ", allocation " << n;
        return;
      }
      ASSERT_EQ(status.StatusCode(), kLiteMemoryFailed) << label << ", allocation " << n << ": " << status.ToString();
      if (call.keeps_state) {
        ASSERT_EQ(after, before) << label << ", allocation " << n;
      }
    });
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

  const std::string file_ = NormalizingNetwork();
  const std::shared_ptr<Context> context_ = OneThread();
  int tried_ = 0;  // allocations
  std::vector<MSTensor> weights_, params_, gradients_, rows_;
};

TEST_F(TrainingMemory, Build) {
  for (const Way &way : kWays) {
    for (const bool for_good : {false, true}) {
      Graph graph;
      ASSERT_EQ(Serialization::Load(file_.data(), file_.size(), kMindIR, &graph), kSuccess);
      const GraphCell cell(graph);
      const auto config = std::make_shared<TrainCfg>();
      config->optimization_level_ = way.level;
      config->keep_gradients_ = way.keeps;
      const auto build = [&](Model *model) { return model->Build(cell, context_, config); };
      const int count = EachAllocation(
          for_good, [] { return std::make_unique<Model>(); }, build,
          [&](int n, Model *model, const Status &status) {
            if (status.IsOk()) return;
            ASSERT_EQ(status.StatusCode(), kLiteMemoryFailed) << way.name << ", allocation " << n;
            ASSERT_EQ(build(model), kSuccess) << way.name << ", allocation " << n;
            ASSERT_EQ(model->SetTrainMode(true), kSuccess);
            Fill(model, 1.0f);
            ASSERT_EQ(model->RunStep(), kSuccess);
          });
      ASSERT_GT(count, 100);
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
    CheckNoParts();
  }
}
TEST_F(TrainingMemory, BuildTransferLearning) {
  ModelBuilder m;
  const std::vector<int32_t> rows = {4, 1, 1, 3};
  const uint32_t image = m.Value("image", rows), features = m.Value("features", rows);
  m.Node("abs", schema::CreateAbs(m.builder), {image}, {features});
  m.Graph({image}, {features}, {0});
  const std::string backbone_file = m.Finish({image}, {features});
  Graph backbone, head;
  ASSERT_EQ(Serialization::Load(backbone_file.data(), backbone_file.size(), kMindIR, &backbone), kSuccess);
  ASSERT_EQ(Serialization::Load(file_.data(), file_.size(), kMindIR, &head), kSuccess);
  const GraphCell first(backbone), second(head);
  const auto build = [&](Model *model) { return model->BuildTransferLearning(first, second, context_); };
  for (const bool for_good : {false, true}) {
    const int count = EachAllocation(
        for_good, [] { return std::make_unique<Model>(); }, build,
        [&](int n, Model *model, const Status &status) {
          ASSERT_TRUE(status.IsOk() || status.StatusCode() == kLiteMemoryFailed) << "allocation " << n;
          if (status.IsError()) {
            ASSERT_EQ(build(model), kSuccess) << "allocation " << n;
          }
          ASSERT_EQ(model->SetTrainMode(true), kSuccess);
          Fill(model, 1.0f);
          ASSERT_EQ(model->RunStep(), kSuccess);
        });
    EXPECT_GT(count, 100);
  }
}
TEST_F(TrainingMemory, InitMetrics) {
  AccuracyMetrics metric;
  Try(kWays[1],
      {"InitMetrics",
       [&metric](Model *model) {
         armed = false;  // the program's own memory
         std::vector<Metrics *> metrics = {&metric};
         armed = true;
         return model->InitMetrics(std::move(metrics));
       }},
      false);
}
// They make many calls, each of which may have been made before one fails.
TEST_F(TrainingMemory, TrainAndEvaluate) {
  const std::shared_ptr<dataset::Dataset> data = dataset::Tensors(rows_);
  const Way &way = kWays[1];
  for (const bool for_good : {false, true}) {
    Try(way, {"Train", [&](Model *model) { return model->Train(1, data, {}); }, false}, for_good);
    Try(way, {"Evaluate", [&](Model *model) { return model->Evaluate(data, {}); }, false}, for_good);
    Try(way,
        {"LossMonitor and LRScheduler",
         [&](Model *model) {
           armed = false;  // the program's own memory
           float factor = 0.5f;
           LossMonitor losses(0);
           LRScheduler rates(MultiplicativeLRLambda, &factor);
           std::vector<TrainCallBack *> callbacks = {&losses, &rates};
           armed = true;
           return model->Train(2, data, std::move(callbacks));
         },
         false},
        for_good);
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
