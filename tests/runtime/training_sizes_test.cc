// Gradients, variables and operands of optimizers that are not what their weight asks for: refused when the model is
// built where the file says so, and by the step where only its data do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "include/api/callback/callback.h"
#include "include/dataset/datasets.h"
#include "training_models.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT

const std::vector<float> kSame = {2, 2, 2, 2, 2, 2};
const std::vector<float> kDifferent = {1, 2, 3, 4, 5, 6};

struct Way {
  const char *name;
  bool keeps;
  bool accumulates;
  OptimizationLevel level;
  int multiplier;
};
const std::vector<Way> kWays = {{"plain", true, false, kO0, 1},      {"gives up gradients", false, false, kO0, 1},
                                {"accumulates", true, true, kO0, 1}, {"virtual batch", true, false, kO0, 2},
                                {"mixed", true, false, kO2, 1},      {"mixed virtual batch", false, false, kO2, 3}};

Status Build(const std::string &file, const Way &way, Model *model) {
  TrainCfg config;
  config.keep_gradients_ = way.keeps;
  config.accumulate_gradients_ = way.accumulates;
  config.optimization_level_ = way.level;
  return BuildForTraining(file, config, OneThread(), model);
}

Status Step(const std::vector<float> &x, Model *model) {
  MSTensor input = model->GetInputs()[0];
  std::memcpy(input.MutableData(), x.data(), x.size() * sizeof(float));
  return model->RunStep();
}

std::vector<float> Numbers(const MSTensor &tensor) {
  const auto *values = static_cast<const float *>(tensor.Data().get());
  return {values, values + tensor.ElementNum()};
}

// The different numbers of x.
uint32_t Unique(ModelBuilder *m, uint32_t x, const std::vector<int32_t> &dims) {
  const uint32_t values = m->Value("gradient", dims), places = m->Value("places", {6}, kInt);
  m->Node("Gradients/unique", schema::CreateUnique(m->builder), {x}, {values, places});
  return values;
}

// The same behind another node, where only a run shows what it is.
uint32_t BehindUnique(ModelBuilder *m, uint32_t x) {
  const uint32_t values = m->Value("values", {}), places = m->Value("places", {6}, kInt);
  const uint32_t gradient = m->Value("gradient", {6});
  m->Node("Gradients/unique", schema::CreateUnique(m->builder), {x}, {values, places});
  m->Node("Gradients/abs", schema::CreateAbs(m->builder), {values}, {gradient});
  return gradient;
}

MakeGradient Reshaped(const std::vector<int32_t> &dims) {
  return [dims](ModelBuilder *m, uint32_t x) {
    const uint32_t shape = m->Constant<int32_t>("dims", {static_cast<int32_t>(dims.size())}, dims, kInt);
    const uint32_t gradient = m->Value("gradient", dims);
    m->Node("Gradients/reshape", schema::CreateReshape(m->builder), {x, shape}, {gradient});
    return gradient;
  };
}

uint32_t First(ModelBuilder *m, uint32_t x) {
  const uint32_t axes = m->Constant<int32_t>("axis", {1}, {0}, kInt);
  const uint32_t gradient = m->Value("gradient", {1});
  m->Node("Gradients/sum", schema::CreateReduceFusion(m->builder, true, schema::ReduceMode_ReduceSum), {x, axes},
          {gradient});
  return gradient;
}

uint32_t AsIntegers(ModelBuilder *m, uint32_t x) {
  const uint32_t type = m->Constant<int32_t>("type", {1}, {kInt}, kInt);
  const uint32_t gradient = m->Value("gradient", {6}, kInt);
  m->Node("Gradients/cast", schema::CreateCast(m->builder), {x, type}, {gradient});
  return gradient;
}

void ExpectRefused(const std::string &file, const std::vector<std::string> &parts) {
  for (const Way &way : kWays) {
    Model model;
    const Status status = Build(file, way, &model);
    ASSERT_TRUE(status.IsError()) << way.name;
    for (const std::string &part : parts) {
      EXPECT_NE(status.ToString().find(part), std::string::npos) << way.name << ": " << status.ToString();
    }
  }
}

TEST(Gradients, OfTheirWeightsShapeAreTaken) {
  for (const Way &way : kWays) {
    Model model;
    const Status status = Build(ModelWithGradient(Doubled), way, &model);
    ASSERT_TRUE(status.IsOk()) << way.name << ": " << status.ToString();
    ASSERT_EQ(model.SetupVirtualBatch(way.multiplier), kSuccess) << way.name;
    ASSERT_EQ(model.SetTrainMode(true), kSuccess) << way.name;
    for (int step = 0; step < way.multiplier; ++step) ASSERT_EQ(Step(kDifferent, &model), kSuccess) << way.name;
    const float gained = way.accumulates ? 0.0f : -0.5f * (2.0f * (1.0f - 4.0f));  // rate x gradient of the first
    EXPECT_EQ(Numbers(model.GetTrainableParams()[0])[0], 1.0f + gained) << way.name;
  }
}

