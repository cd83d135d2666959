// Input shapes that were not seen before: what planning them leaves behind. Constants are folded and packed once per
// model, however many plans use them.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "include/api/context.h"
#include "include/api/model.h"
#include "include/mslite/inspect.h"
#include "model_builder.h"
#include "plan/frame.h"

namespace mslite::test {
namespace {
using mindspore::MSTensor;

constexpr int kShapes = 300;
constexpr int32_t kWidth = 64;

std::vector<float> Ramp(int32_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) - 3.0f;
  return values;
}

// The product of `x` and of a matrix that loading does not have but folding makes: -(-(W)), and rows 1 to 64 of it by
// indices that only operators on constants give.
std::vector<uint32_t> AddFoldedProduct(ModelBuilder *model, uint32_t x, uint32_t y) {
  auto &b = model->builder;
  const uint32_t weight = model->Floats("weight", {kWidth + 1, kWidth}, Ramp((kWidth + 1) * kWidth));
  const uint32_t start = model->Constant<int32_t>("start", {}, {1}, kInt);
  const uint32_t limit = model->Constant<int32_t>("limit", {}, {kWidth + 1}, kInt);
  const uint32_t step = model->Constant<int32_t>("step", {}, {1}, kInt);
  const uint32_t axis = model->Constant<int32_t>("axis", {}, {0}, kInt);
  const uint32_t rows = model->Value("rows", {kWidth}, kInt);
  const uint32_t once = model->Value("once", {kWidth + 1, kWidth});
  const uint32_t twice = model->Value("twice", {kWidth + 1, kWidth});
  const uint32_t chosen = model->Value("chosen", {kWidth, kWidth});
  std::vector<uint32_t> nodes;
  nodes.push_back(model->Node("range", schema::CreateRange(b), {start, limit, step}, {rows}));
  nodes.push_back(model->Node("once", schema::CreateNeg(b), {weight}, {once}));
  nodes.push_back(model->Node("twice", schema::CreateNeg(b), {once}, {twice}));
  nodes.push_back(model->Node("choose", schema::CreateGather(b), {twice, rows, axis}, {chosen}));
  nodes.push_back(model->Node("product", schema::CreateMatMulFusion(b), {x, chosen}, {y}));
  return nodes;
}

std::string Product() {
  ModelBuilder model;
  const uint32_t x = model.Value("x", {-1, kWidth});
  const uint32_t y = model.Value("y", {-1, kWidth});
  const std::vector<uint32_t> nodes = AddFoldedProduct(&model, x, y);
  model.Graph({x}, {y}, nodes);
  return model.Finish({x}, {y});
}

// The product is of the second plan of each run: how many rows it has is known when the first has run.
std::string ProductOfCountedRows() {
  ModelBuilder model;
  auto &b = model.builder;
  const uint32_t x = model.Value("x", {-1, kWidth});
  const uint32_t zero = model.Constant<int32_t>("zero", {}, {0}, kInt);
  const uint32_t column = model.Value("column", {-1});
  const uint32_t where = model.Value("where", {-1, 1}, kInt);
  const uint32_t places = model.Value("places", {-1}, kInt);
  const uint32_t flat = model.Constant<int32_t>("flat", {1}, {-1}, kInt);
  const uint32_t last = model.Constant<int32_t>("last", {1}, {1}, kInt);
  const uint32_t picked = model.Value("picked", {-1, kWidth});
  const uint32_t y = model.Value("y", {-1, kWidth});
  std::vector<uint32_t> nodes = {
      model.Node("column", schema::CreateReduceFusion(b, false, schema::ReduceMode_ReduceMax), {x, last}, {column}),
      model.Node("where", schema::CreateWhere(b), {column}, {where}),
      model.Node("places", schema::CreateReshape(b), {where, flat}, {places}),
      model.Node("pick", schema::CreateGather(b), {x, places, zero}, {picked})};
  const std::vector<uint32_t> product = AddFoldedProduct(&model, picked, y);
  nodes.insert(nodes.end(), product.begin(), product.end());
  model.Graph({x}, {y}, nodes);
  return model.Finish({x}, {y});
}

// The product is in a graph that the main one calls.
std::string ProductInACall() {
  ModelBuilder model;
  auto &b = model.builder;
  const uint32_t x = model.Value("x", {-1, kWidth});
  const uint32_t y = model.Value("y", {-1, kWidth});
  const uint32_t closure = model.Value("closure", {});
  const std::vector<uint32_t> main = {model.Node("partial", schema::CreatePartialFusion(b, 1), {x}, {closure}),
                                      model.Node("call", schema::CreateCall(b), {closure}, {y})};
  const uint32_t inner_x = model.Value("inner_x", {-1, kWidth});
  const uint32_t inner_y = model.Value("inner_y", {-1, kWidth});
  const std::vector<uint32_t> inner = AddFoldedProduct(&model, inner_x, inner_y);
  model.Graph({x}, {y}, main);
  model.Graph({inner_x}, {inner_y}, inner);
  return model.Finish({x}, {y});
}

struct Case {
  std::string name;
  std::function<std::string()> file;
};

void PrintTo(const Case &one, std::ostream *out) { *out << one.name; }

class NewShapes : public testing::TestWithParam<Case> {};

void RunRows(mindspore::Model *model, int64_t rows) {
  ASSERT_TRUE(model->Resize(model->GetInputs(), {{rows, kWidth}}).IsOk());
  std::vector<MSTensor> inputs = model->GetInputs(), outputs;
  auto *values = static_cast<float *>(inputs[0].MutableData());
  std::fill(values, values + rows * kWidth, 1.0f);
  const mindspore::Status status = model->Predict(inputs, &outputs);
  ASSERT_TRUE(status.IsOk()) << status.ToString();
  ASSERT_EQ(outputs[0].Shape(), (std::vector<int64_t>{rows, kWidth}));
  const std::vector<float> weight = Ramp((kWidth + 1) * kWidth);
  float expected = 0;
  for (int32_t i = 1; i <= kWidth; ++i) expected += weight[static_cast<size_t>(i * kWidth)];
  EXPECT_EQ(static_cast<const float *>(outputs[0].Data().get())[(rows - 1) * kWidth], expected);
}

TEST_P(NewShapes, LeaveNothingBehind) {
  const std::string file = GetParam().file();
  auto context = std::make_shared<mindspore::Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  mindspore::Model model;
  const mindspore::Status status = model.Build(file.data(), file.size(), mindspore::kMindIR_Lite, context);
  ASSERT_TRUE(status.IsOk()) << status.ToString();
  PlanInfo second, last;
  for (int shape = 1; shape <= kShapes; ++shape) {
    RunRows(&model, shape + 3);
    if (shape == 2) {
      ASSERT_TRUE(InspectPlan(model, &second).IsOk());
    }
  }
  ASSERT_TRUE(InspectPlan(model, &last).IsOk());
  EXPECT_GT(second.packed_bytes, 0);
  EXPECT_EQ(last.packed_bytes, second.packed_bytes);
  ASSERT_EQ(last.steps.size(), second.steps.size());
  for (size_t i = 0; i < last.steps.size(); ++i) {
    EXPECT_EQ(last.steps[i].name, second.steps[i].name);
    EXPECT_NE(last.steps[i].name, "twice");  // constants are folded in every plan
  }
}

TEST(GrowingBuffer, GrowsByAQuarterWhereThatIsAllowed) {
  GrowingBuffer buffer;
  EXPECT_NE(buffer.Reserve(100), nullptr);
  EXPECT_EQ(buffer.capacity, 100U);
  EXPECT_NE(buffer.Reserve(101), nullptr);
  EXPECT_EQ(buffer.capacity, 125U);
  EXPECT_NE(buffer.Reserve(126, 130), nullptr);
  EXPECT_EQ(buffer.capacity, 130U);
  EXPECT_NE(buffer.Reserve(1000), nullptr);
  EXPECT_EQ(buffer.capacity, 1000U);
  EXPECT_NE(buffer.Reserve(8), nullptr);
  EXPECT_EQ(buffer.capacity, 1000U);
  EXPECT_EQ(buffer.Reserve(UINT64_MAX), nullptr);
  EXPECT_EQ(buffer.capacity, 0U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, NewShapes,
                         testing::Values(Case{"Product", Product}, Case{"CountedRows", ProductOfCountedRows},
                                         Case{"Call", ProductInACall}),
                         [](const auto &info) { return info.param.name; });
}  // namespace
}  // namespace mslite::test
