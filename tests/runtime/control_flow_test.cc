// Loops and branches in the encoding of PartialFusion, Switch and Call.
#include <gtest/gtest.h>

#include "include/api/model.h"
#include "model_builder.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT

std::shared_ptr<Context> OneThread() {
  auto context = std::make_shared<Context>();
  context->SetThreadNum(1);
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  return context;
}

void RunLoop(Model *model, float count) {
  const std::vector<float> start = {-1.0f, 0.0f, -50.0f};
  std::vector<MSTensor> outputs;
  const Status status = model->Predict({MSTensor("n", DataType::kNumberTypeFloat32, {1}, &count, 4),
                                        MSTensor("acc", DataType::kNumberTypeFloat32, {3}, start.data(), 12)},
                                       &outputs);
  ASSERT_TRUE(status.IsOk()) << status.ToString();
  const auto *y = static_cast<const float *>(outputs[0].Data().get());
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(y[i], std::abs(start[i] + 2 * count));
}

TEST(ControlFlow, LoopsWithoutGrowingTheStack) {
  for (const bool tail_flags : {true, false}) {
    const std::string file = LoopModel(tail_flags);
    Model model;
    const Status status = model.Build(file.data(), file.size(), kMindIR_Lite, OneThread());
    ASSERT_TRUE(status.IsOk()) << status.ToString();
    RunLoop(&model, 0.0f);
    RunLoop(&model, 7.0f);
    RunLoop(&model, 200000.0f);
  }
}

TEST(ControlFlow, RefusesClosuresThatMakeNoSense) {
  ModelBuilder m;
  const uint32_t x = m.Value("x", {1}), y = m.Value("y", {1});
  m.Node("call", schema::CreateCall(m.builder), {x}, {y});
  m.Graph({x}, {y}, {0});
  const std::string file = m.Finish({x}, {y});
  Model model;
  EXPECT_EQ(model.Build(file.data(), file.size(), kMindIR_Lite, OneThread()), kLiteGraphFileError);
}

TEST(ControlFlow, RefusesUnknownGraphs) {
  ModelBuilder m;
  const uint32_t x = m.Value("x", {1}), p = m.Value("p", {}), y = m.Value("y", {1});
  m.Node("partial", schema::CreatePartialFusion(m.builder, 5), {x}, {p});
  m.Node("call", schema::CreateCall(m.builder), {p}, {y});
  m.Graph({x}, {y}, {0, 1});
  const std::string file = m.Finish({x}, {y});
  Model model;
  const Status status = model.Build(file.data(), file.size(), kMindIR_Lite, OneThread());
  EXPECT_EQ(status, kLiteGraphFileError);
  EXPECT_NE(status.GetErrDescription().find("refers to graph 5 of 1"), std::string::npos);
}

// The shape of the output depends on data: the plan is split there, and later parts are planned from what came out.
TEST(ControlFlow, PlansAgainAfterDataDependentShapes) {
  ModelBuilder m;
  const uint32_t x = m.Value("x", {6});
  const uint32_t where = m.Value("where", {-1, 1}, kInt);
  const uint32_t zero = m.Constant<int32_t>("axis", {1}, {0}, kInt);
  const uint32_t picked = m.Value("picked", {-1, 1});
  const uint32_t y = m.Value("y", {-1, 1});
  m.Node("where", schema::CreateWhere(m.builder), {x}, {where});
  m.Node("gather", schema::CreateGather(m.builder), {x, where, zero}, {picked});
  m.Node("abs", schema::CreateAbs(m.builder), {picked}, {y});
  m.Graph({x}, {y}, {0, 1, 2});
  const std::string file = m.Finish({x}, {y});
  Model model;
  const Status status = model.Build(file.data(), file.size(), kMindIR_Lite, OneThread());
  ASSERT_TRUE(status.IsOk()) << status.ToString();
  for (const std::vector<float> &values : std::vector<std::vector<float>>{
           {0, -1, 0, 2, 0, -3}, {0, 0, 0, 0, 0, 0}, {1, -2, 3, -4, 5, -6}, {0, 0, 0, 0, 0, 9}}) {
    std::vector<float> wanted;
    for (const float value : values) {
      if (value != 0) wanted.push_back(std::abs(value));
    }
    std::vector<MSTensor> outputs;
    const Status run = model.Predict({MSTensor("x", DataType::kNumberTypeFloat32, {6}, values.data(), 24)}, &outputs);
    ASSERT_TRUE(run.IsOk()) << run.ToString();
    ASSERT_EQ(outputs[0].Shape(), (std::vector<int64_t>{static_cast<int64_t>(wanted.size()), 1}));
    const auto *data = static_cast<const float *>(outputs[0].Data().get());
    EXPECT_EQ(std::vector<float>(data, data + wanted.size()), wanted);
  }
}

// The caller's tensor is larger than what a later run gives: the count is asked again and its shape follows.
TEST(ControlFlow, CountsAgainIntoMemoryOfTheCaller) {
  ModelBuilder m;
  const uint32_t x = m.Value("x", {4});
  const uint32_t where = m.Value("where", {-1, 1}, kInt);
  m.Node("where", schema::CreateWhere(m.builder), {x}, {where});
  m.Graph({x}, {where}, {0});
  const std::string file = m.Finish({x}, {where});
  Model model;
  ASSERT_TRUE(model.Build(file.data(), file.size(), kMindIR_Lite, OneThread()).IsOk());
  std::vector<int32_t> memory(4);
  MSTensor *target = MSTensor::CreateRefTensor("t", DataType::kNumberTypeInt32, {4, 1}, memory.data(), 16, false);
  std::vector<MSTensor> outputs = {*target};
  MSTensor::DestroyTensorPtr(target);
  for (const std::vector<float> &values : std::vector<std::vector<float>>{{1, 2, 3, 4}, {0, 5, 0, 0}, {7, 0, 0, 8}}) {
    std::vector<int32_t> wanted;
    for (int32_t i = 0; i < 4; ++i) {
      if (values[static_cast<size_t>(i)] != 0) wanted.push_back(i);
    }
    const Status run = model.Predict({MSTensor("x", DataType::kNumberTypeFloat32, {4}, values.data(), 16)}, &outputs);
    ASSERT_TRUE(run.IsOk()) << run.ToString();
    const auto count = static_cast<int64_t>(wanted.size());
    EXPECT_EQ(outputs[0].Shape(), (std::vector<int64_t>{count, 1}));
    EXPECT_EQ(model.GetOutputs()[0].Shape(), (std::vector<int64_t>{count, 1}));
    EXPECT_EQ(std::vector<int32_t>(memory.begin(), memory.begin() + count), wanted);
  }
}
}  // namespace
}  // namespace mslite::test
