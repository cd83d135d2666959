// Batch normalization in training: FusedBatchNorm of a training graph against formulas, in float64.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "include/api/cfg.h"
#include "include/api/context.h"
#include "include/api/model.h"
#include "include/api/serialization.h"
#include "model_builder.h"

namespace mindspore {
namespace {
namespace schema = mslite::schema;
using mslite::test::ModelBuilder;
using Numbers = std::vector<double>;
using Parameters = std::map<std::string, Numbers>;

constexpr int32_t kRows = 6;
constexpr int32_t kChannels = 3;
constexpr float kEpsilon = 1e-3f;
constexpr float kMomentum = 0.25f;
constexpr float kRate = 0.5f;

struct Settings {
  std::string version = "MindSpore Lite 2.7.0";
  bool is_training = true;  // of the gradient
  bool is_matrix = false;   // otherwise an image of as many pixels as rows
};

const Parameters &FirstParameters() {
  static const Parameters first = {{"w", {0.5, -0.25, 1, 0.75, 0.5, -1, -0.5, 0.25, 0.125}},
                                   {"scale", {1, 0.5, 1.5}},
                                   {"offset", {0.25, -0.5, 0}},
                                   {"mean", {0.5, -1, 2}},
                                   {"variance", {2, 0.5, 1}}};
  return first;
}

// x * w, batch normalization, cross entropy; Momentum of w, the scale and the offset.
std::string TrainingModel(const Settings &settings) {
  ModelBuilder m;
  auto &b = m.builder;
  const auto constant = [&m](const std::string &name, const std::vector<int32_t> &dims) {
    const Numbers &first = FirstParameters().at(name);
    return m.Floats(name, dims, std::vector<float>(first.begin(), first.end()));
  };
  const std::vector<int32_t> rows = {kRows, kChannels}, channels = {kChannels};
  const std::vector<int32_t> image = settings.is_matrix ? rows : std::vector<int32_t>{2, 1, kRows / 2, kChannels};
  const uint32_t x = m.Value("x", rows);
  const uint32_t labels = m.Value("labels", {kRows}, mslite::test::kInt);
  const uint32_t w = constant("w", {kChannels, kChannels});
  const uint32_t scale = constant("scale", channels), offset = constant("offset", channels);
  const uint32_t mean = constant("mean", channels), variance = constant("variance", channels);
  const uint32_t rate = m.Floats("learning_rate", {}, {kRate}), momentum = m.Floats("momentum", {}, {0.0f});
  const uint32_t to_image = m.Constant("to_image", {static_cast<int32_t>(image.size())}, image, mslite::test::kInt);
  const uint32_t to_rows = m.Constant("to_rows", {2}, rows, mslite::test::kInt);
  const uint32_t product = m.Value("product", rows), pixels = m.Value("pixels", image);
  const uint32_t normalized = m.Value("normalized", image), logits = m.Value("logits", rows);
  const uint32_t copied_scale = m.Value("copied_scale", channels), copied_offset = m.Value("copied_offset", channels);
  const uint32_t batch_mean = m.Value("batch_mean", channels), batch_variance = m.Value("batch_variance", channels);
  const uint32_t loss = m.Value("loss", {1});
  m.Node("net/MatMul", schema::CreateMatMulFusion(b), {x, w}, {product});
  m.Node("net/ToImage", schema::CreateReshape(b), {product, to_image}, {pixels});
  m.Node("net/BatchNorm", schema::CreateFusedBatchNorm(b, kEpsilon, kMomentum), {pixels, scale, offset, mean, variance},
         {normalized, copied_scale, copied_offset, batch_mean, batch_variance});
  m.Node("net/ToRows", schema::CreateReshape(b), {normalized, to_rows}, {logits});
  m.Node("net/_loss_fn", schema::CreateSparseSoftmaxCrossEntropyWithLogits(b, false), {logits, labels}, {loss});
  const uint32_t dlogits = m.Value("dlogits", rows), dnormalized = m.Value("dnormalized", image);
  const uint32_t dpixels = m.Value("dpixels", image), dproduct = m.Value("dproduct", rows);
  const uint32_t dscale = m.Value("dscale", channels), doffset = m.Value("doffset", channels);
  const uint32_t dw = m.Value("dw", {kChannels, kChannels});
  m.Node("Gradients/loss", schema::CreateSparseSoftmaxCrossEntropyWithLogits(b, true), {logits, labels}, {dlogits});
  m.Node("Gradients/ToImage", schema::CreateReshape(b), {dlogits, to_image}, {dnormalized});
  m.Node("Gradients/BatchNorm", schema::CreateBatchNormGrad(b, kEpsilon, settings.is_training),
         {dnormalized, pixels, copied_scale, batch_mean, batch_variance, copied_offset}, {dpixels, dscale, doffset});
  m.Node("Gradients/ToRows", schema::CreateReshape(b), {dpixels, to_rows}, {dproduct});
  m.Node("Gradients/MatMul", schema::CreateMatMulFusion(b, true, false), {x, dproduct}, {dw});
  uint32_t nodes = 10;
  const auto update = [&](const std::string &name, std::vector<int32_t> dims, uint32_t weight, uint32_t gradient) {
    const std::vector<float> zeros(FirstParameters().at(name).size(), 0.0f);
    m.Node("optimizer/" + name, schema::CreateApplyMomentum(b),
           {weight, m.Floats("moments." + name, dims, zeros), rate, gradient, momentum},
           {m.Value("new." + name, dims)});
    ++nodes;
  };
  update("w", {kChannels, kChannels}, w, dw);
  update("scale", channels, scale, dscale);
  update("offset", channels, offset, doffset);
  std::vector<uint32_t> all(nodes);
  for (uint32_t i = 0; i < nodes; ++i) all[i] = i;
  m.Graph({x, labels}, {loss}, all);
  return m.Finish({x, labels}, {loss}, settings.version);
}

const std::vector<float> &X() {
  static const std::vector<float> x = {1, 0.5f, -1, 0, 2, 1, -0.5f, 0.25f, 3, 1.5f, -2, 0, 0.75f, 1, 1, -1, -1, 0.5f};
  return x;
}
const std::vector<int32_t> kLabels = {0, 2, 1, 1, 0, 2};

// ---- the formulas ----

Numbers Product(const Parameters &parameters) {
  Numbers product(static_cast<size_t>(kRows) * kChannels, 0.0);
  for (size_t i = 0; i < product.size(); ++i) {
    for (size_t k = 0; k < kChannels; ++k) {
      product[i] +=
          static_cast<double>(X()[i / kChannels * kChannels + k]) * parameters.at("w")[k * kChannels + i % kChannels];
    }
  }
  return product;
}

struct Statistics {
  Numbers mean = Numbers(kChannels, 0.0), variance = Numbers(kChannels, 0.0);  // of the batch
};

Statistics OfBatch(const Numbers &rows) {
  Statistics statistics;
  for (size_t i = 0; i < rows.size(); ++i) statistics.mean[i % kChannels] += rows[i] / kRows;
  for (size_t i = 0; i < rows.size(); ++i) {
    statistics.variance[i % kChannels] += std::pow(rows[i] - statistics.mean[i % kChannels], 2) / kRows;
  }
  return statistics;
}

Numbers Logits(const Parameters &parameters, const Statistics &by) {
  Numbers logits = Product(parameters);
  for (size_t i = 0; i < logits.size(); ++i) {
    const size_t c = i % kChannels;
    const double deviation = std::sqrt(by.variance[c] + static_cast<double>(kEpsilon));
    logits[i] = (logits[i] - by.mean[c]) / deviation * parameters.at("scale")[c] + parameters.at("offset")[c];
  }
  return logits;
}

double Loss(const Numbers &logits) {
  double loss = 0;
  for (size_t row = 0; row < kRows; ++row) {
    double sum = 0;
    for (size_t c = 0; c < kChannels; ++c) sum += std::exp(logits[row * kChannels + c]);
    loss += std::log(sum) - logits[row * kChannels + static_cast<size_t>(kLabels[row])];
  }
  return loss / kRows;
}

// By the statistics of the batch, or by `constants`.
double LossOf(const Parameters &parameters, const Statistics *constants) {
  return Loss(Logits(parameters, constants != nullptr ? *constants : OfBatch(Product(parameters))));
}

// Central differences.
Numbers Gradient(Parameters parameters, const std::string &name, const Statistics *constants) {
  constexpr double kStep = 1e-6;
  Numbers gradient;
  for (double &value : parameters[name]) {
    const double kept = value;
    value = kept + kStep;
    const double above = LossOf(parameters, constants);
    value = kept - kStep;
    gradient.push_back((above - LossOf(parameters, constants)) / (2 * kStep));
    value = kept;
  }
  return gradient;
}

// What a step makes of the running statistics.
void Move(const Statistics &batch, bool is_matrix, Parameters *parameters, float momentum = kMomentum) {
  const double correction = is_matrix ? 1.0 : static_cast<double>(kRows) / (kRows - 1);
  for (size_t c = 0; c < kChannels; ++c) {
    double &mean = (*parameters)["mean"][c], &variance = (*parameters)["variance"][c];
    mean += static_cast<double>(momentum) * (batch.mean[c] - mean);
    variance += static_cast<double>(momentum) * (batch.variance[c] * correction - variance);
  }
}

// ---- the model ----

Status BuildFrom(const std::string &file, Model *model) {
  Graph graph;
  const Status status = Serialization::Load(file.data(), file.size(), kMindIR, &graph);
  if (status.IsError()) return status;
  auto context = std::make_shared<Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  return model->Build(GraphCell(graph), context, std::make_shared<TrainCfg>());
}

void Fill(Model *model) {
  for (MSTensor &input : model->GetInputs()) {
    const void *data = input.Name() == "x" ? static_cast<const void *>(X().data()) : kLabels.data();
    std::memcpy(input.MutableData(), data, input.DataSize());
  }
}

void ExpectNear(const MSTensor &found, const Numbers &expected) {
  ASSERT_EQ(static_cast<size_t>(found.ElementNum()), expected.size()) << found.Name();
  const auto *values = static_cast<const float *>(found.Data().get());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(values[i], expected[i], 2e-6) << found.Name() << " " << i;
}

void ExpectParameters(const Model &model, const Parameters &expected) {
  size_t count = 0;
  for (const MSTensor &found : model.GetFeatureMaps()) {
    const auto parameter = expected.find(found.Name());
    if (parameter == expected.end()) continue;
    ExpectNear(found, parameter->second);
    ++count;
  }
  EXPECT_EQ(count, expected.size());
}

// One step; `parameters` become what they are then.
void Step(const Settings &settings, Model *model, Parameters *parameters) {
  const Statistics batch = OfBatch(Product(*parameters));
  ASSERT_EQ(model->SetTrainMode(true), kSuccess);
  Fill(model);
  ASSERT_EQ(model->RunStep(), kSuccess);
  ExpectNear(model->GetOutputs()[0], {LossOf(*parameters, nullptr)});
  const Parameters before = *parameters;
  for (const MSTensor &gradient : model->GetGradients()) {
    const std::string name = gradient.Name().substr(1);
    const Numbers expected = Gradient(before, name, settings.is_training ? nullptr : &batch);
    ExpectNear(gradient, expected);
    for (size_t i = 0; i < expected.size(); ++i) {
      (*parameters)[name][i] -= static_cast<double>(kRate) * expected[i];
    }
  }
  Move(batch, settings.is_matrix, parameters);
  ASSERT_EQ(model->SetTrainMode(false), kSuccess);
  ExpectParameters(*model, *parameters);
}

// In evaluation the running statistics count.
void ExpectLogits(Model *model, const Parameters &parameters) {
  Fill(model);
  ASSERT_EQ(model->Predict(), kSuccess);
  ExpectNear(model->GetOutputs()[0], Logits(parameters, {parameters.at("mean"), parameters.at("variance")}));
}

class BatchNormTraining : public testing::TestWithParam<Settings> {};

TEST_P(BatchNormTraining, StepsAndEvaluation) {
  Model model;
  ASSERT_EQ(BuildFrom(TrainingModel(GetParam()), &model), kSuccess);
  Parameters parameters = FirstParameters();
  ExpectLogits(&model, parameters);
  Settings settings = GetParam();
  if (settings.version.find(" 1.3") != std::string::npos) settings.is_training = true;  // which it cannot say
  for (int step = 0; step < 3; ++step) {
    Step(settings, &model, &parameters);
    ExpectLogits(&model, parameters);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, BatchNormTraining,
                         testing::Values(Settings{}, Settings{"MindSpore Lite 2.7.0", true, true},
                                         Settings{"MindSpore Lite 2.7.0", false, false},
                                         Settings{"MindSpore Lite 1.3.0", false, false}));

std::string Exported(const Model &model, bool inference_only) {
  Buffer buffer;
  EXPECT_EQ(Serialization::ExportModel(model, kMindIR, &buffer, kNoQuant, inference_only), kSuccess);
  return {static_cast<const char *>(buffer.Data()), buffer.DataSize()};
}

TEST(BatchNormExports, HaveTheRunningStatistics) {
  Model model;
  ASSERT_EQ(BuildFrom(TrainingModel({}), &model), kSuccess);
  Parameters parameters = FirstParameters();
  Step({}, &model, &parameters);
  Model other;
  ASSERT_EQ(BuildFrom(Exported(model, false), &other), kSuccess);
  ExpectLogits(&other, parameters);
  Step({}, &other, &parameters);
  const std::string file = Exported(other, true);
  Model inference;
  auto context = std::make_shared<Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  ASSERT_EQ(inference.Build(file.data(), file.size(), kMindIR, context), kSuccess);
  ASSERT_EQ(inference.GetInputs().size(), 1u);
  ExpectLogits(&inference, parameters);
}

// Every step of a virtual batch sees its data, and moves the statistics by its part; its last one updates the weights.
TEST(BatchNormVirtualBatch, MovesTheStatisticsInEveryStep) {
  Model model;
  ASSERT_EQ(BuildFrom(TrainingModel({}), &model), kSuccess);
  ASSERT_EQ(model.SetTrainMode(true), kSuccess);
  ASSERT_EQ(model.SetupVirtualBatch(2, 0.0f), kSuccess);
  Parameters parameters = FirstParameters();
  const Statistics batch = OfBatch(Product(parameters));
  for (int step = 0; step < 2; ++step) {
    Fill(&model);
    ASSERT_EQ(model.RunStep(), kSuccess);
    Move(batch, false, &parameters, kMomentum / 2);
  }
  // By a momentum of the caller's, then by the file's again.
  for (const float momentum : {0.125f, -1.0f}) {
    ASSERT_EQ(model.SetupVirtualBatch(momentum < 0 ? 1 : 3, 0.0f, momentum), kSuccess);
    ASSERT_EQ(model.SetLearningRate(0.0f), kSuccess);
    Fill(&model);
    ASSERT_EQ(model.RunStep(), kSuccess);
    Move(batch, false, &parameters, momentum < 0 ? kMomentum : momentum);
  }
  ASSERT_EQ(model.SetTrainMode(false), kSuccess);
  ExpectParameters(model, parameters);
}

// Two nodes with the same statistics move them one behind the other.
TEST(BatchNormSharing, MovesTheStatisticsTwice) {
  ModelBuilder m;
  auto &b = m.builder;
  const uint32_t x = m.Value("x", {kRows, 1, 1, kChannels});
  const uint32_t target = m.Value("target", {kRows, 1, 1, kChannels});
  const std::vector<float> zeros(kChannels, 0.0f), ones(kChannels, 1.0f);
  const std::vector<int32_t> channels = {kChannels}, image = {kRows, 1, 1, kChannels};
  const uint32_t scale = m.Floats("scale", channels, ones), offset = m.Floats("offset", channels, zeros);
  const uint32_t mean = m.Floats("mean", channels, zeros), variance = m.Floats("variance", channels, ones);
  const uint32_t rate = m.Floats("learning_rate", {}, {0.0f}), momentum = m.Floats("momentum", {}, {0.0f});
  std::vector<uint32_t> values = {x}, saved;
  for (const char *name : {"a", "b"}) {
    const auto named = [&](const char *what) { return m.Value(std::string(name) + what, channels); };
    const uint32_t y = m.Value(std::string(name) + "/y", image);
    saved.push_back(named("/mean"));
    saved.push_back(named("/variance"));
    m.Node(name, schema::CreateFusedBatchNorm(b, kEpsilon, kMomentum), {values.back(), scale, offset, mean, variance},
           {y, named("/scale"), named("/offset"), saved[saved.size() - 2], saved.back()});
    values.push_back(y);
  }
  const uint32_t loss = m.Value("loss", image), dy = m.Value("dy", image), doffset = m.Value("doffset", channels);
  m.Node("net/_loss_fn", schema::CreateSubFusion(b), {values.back(), target}, {loss});
  m.Node("Gradients/loss", schema::CreateSubFusion(b), {values.back(), target}, {dy});
  m.Node("Gradients/offset", schema::CreateBiasAddGrad(b), {dy}, {doffset});
  for (size_t i = 0; i < 2; ++i) {
    const std::string name = i == 0 ? "Gradients/a" : "Gradients/b";
    m.Node(name, schema::CreateBatchNormGrad(b, kEpsilon, true), {dy, values[i], scale, saved[2 * i], saved[2 * i + 1]},
           {m.Value(name + "/dx", image), m.Value(name + "/dscale", channels), m.Value(name + "/doffset", channels)});
  }
  m.Node("optimizer/offset", schema::CreateApplyMomentum(b),
         {offset, m.Floats("moments", channels, zeros), rate, doffset, momentum}, {m.Value("new", channels)});
  m.Graph({x, target}, {loss}, {0, 1, 2, 3, 4, 5, 6, 7});
  Model model;
  ASSERT_EQ(BuildFrom(m.Finish({x, target}, {loss}), &model), kSuccess);
  ASSERT_EQ(model.SetTrainMode(true), kSuccess);
  for (MSTensor &input : model.GetInputs()) std::memcpy(input.MutableData(), X().data(), input.DataSize());
  ASSERT_EQ(model.RunStep(), kSuccess);
  ASSERT_EQ(model.SetTrainMode(false), kSuccess);
  const Numbers rows(X().begin(), X().end());
  const Statistics first = OfBatch(rows);
  Statistics second = first;  // of what the first one gives
  for (size_t c = 0; c < kChannels; ++c) {
    second.mean[c] = 0;
    second.variance[c] = first.variance[c] / (first.variance[c] + static_cast<double>(kEpsilon));
  }
  Parameters expected = {{"mean", Numbers(kChannels, 0.0)}, {"variance", Numbers(kChannels, 1.0)}};
  Move(first, false, &expected);
  Move(second, false, &expected);
  ExpectParameters(model, expected);
}
}  // namespace
}  // namespace mindspore
