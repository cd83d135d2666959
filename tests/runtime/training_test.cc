// Training by the C++ API: epochs over datasets, callbacks, metrics.
#include <gtest/gtest.h>
#include <unistd.h>
#ifdef __aarch64__
#include <sys/auxv.h>
#endif

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "include/api/callback/ckpt_saver.h"
#include "include/api/callback/loss_monitor.h"
#include "include/api/callback/lr_scheduler.h"
#include "include/api/callback/time_monitor.h"
#include "include/api/callback/train_accuracy.h"
#include "include/api/cfg.h"
#include "include/api/context.h"
#include "include/api/metrics/accuracy.h"
#include "include/api/model.h"
#include "include/api/serialization.h"
#include "include/dataset/datasets.h"
#include "model_builder.h"

namespace mindspore {
namespace {
namespace schema = mslite::schema;
using mslite::test::ModelBuilder;

constexpr int32_t kBatch = 4;
constexpr int32_t kFeatures = 9;
constexpr int32_t kClasses = 3;

// logits = x * w^T, their cross entropy with labels, and Momentum; a second weight, which nobody reads, may follow the
// same gradient at a rate of its own.
std::string TrainingModel(bool has_second = false) {
  ModelBuilder m;
  auto &b = m.builder;
  const uint32_t x = m.Value("x", {kBatch, kFeatures});
  const uint32_t labels = m.Value("labels", {kBatch}, mslite::test::kInt);
  const std::vector<float> zeros(static_cast<size_t>(kClasses) * kFeatures, 0.0f);
  const uint32_t weight = m.Floats("w", {kClasses, kFeatures}, zeros);
  const uint32_t moments = m.Floats("moments.w", {kClasses, kFeatures}, zeros);
  const uint32_t rate = m.Floats("learning_rate", {}, {0.5f});
  const uint32_t momentum = m.Floats("momentum", {}, {0.5f});
  const uint32_t logits = m.Value("logits", {kBatch, kClasses});
  const uint32_t loss = m.Value("loss", {1});
  const uint32_t logits_grad = m.Value("logits_grad", {kBatch, kClasses});
  const uint32_t weight_grad = m.Value("w_grad", {kClasses, kFeatures});
  const uint32_t updated = m.Value("updated", {kClasses, kFeatures});
  m.Node("net/MatMul", schema::CreateMatMulFusion(b, false, true), {x, weight}, {logits});
  m.Node("net/_loss_fn/Loss", schema::CreateSparseSoftmaxCrossEntropyWithLogits(b, false), {logits, labels}, {loss});
  m.Node("Gradients/net/Loss", schema::CreateSparseSoftmaxCrossEntropyWithLogits(b, true), {logits, labels},
         {logits_grad});
  m.Node("Gradients/net/MatMul", schema::CreateMatMulFusion(b, true, false), {logits_grad, x}, {weight_grad});
  m.Node("optimizer/Momentum", schema::CreateApplyMomentum(b), {weight, moments, rate, weight_grad, momentum},
         {updated});
  std::vector<uint32_t> nodes = {0, 1, 2, 3, 4};
  if (has_second) {
    const uint32_t second = m.Floats("v", {kClasses, kFeatures}, zeros);
    const uint32_t its_moments = m.Floats("moments.v", {kClasses, kFeatures}, zeros);
    const uint32_t its_rate = m.Floats("rate.v", {}, {0.125f});
    const uint32_t its_update = m.Value("updated.v", {kClasses, kFeatures});
    m.Node("optimizer/Momentum-v", schema::CreateApplyMomentum(b),
           {second, its_moments, its_rate, weight_grad, momentum}, {its_update});
    nodes.push_back(5);
  }
  m.Graph({x, labels}, {loss}, nodes);
  return m.Finish({x, labels}, {loss});
}

// features = relu(x * w), under the names that the head has, too.
std::string Backbone(const std::vector<int32_t> &shape, float w, const std::string &version = "MindSpore Lite 2.7.0") {
  ModelBuilder m;
  auto &b = m.builder;
  const uint32_t x = m.Value("x", shape);
  const uint32_t weight = m.Floats("w", {1}, {w});
  const uint32_t product = m.Value("logits", shape);
  const uint32_t features = m.Value("features", shape);
  m.Node("net/MatMul", schema::CreateMulFusion(b), {x, weight}, {product});
  m.Node("relu", schema::CreateActivation(b, schema::ActivationType_RELU), {product}, {features});
  m.Graph({x}, {features}, {0, 1});
  return m.Finish({x}, {features}, version);
}

// A head of images with their channels first: the mean of their difference to `target`, whose gradient is not asked
// for.
std::string HeadOfImages() {
  ModelBuilder m;
  auto &b = m.builder;
  const uint32_t x = m.Value("image", {1, 4, 2, 3});
  const uint32_t offset = m.Floats("offset", {1, 4, 1, 1}, {0, 0, 0, 0});
  const uint32_t rate = m.Floats("learning_rate", {}, {1.0f});
  const uint32_t stat = m.Floats("stat", {1, 4, 1, 1}, {0, 0, 0, 0});
  const uint32_t momentum = m.Floats("momentum", {}, {0.0f});
  const uint32_t axes = m.Constant<int32_t>("axes", {2}, {2, 3}, mslite::test::kInt);
  const uint32_t all = m.Constant<int32_t>("all", {4}, {0, 1, 2, 3}, mslite::test::kInt);
  const uint32_t sum = m.Value("sum", {1, 4, 2, 3});
  const uint32_t loss = m.Value("loss", {1});
  const uint32_t gradient = m.Value("gradient", {1, 4, 1, 1});
  const uint32_t updated = m.Value("updated", {1, 4, 1, 1});
  m.Node("net/Add", schema::CreateAddFusion(b), {x, offset}, {sum});
  m.Node("net/_loss_fn/Mean", schema::CreateReduceFusion(b, false, schema::ReduceMode_ReduceMean), {sum, all}, {loss});
  m.Node("Gradients/Sum", schema::CreateReduceFusion(b, true, schema::ReduceMode_ReduceSum), {sum, axes}, {gradient});
  m.Node("optimizer", schema::CreateApplyMomentum(b), {offset, stat, rate, gradient, momentum}, {updated});
  m.Graph({x}, {loss}, {0, 1, 2, 3});
  return m.Finish({x}, {loss});
}

std::shared_ptr<Context> OnTheCpu() {
  auto context = std::make_shared<Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  return context;
}

Status BuildFrom(const std::string &file, Model *model, const TrainCfg &config) {
  Graph graph;
  const Status status = Serialization::Load(file.data(), file.size(), kMindIR, &graph);
  return status.IsError() ? status : model->Build(GraphCell(graph), OnTheCpu(), std::make_shared<TrainCfg>(config));
}

Status BuildFrom(const std::string &file, Model *model, OptimizationLevel level = kO0) {
  TrainCfg config;
  config.optimization_level_ = level;
  return BuildFrom(file, model, config);
}

// Rows whose class is the place of their largest number; the last, incomplete batch is left out.
std::shared_ptr<dataset::Dataset> Rows(int32_t label_offset = 0) {
  constexpr int32_t kRows = 4 * kBatch + 1;
  std::vector<float> x(static_cast<size_t>(kRows) * kFeatures);
  std::vector<int32_t> labels(kRows);
  for (int32_t row = 0; row < kRows; ++row) {
    for (int32_t i = 0; i < kFeatures; ++i)
      x[static_cast<size_t>(row * kFeatures + i)] = 0.01f * static_cast<float>((row * 5 + i * 3) % 7);
    const int32_t label = (row * 7 / 3) % kClasses;
    x[static_cast<size_t>(row * kFeatures + label)] = 1.0f;
    labels[static_cast<size_t>(row)] = label + label_offset;
  }
  return dataset::Tensors(
      {MSTensor("x", DataType::kNumberTypeFloat32, {kRows, kFeatures}, x.data(), x.size() * sizeof(float)),
       MSTensor("labels", DataType::kNumberTypeInt32, {kRows}, labels.data(), labels.size() * sizeof(int32_t))});
}

// A folder of its own for each test.
class Training : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/mslite_training_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    ASSERT_EQ(BuildFrom(TrainingModel(), &model_), kSuccess);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
  Model model_;
};

// Writes down what is called.
class Recorder : public TrainCallBack {
 public:
  explicit Recorder(CallbackRetValue answer = kContinue) : answer_(answer) {}
  void Begin(const TrainCallBackData &) override { calls += "B"; }
  void End(const TrainCallBackData &) override { calls += "E"; }
  void EpochBegin(const TrainCallBackData &) override { calls += "["; }
  CallbackRetValue EpochEnd(const TrainCallBackData &) override {
    calls += "]";
    return answer_;
  }
  void StepBegin(const TrainCallBackData &data) override { calls += std::to_string(data.step_); }
  void StepEnd(const TrainCallBackData &data) override { calls += data.train_mode_ ? "t" : "e"; }