TEST(Gradients, OfAnotherShapeAreRefused) {
  ExpectRefused(ModelWithGradient(Reshaped({2, 3})), {"weight 'w'", "float32[6]", "'gradient'", "float32[2, 3]"});
  ExpectRefused(ModelWithGradient(First), {"weight 'w'", "float32[6]", "'gradient'", "float32[1]"});
}

TEST(Gradients, OfAnotherTypeAreRefused) {
  ExpectRefused(ModelWithGradient(AsIntegers), {"weight 'w'", "float32[6]", "'gradient'", "int32[6]"});
}

TEST(Gradients, WhoseSizeDependsOnDataAreRefused) {
  const auto unique = [](ModelBuilder *m, uint32_t x) { return Unique(m, x, {6}); };
  const std::string file = ModelWithGradient(unique);
  for (const Way &way : kWays) {
    Model model;
    const Status status = Build(file, way, &model);
    ASSERT_TRUE(status.IsError()) << way.name;
    EXPECT_NE(status.ToString().find("depends on data"), std::string::npos) << status.ToString();
    EXPECT_NE(status.ToString().find("weight 'w'"), std::string::npos) << status.ToString();
  }
}

// Steps whose gradient is as large as the weight succeed, before and after others, which change nothing.
TEST(Gradients, AreComparedInEachStep) {
  const std::string file = ModelWithGradient(BehindUnique);
  for (const Way &way : kWays) {
    for (const bool fits_first : {true, false}) {
      Model model;
      const Status status = Build(file, way, &model);
      ASSERT_TRUE(status.IsOk()) << way.name << ": " << status.ToString();
      ASSERT_EQ(model.SetupVirtualBatch(way.multiplier), kSuccess) << way.name;
      ASSERT_EQ(model.SetTrainMode(true), kSuccess) << way.name;
      if (fits_first) {
        ASSERT_EQ(Step(kDifferent, &model), kSuccess) << way.name;
      }
      const std::vector<float> before = Numbers(model.GetTrainableParams()[0]);
      const Status refused = Step(kSame, &model);
      EXPECT_TRUE(refused.IsError()) << way.name;
      EXPECT_EQ(Numbers(model.GetTrainableParams()[0]), before) << way.name;
      for (const MSTensor &gradient : model.GetGradients()) (void)Numbers(gradient);
      for (int step = 0; step < 3; ++step) EXPECT_EQ(Step(kDifferent, &model), kSuccess) << way.name;
    }
  }
}

TEST(Gradients, ThatAProgramGivesHaveTheSizeOfTheirWeight) {
  Model model;
  ASSERT_EQ(Build(ModelWithGradient(Doubled), kWays[0], &model), kSuccess);
  const std::vector<float> values(7, 1.0f);
  const auto apply = [&](DataType type, const std::vector<int64_t> &shape, size_t bytes) {
    return model.ApplyGradients({MSTensor("gradient", type, shape, values.data(), bytes)});
  };
  EXPECT_EQ(apply(DataType::kNumberTypeFloat32, {7}, 28), kLiteParamInvalid);
  EXPECT_EQ(apply(DataType::kNumberTypeInt32, {6}, 24), kLiteParamInvalid);
  EXPECT_EQ(apply(DataType::kNumberTypeFloat32, {6}, 24), kSuccess);
  EXPECT_EQ(Numbers(model.GetTrainableParams()[0])[0], 0.5f);
  // A shape that was changed behind the data.
  MSTensor less("w", DataType::kNumberTypeFloat32, {2}, values.data(), 8);
  less.SetShape({6});
  EXPECT_EQ(model.UpdateFeatureMaps({less}), kLiteParamInvalid);
  less.SetTensorName("gradient");
  EXPECT_EQ(model.ApplyGradients({less}), kLiteParamInvalid);
}

TEST(Operands, OfOptimizersHaveTheSizesThatTheyMust) {
  TrainingSettings small_moments;
  small_moments.moments = {2};
  ExpectRefused(ModelWithGradient(Doubled, small_moments), {"'moments' has 8 bytes", "weight 'w' needs 24"});
  TrainingSettings no_rate;
  no_rate.rate = {0};
  ExpectRefused(ModelWithGradient(Doubled, no_rate), {"'learning_rate'"});
  TrainingSettings two_rates;
  two_rates.rate = {2};
  ExpectRefused(ModelWithGradient(Doubled, two_rates), {"'learning_rate' has 8 bytes", "needs 4"});
}

