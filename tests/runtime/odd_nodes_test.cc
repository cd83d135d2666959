// Nodes whose operands are not what their operators have.
#include <gtest/gtest.h>

#include "include/api/model.h"
#include "model_builder.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT

Status Build(const std::string &file, Model *model) {
  auto context = std::make_shared<Context>();
  context->SetThreadNum(1);
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  return model->Build(file.data(), file.size(), kMindIR_Lite, context);
}

Status Build(const std::string &file) {
  Model model;
  return Build(file, &model);
}

TEST(OddNodes, MissingOperandsAreNamedBeforeAnyKernelIsAsked) {
  for (const bool has_input : {false, true}) {
    ModelBuilder m;
    const uint32_t x = m.Quantized("x", {{0.5, 0}});
    const uint32_t y = m.Quantized("y", {{0.5, 0}});
    const std::vector<uint32_t> inputs = has_input ? std::vector<uint32_t>{x} : std::vector<uint32_t>{};
    const std::vector<uint32_t> outputs = has_input ? std::vector<uint32_t>{} : std::vector<uint32_t>{y};
    m.QuantizedNode("the_node", schema::CreateConv2DFusion(m.builder), inputs, outputs, schema::QuantType_QUANT_ALL);
    m.Graph({x}, {has_input ? x : y}, {0});
    const Status status = Build(m.Finish({x}, {has_input ? x : y}));
    EXPECT_EQ(status, kLiteGraphFileError) << status.ToString();
    EXPECT_NE(status.ToString().find("'the_node' (Conv2DFusion)"), std::string::npos) << status.ToString();
    EXPECT_NE(status.ToString().find("but needs at least"), std::string::npos) << status.ToString();
  }
}

// The file calls the indices int8, and gives them a record: they stay what the operator makes.
TEST(OddNodes, IndicesAreNotStoredInNarrowerElements) {
  ModelBuilder m;
  const uint32_t x = m.Quantized("x", {{0.5, 0}}, kInt8, {1, 64});
  const uint32_t y = m.Quantized("y", {{0.5, 0}}, kInt8, {64});
  m.QuantizedNode("arg", schema::CreateArgMaxFusion(m.builder, 0, 1), {x}, {y}, schema::QuantType_QUANT_ALL);
  m.Graph({x}, {y}, {0});
  const std::string file = m.Finish({x}, {y});
  Model model;
  const Status status = Build(file, &model);
  if (status.IsError()) return;
  model.GetInputs()[0].MutableData();
  ASSERT_TRUE(model.Predict().IsOk());
  EXPECT_EQ(model.GetOutputs()[0].DataType(), DataType::kNumberTypeInt32);
  EXPECT_EQ(model.GetOutputs()[0].DataSize(), 64 * sizeof(int32_t));
}

TEST(OddNodes, AnOutputIsNotStoredInNarrowerElementsThanAKernelWrites) {
  ModelBuilder m;
  const uint32_t x = m.Value("x", {64}, kInt);
  const uint32_t two = m.Constant<int32_t>("two", {1}, {2}, kInt);
  const uint32_t y = m.Quantized("y", {{0.5, 0}}, kInt8, {64});
  m.Node("quotient", schema::CreateFloorDiv(m.builder), {x, two}, {y});
  m.Graph({x}, {y}, {0});
  const std::string file = m.Finish({x}, {y});
  Model model;
  const Status status = Build(file, &model);
  if (status.IsError()) return;
  model.GetInputs()[0].MutableData();
  ASSERT_TRUE(model.Predict().IsOk());
  EXPECT_EQ(model.GetOutputs()[0].DataSize(), 64 * sizeof(int32_t));
}

TEST(OddNodes, AClosureIsNoOutput) {
  for (const int kind : {0, 1, 2}) {
    ModelBuilder m;
    auto &b = m.builder;
    const uint32_t x = m.Value("x", {1}), p = m.Value("p", {}), y = m.Value("y", {1});
    const uint32_t condition = m.Constant<uint8_t>("c", {1}, {1}, kBool);
    const uint32_t partial = m.Node("partial", schema::CreatePartialFusion(b, 1), {x}, {p});
    std::vector<uint32_t> nodes = {partial};
    uint32_t result = p;
    if (kind > 0) {
      result = m.Value("s", {});
      nodes.push_back(kind == 1 ? m.Node("switch", schema::CreateSwitch(b), {condition, p, p}, {result})
                                : m.Node("switch", schema::CreateSwitchLayer(b), {condition, p}, {result}));
    }
    m.Graph({x}, {result}, nodes);
    m.Graph({x}, {y}, {m.Node("abs", schema::CreateAbs(b), {x}, {y})});
    const Status status = Build(m.Finish({x}, {result}));
    EXPECT_EQ(status, kLiteGraphFileError) << status.ToString();
    EXPECT_NE(status.ToString().find("its closure is an output of the graph"), std::string::npos) << status.ToString();
  }
}

// Moved integers without a record, which mean nothing, as the result of the model.
TEST(OddNodes, AMoversResultWithoutARecordIsNamed) {
  ModelBuilder m;
  const uint32_t x = m.Quantized("x", {{0.5, 3}}, 37 /* uint8 */, {3});
  const uint32_t y = m.Value("y", {3}, kInt8);
  m.Node("squeeze", schema::CreateSqueeze(m.builder), {x}, {y});
  m.Graph({x}, {y}, {0});
  const std::string file = m.Finish({x}, {y});
  const Status status = Build(file);
  ASSERT_TRUE(status.IsError());
  EXPECT_NE(status.ToString().find("'y' has no quantization parameters"), std::string::npos) << status.ToString();
}
}  // namespace
}  // namespace mslite::test