  std::string calls;

 private:
  CallbackRetValue answer_;
};

TEST_F(Training, LearnsFromADataset) {
  LossMonitor losses(0);
  TimeMonitor time;
  float factor = 0.5f;
  LRScheduler schedule(MultiplicativeLRLambda, &factor, 10);
  CkptSaver saver(15, folder_ + "/m");
  AccuracyMetrics accuracy;
  ASSERT_EQ(model_.InitMetrics({&accuracy}), kSuccess);
  ASSERT_EQ(model_.GetMetrics().size(), 1u);
  ASSERT_EQ(model_.Train(30, Rows()->Shuffle(3), {&losses, &time, &schedule, &saver}), kSuccess);
  ASSERT_EQ(losses.GetLossPoints().size(), 30u);
  EXPECT_LT(losses.GetLossPoints().back().second, 0.3f * losses.GetLossPoints().front().second);
  EXPECT_FLOAT_EQ(model_.GetLearningRate(), 0.5f * 0.125f);
  ASSERT_EQ(model_.Evaluate(Rows(), {}), kSuccess);
  EXPECT_EQ(accuracy.Eval(), 1.0f);
  EXPECT_FALSE(model_.GetTrainMode());

  // Half the way, then from the checkpoint: the same weights.
  Model other;
  Graph graph;
  ASSERT_EQ(Serialization::Load(folder_ + "/m_trained_15.ms", kMindIR, &graph), kSuccess);
  ASSERT_EQ(other.Build(GraphCell(graph), OnTheCpu(), std::make_shared<TrainCfg>()), kSuccess);
  EXPECT_FLOAT_EQ(other.GetLearningRate(), 0.25f);
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/m_trained_30.ms"));
}

// The product is computed in float16 where the processor does that, and between casts elsewhere; it learns the same.
TEST_F(Training, GivesUpGradients) {
  TrainCfg gives_up;
  gives_up.keep_gradients_ = false;
  Model model, keeps;
  ASSERT_TRUE(BuildFrom(TrainingModel(), &model, gives_up).IsOk());
  ASSERT_TRUE(BuildFrom(TrainingModel(), &keeps).IsOk());
  for (Model *one : {&model, &keeps}) ASSERT_TRUE(one->Train(2, Rows(), {}).IsOk());
  EXPECT_TRUE(model.GetGradients().empty());
  EXPECT_EQ(keeps.GetGradients().size(), 1U);
  const MSTensor found = model.GetTrainableParams()[0], expected = keeps.GetTrainableParams()[0];
  ASSERT_EQ(found.DataSize(), expected.DataSize());
  EXPECT_EQ(std::memcmp(found.Data().get(), expected.Data().get(), found.DataSize()), 0);
  const float zero = 0.0f;
  EXPECT_NE(std::memcmp(found.Data().get(), &zero, sizeof zero), 0) << "it has learned";
  ASSERT_TRUE(model.SetupVirtualBatch(2).IsOk());
  ASSERT_TRUE(model.SetTrainMode(true).IsOk());
  for (MSTensor input : model.GetInputs()) std::memset(input.MutableData(), 0, input.DataSize());
  ASSERT_TRUE(model.RunStep().IsOk());
  EXPECT_EQ(model.GetGradients().size(), 1U) << "that of the first half";
}

TEST_F(Training, LearnsInMixedPrecision) {
  Model mixed;
  ASSERT_EQ(BuildFrom(TrainingModel(), &mixed, kO2), kSuccess);
  std::vector<float> last;
  for (Model *model : {&model_, &mixed}) {
    LossMonitor losses(0);
    ASSERT_EQ(model->Train(30, Rows(), {&losses}), kSuccess);
    last.push_back(losses.GetLossPoints().back().second);
    EXPECT_LT(last.back(), 0.3f * losses.GetLossPoints().front().second);
  }
  EXPECT_NE(last[0], last[1]);
  EXPECT_NEAR(last[0], last[1], 5e-3f * last[0]);

  DataType product = DataType::kTypeUnknown;
  bool reads_half = false;
  const MSKernelCallBack after = [&](const std::vector<MSTensor> &read, const std::vector<MSTensor> &written,
                                     const MSCallBackParam &call) {
    if (call.node_name == "net/MatMul") product = written[0].DataType();
    reads_half = reads_half || read[0].DataType() == DataType::kNumberTypeFloat16;
    return true;
  };
  ASSERT_EQ(mixed.SetTrainMode(true), kSuccess);
  ASSERT_EQ(mixed.RunStep(nullptr, after), kSuccess);
  EXPECT_TRUE(reads_half);
#ifdef __aarch64__
  const bool computes_in_half = (getauxval(AT_HWCAP) & HWCAP_ASIMDHP) != 0;
#else
  const bool computes_in_half = false;
#endif
  EXPECT_EQ(product, computes_in_half ? DataType::kNumberTypeFloat16 : DataType::kNumberTypeFloat32);
}

// Each optimizer keeps its own rate: it is divided, and comes back.
TEST(VirtualBatches, KeepTheRatesOfOptimizersApart) {
  Model model;
  ASSERT_EQ(BuildFrom(TrainingModel(true), &model), kSuccess);
  const auto rates = [&model] {
    std::vector<float> found;
    for (const MSTensor &number : model.GetOptimizerParams()) {
      if (number.Name() == "momentum") continue;
      found.push_back(*static_cast<const float *>(number.Data().get()));
    }
    return found;
  };
  EXPECT_EQ(rates(), (std::vector<float>{0.5f, 0.125f}));
  ASSERT_EQ(model.SetupVirtualBatch(2), kSuccess);
  EXPECT_EQ(rates(), (std::vector<float>{0.25f, 0.0625f}));
  ASSERT_EQ(model.SetupVirtualBatch(4, 0.1f), kSuccess);
  EXPECT_EQ(rates(), (std::vector<float>{0.1f, 0.1f}));
  ASSERT_EQ(model.SetupVirtualBatch(1), kSuccess);
  EXPECT_EQ(rates(), (std::vector<float>{0.5f, 0.125f}));
}

TEST_F(Training, RefusesLevelsOfNoPrecision) {
  Model model;
  EXPECT_EQ(BuildFrom(TrainingModel(), &model, static_cast<OptimizationLevel>(7)), kLiteParamInvalid);
}

TEST_F(Training, CallsBack) {
  Recorder all;
  ASSERT_EQ(model_.Train(2, Rows(), {&all}), kSuccess);
  EXPECT_EQ(all.calls, "B[0t1t2t3t][0t1t2t3t]E");
  Recorder stops(kStopTraining);
  ASSERT_EQ(model_.Train(2, Rows(), {&stops}), kSuccess);
  EXPECT_EQ(stops.calls, "B[0t1t2t3t]E");
  Recorder exits(kExit);
  ASSERT_EQ(model_.Train(2, Rows(), {&exits}), kSuccess);
  EXPECT_EQ(exits.calls, "B[0t1t2t3t]");
  Recorder evaluates;
  ASSERT_EQ(model_.Evaluate(Rows()->Batch(kBatch), {&evaluates}), kSuccess);
  EXPECT_EQ(evaluates.calls, "B[0e1e2e3e]E");
}

// What steps compute their losses of, although the loss is the graph's only output; in every kind of step.
TEST_F(Training, CountsWhatStepsGetRight) {
  for (const bool gives_up : {false, true}) {
    for (const OptimizationLevel level : {kO0, kO2}) {
      for (const int multiplier : {1, 2}) {
        TrainCfg config;
        config.keep_gradients_ = !gives_up;
        config.optimization_level_ = level;
        Model model, other;
        ASSERT_EQ(BuildFrom(TrainingModel(), &model, config), kSuccess);
        ASSERT_EQ(BuildFrom(TrainingModel(), &other, config), kSuccess);
        for (Model *one : {&model, &other}) ASSERT_EQ(one->SetupVirtualBatch(multiplier), kSuccess);
        TrainAccuracy training, evaluating;
        ASSERT_EQ(model.Train(30, Rows(), {&training}), kSuccess);
        ASSERT_EQ(other.Train(30, Rows(), {}), kSuccess);
        ASSERT_EQ(training.GetAccuracyPoints().size(), 30u);
        EXPECT_LT(training.GetAccuracyPoints()[0].second, 0.9f);
        EXPECT_EQ(training.GetAccuracyPoints()[29], GraphPoint(29, 1.0f));
        const MSTensor found = model.GetTrainableParams()[0], expected = other.GetTrainableParams()[0];
        EXPECT_EQ(std::memcmp(found.Data().get(), expected.Data().get(), expected.DataSize()), 0);
        EXPECT_EQ(model.GetOutputs().size(), 1u) << "the loss";
        ASSERT_EQ(model.Evaluate(Rows(), {&evaluating}), kSuccess);
        EXPECT_EQ(evaluating.GetAccuracyPoints().back().second, 1.0f);
      }
    }
  }
}

TEST_F(Training, SaysOnceThatLabelsDoNotFit) {
  TrainAccuracy accuracy(INT_MAX, METRICS_MULTILABEL);
  testing::internal::CaptureStderr();
  ASSERT_EQ(model_.Train(3, Rows(), {&accuracy}), kSuccess);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(accuracy.GetAccuracyPoints().back().second, 0.0f);
  EXPECT_NE(log.find("the labels (input 1: 'labels' int32[4]) do not match the predictions (output 0: 'logits' "
                     "float32[4, 3])"),
            std::string::npos)
      << log;
  EXPECT_EQ(log.find("accuracy"), log.rfind("accuracy")) << log;
}

// A callback that evaluates, as programs do after each epoch, or that ends training mode, does not end training.
TEST_F(Training, GoesOnAfterCallbacksThatEvaluate) {
  class Evaluates : public TrainCallBack {
   public:
    CallbackRetValue EpochEnd(const TrainCallBackData &data) override {
      EXPECT_EQ(data.model_->Evaluate(Rows(), {}), kSuccess);
      return kContinue;
    }
    void StepEnd(const TrainCallBackData &data) override { EXPECT_EQ(data.model_->SetTrainMode(false), kSuccess); }
  };
  Model other;
  ASSERT_EQ(BuildFrom(TrainingModel(), &other), kSuccess);
  Evaluates evaluates;
  ASSERT_EQ(model_.Train(3, Rows(), {&evaluates}), kSuccess);
  ASSERT_EQ(other.Train(3, Rows(), {}), kSuccess);
  const MSTensor found = model_.GetTrainableParams()[0];
  const MSTensor expected = other.GetTrainableParams()[0];
  EXPECT_EQ(std::memcmp(found.Data().get(), expected.Data().get(), expected.DataSize()), 0);
}

TEST_F(Training, RefusesWhatDoesNotFit) {
  EXPECT_EQ(model_.Train(0, Rows(), {}), kLiteParamInvalid);
  EXPECT_EQ(model_.Train(1, nullptr, {}), kLiteNullptr);
  EXPECT_EQ(model_.Train(1, Rows(), {nullptr}), kLiteNullptr);
  EXPECT_EQ(model_.Train(1, dataset::Tensors({}), {}), kLiteParamInvalid);
  EXPECT_EQ(model_.Train(1, Rows()->Batch(kBatch + 1), {}), kLiteParamInvalid);
  EXPECT_EQ(model_.Train(1, Rows()->Batch(-1), {}), kLiteParamInvalid);
  EXPECT_EQ(model_.SetLearningRate(std::numeric_limits<float>::infinity()), kLiteParamInvalid);
  EXPECT_EQ(model_.SetLearningRate(std::numeric_limits<float>::quiet_NaN()), kLiteParamInvalid);
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(model_.SetupVirtualBatch(2, infinity), kLiteParamInvalid);
  EXPECT_EQ(model_.SetupVirtualBatch(2, nan), kLiteParamInvalid);
  EXPECT_EQ(model_.SetupVirtualBatch(2, 0.1f, nan), kLiteParamInvalid);
  EXPECT_EQ(model_.SetupVirtualBatch(2, 0.1f, 1.5f), kLiteParamInvalid);
  EXPECT_EQ(model_.GetLearningRate(), 0.5f);
  Model other;
  EXPECT_EQ(other.SetTrainMode(false), kLiteUninitializedObj);
  EXPECT_EQ(other.SetTrainMode(true), kLiteUninitializedObj);
  TrainCfg config;
  config.SetLossName({"_loss_fn", ""});
  EXPECT_EQ(BuildFrom(TrainingModel(), &other, config), kLiteParamInvalid);
  EXPECT_EQ(Serialization::ExportModel(model_, kMindIR, std::string()), kLiteParamInvalid);
  // Labels that no class has: the node says so, and no weight becomes what it was not.
  EXPECT_EQ(model_.Train(1, Rows(kClasses), {}), kLiteOpExecuteFailure);
  ASSERT_EQ(model_.GetTrainableParams().size(), 1u);
  EXPECT_EQ(static_cast<const float *>(model_.GetTrainableParams()[0].Data().get())[0], 0.0f);
  EXPECT_EQ(model_.Train(1, Rows(-1), {}), kLiteOpExecuteFailure);
  EXPECT_EQ(model_.Train(1, Rows(), {}), kSuccess);
}

void Write(const std::string &path, const std::vector<uint8_t> &bytes) {
  std::FILE *file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
  EXPECT_EQ(std::fclose(file), 0);
}

// Images of 3 x 3 whose brightest pixel is that of their label.
TEST_F(Training, ReadsMnist) {
  constexpr uint8_t kCount = 12;
  std::vector<uint8_t> images = {0, 0, 8, 3, 0, 0, 0, kCount, 0, 0, 0, 3, 0, 0, 0, 3};
  std::vector<uint8_t> labels = {0, 0, 8, 1, 0, 0, 0, kCount};
  for (uint8_t i = 0; i < kCount; ++i) {
    labels.push_back(i % kClasses);
    for (uint8_t pixel = 0; pixel < kFeatures; ++pixel) images.push_back(pixel == i % kClasses ? 255 : pixel);
  }
  Write(folder_ + "/train-images-idx3-ubyte", images);
  Write(folder_ + "/train-labels-idx1-ubyte", labels);
  const std::shared_ptr<dataset::Dataset> digits = dataset::Mnist(folder_);
  ASSERT_EQ(digits->GetDatasetSize(), kCount);
  ASSERT_EQ(digits->GetColumns().size(), 2u);
  EXPECT_EQ(digits->GetColumns()[0].shape, (std::vector<int64_t>{3, 3, 1}));
  std::vector<float> image(kFeatures);
  ASSERT_EQ(digits->Read(1, 0, image.data()), kSuccess);
  EXPECT_EQ(image[1], 1.0f);
  EXPECT_EQ(image[5], 5.0f / 255.0f);
  EXPECT_EQ(digits->Read(kCount, 0, image.data()), kLiteParamInvalid);
  EXPECT_EQ(digits->Read(0, 2, image.data()), kLiteParamInvalid);
  EXPECT_EQ(model_.Train(20, digits, {}), kSuccess);
  AccuracyMetrics accuracy;
  ASSERT_EQ(model_.InitMetrics({&accuracy}), kSuccess);
  ASSERT_EQ(model_.Evaluate(digits, {}), kSuccess);
  EXPECT_EQ(accuracy.Eval(), 1.0f);

  EXPECT_EQ(model_.Train(1, dataset::Mnist(folder_, "test"), {}), kLiteFileError);
  EXPECT_EQ(model_.Train(1, dataset::Mnist(folder_, "all"), {}), kLiteParamInvalid);
  images.pop_back();
  Write(folder_ + "/train-images-idx3-ubyte", images);
  EXPECT_EQ(model_.Train(1, dataset::Mnist(folder_), {}), kLiteFileError);
  images[8] = 0xFF;  // rows of four thousand millions
  Write(folder_ + "/train-images-idx3-ubyte", images);
  EXPECT_EQ(model_.Train(1, dataset::Mnist(folder_), {}), kLiteFileError);
}

TEST(Datasets, Shuffle) {
  const std::shared_ptr<dataset::Dataset> rows = Rows();
  std::vector<int64_t> in_order;
  for (int64_t i = 0; i < rows->GetDatasetSize(); ++i) in_order.push_back(i);
  EXPECT_EQ(rows->Order(0), in_order);
  rows->Shuffle(1);
  const std::vector<int64_t> first = rows->Order(0);
  EXPECT_NE(first, in_order);
  EXPECT_NE(rows->Order(1), first);
  EXPECT_EQ(rows->Order(0), first);
  std::vector<int64_t> sorted = rows->Order(1);
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, in_order);
  EXPECT_NE(Rows()->Shuffle(2)->Order(0), first);
}