// Exports and evaluation find what a variable holds by its name.
TEST(Variables, ShareTheirNameWithNoOtherConstant) {
  TrainingSettings settings;
  settings.other_name = "w";
  ExpectRefused(ModelWithGradient(Doubled, settings), {"'w'", "another constant has that name"});
}

// A variable's memory is read by several sessions: nothing of another size is written there.
TEST(Variables, AreAssignedWhatHasTheirShape) {
  ModelBuilder m;
  auto &b = m.builder;
  const uint32_t x = m.Value("x", {6});
  const uint32_t weight = m.Floats("w", {6}, std::vector<float>(6, 1.0f));
  const uint32_t state = m.Floats("state", {6}, std::vector<float>(6, 1.0f));
  const uint32_t loss = m.Value("loss", {6}), gradient = m.Value("gradient", {6}), large = m.Value("large", {48});
  const uint32_t times = m.Constant<int32_t>("times", {1}, {8}, kInt);
  const uint32_t y = m.Value("y", {6});
  m.Node("net/Abs", schema::CreateAbs(b), {x}, {y});
  m.Node("net/_loss_fn", schema::CreateAddFusion(b), {y, state}, {loss});
  m.Node("Gradients/double", schema::CreateAddFusion(b), {y, weight}, {gradient});
  m.Node("tile", schema::CreateTileFusion(b), {x, times}, {large});
  m.Node("assign", schema::CreateAssign(b), {state, large}, {m.Value("assigned", {48})});
  m.Node("optimizer/w", schema::CreateApplyMomentum(b),
         {weight, m.Floats("moments", {6}, std::vector<float>(6, 0.0f)), m.Floats("learning_rate", {}, {0.5f}),
          gradient, m.Floats("momentum", {}, {0.5f})},
         {m.Value("updated", {6})});
  m.Graph({x}, {loss}, {0, 1, 2, 3, 4, 5});
  const std::string file = m.Finish({x}, {loss});
  for (const Way &way : kWays) {
    if (way.level != kO0) continue;  // the gradient comes from no loss
    Model model;
    ASSERT_EQ(Build(file, way, &model), kSuccess) << way.name;
    ASSERT_EQ(model.SetTrainMode(true), kSuccess);
    for (int step = 0; step < 3; ++step) {
      const Status status = Step(kDifferent, &model);
      if (status.IsOk()) continue;  // the updates of a step that holds its gradients come later
      EXPECT_NE(status.ToString().find("another type or shape"), std::string::npos) << status.ToString();
    }
  }
}

// A callback that resizes the model would let batches be written behind the end of its inputs.
TEST(Batches, DoNotGoOnInInputsOfAnotherSize) {
  class Resizes : public TrainCallBack {
   public:
    void StepBegin(const TrainCallBackData &data) override {
      std::vector<MSTensor> inputs = data.model_->GetInputs();
      status = data.model_->Resize(inputs, {{1}});
      for (MSTensor &input : inputs) (void)input.MutableData();
    }
    Status status;
  };
  ModelBuilder m;
  auto &b = m.builder;
  const uint32_t x = m.Value("x", {-1});
  const uint32_t weight = m.Floats("w", {1}, {1.0f});
  const uint32_t axes = m.Constant<int32_t>("axes", {1}, {0}, kInt);
  const uint32_t loss = m.Value("loss", {1}), gradient = m.Value("gradient", {1}), y = m.Value("y", {-1});
  m.Node("net/Abs", schema::CreateAbs(b), {x}, {y});
  m.Node("net/_loss_fn", schema::CreateReduceFusion(b, true, schema::ReduceMode_ReduceMean), {y, axes}, {loss});
  m.Node("Gradients/sum", schema::CreateReduceFusion(b, true, schema::ReduceMode_ReduceSum), {x, axes}, {gradient});
  m.Node("optimizer/w", schema::CreateApplyMomentum(b),
         {weight, m.Floats("moments", {1}, {0.0f}), m.Floats("learning_rate", {}, {0.5f}), gradient,
          m.Floats("momentum", {}, {0.5f})},
         {m.Value("updated", {1})});
  m.Graph({x}, {loss}, {0, 1, 2, 3});
  Model model;
  ASSERT_EQ(Build(m.Finish({x}, {loss}), kWays[0], &model), kSuccess);
  ASSERT_EQ(model.Resize(model.GetInputs(), {{64}}), kSuccess);
  const std::vector<float> rows(256, 1.0f);
  Resizes resizes;
  const Status status = model.Train(
      1, dataset::Tensors({MSTensor("x", DataType::kNumberTypeFloat32, {256}, rows.data(), 1024)}), {&resizes});
  ASSERT_EQ(resizes.status, kSuccess);
  ASSERT_EQ(status, kLiteParamInvalid);
  EXPECT_NE(status.ToString().find("resized between the batches"), std::string::npos) << status.ToString();
}
}  // namespace
}  // namespace mslite::test