Status BuildBehind(const std::string &backbone, const std::string &head, Model *model) {
  Graph first;
  Graph second;
  EXPECT_EQ(Serialization::Load(backbone.data(), backbone.size(), kMindIR, &first), kSuccess);
  EXPECT_EQ(Serialization::Load(head.data(), head.size(), kMindIR, &second), kSuccess);
  return model->BuildTransferLearning(GraphCell(first), GraphCell(second), OnTheCpu());
}

TEST(TransferLearning, TrainsTheHead) {
  Model model;
  ASSERT_EQ(BuildBehind(Backbone({kBatch, kFeatures}, 2.0f), TrainingModel(), &model), kSuccess);
  ASSERT_EQ(model.GetInputs().size(), 2u);
  EXPECT_EQ(model.GetInputs()[0].Name(), "backbone/x");
  EXPECT_EQ(model.GetInputs()[1].Name(), "labels");
  ASSERT_EQ(model.GetTrainableParams().size(), 1u);
  EXPECT_EQ(model.GetTrainableParams()[0].Name(), "w");
  AccuracyMetrics accuracy;
  ASSERT_EQ(model.InitMetrics({&accuracy}), kSuccess);
  ASSERT_EQ(model.Train(20, Rows(), {}), kSuccess);
  ASSERT_EQ(model.Evaluate(Rows(), {}), kSuccess);
  EXPECT_EQ(accuracy.Eval(), 1.0f);
  Buffer whole;
  ASSERT_EQ(Serialization::ExportModel(model, kMindIR, &whole), kSuccess);
  Model inference;
  ASSERT_EQ(inference.Build(whole.Data(), whole.DataSize(), kMindIR, OnTheCpu()), kSuccess);
  ASSERT_EQ(inference.GetInputs().size(), 1u);
  EXPECT_EQ(inference.GetInputs()[0].Name(), "backbone/x");
}

TEST(TransferLearning, TurnsImages) {
  Model model;
  ASSERT_EQ(BuildBehind(Backbone({1, 2, 3, 4}, -2.0f), HeadOfImages(), &model), kSuccess);
  ASSERT_EQ(model.SetTrainMode(true), kSuccess);
  auto *x = static_cast<float *>(model.GetInputs()[0].MutableData());
  for (int i = 0; i < 24; ++i) x[i] = i % 4 == 2 ? -0.5f : 0.0f;  // channel 2 of each pixel, which becomes 1
  ASSERT_EQ(model.RunStep(), kSuccess);
  EXPECT_EQ(*static_cast<const float *>(model.GetOutputs()[0].Data().get()), 0.25f);
  const auto *offset = static_cast<const float *>(model.GetTrainableParams()[0].Data().get());
  EXPECT_EQ(std::vector<float>(offset, offset + 4), (std::vector<float>{0, 0, -6, 0}));
}

TEST(TransferLearning, RefusesWhatDoesNotFit) {
  Model model;
  EXPECT_EQ(BuildBehind(Backbone({kBatch, kFeatures + 1}, 1.0f), TrainingModel(), &model), kLiteParamInvalid);
  EXPECT_EQ(BuildBehind(Backbone({kBatch, kFeatures}, 1.0f, "MindSpore Lite 1.2.0"), TrainingModel(), &model),
            kLiteNotSupport);
  EXPECT_EQ(BuildBehind(TrainingModel(), TrainingModel(), &model), kLiteNotSupport);
  EXPECT_EQ(BuildBehind(Backbone({kBatch, kFeatures}, 1.0f), Backbone({kBatch, kFeatures}, 1.0f), &model),
            kLiteGraphFileError);
  EXPECT_EQ(model.BuildTransferLearning(GraphCell(), GraphCell(), OnTheCpu()), kLiteNullptr);
}

TEST_F(Training, SchedulesOfTheRate) {
  float rate = 1.0f;
  struct StepLRLambda schedule(3, 0.1f);
  EXPECT_EQ(StepLRLambda(&rate, 0, &schedule), DONT_UPDATE_LR);
  EXPECT_EQ(StepLRLambda(&rate, 2, &schedule), UPDATE_LR);
  EXPECT_FLOAT_EQ(rate, 0.1f);
  EXPECT_EQ(StepLRLambda(nullptr, 2, &schedule), DONT_UPDATE_LR);
  EXPECT_EQ(MultiplicativeLRLambda(&rate, 0, nullptr), DONT_UPDATE_LR);
}
}  // namespace
}  // namespace mindspore
