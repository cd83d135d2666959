// What EnableFP16 and [execution_plan] make of a model: which steps compute in float16, and what that saves. Where the
// processor has float16 arithmetic: under QEMU, for one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "plan/cpu_features.h"
#include "residual_sums.h"

namespace mslite::test {
namespace {
using mindspore::MSTensor;

const std::vector<int32_t> kLargeImage = {1, 24, 24, 4};

struct Settings {
  bool half = true;
  int threads = 1;
  std::vector<std::pair<std::string, std::string>> plan;  // of [execution_plan]
};

const Settings kInFloat32 = {false, 1, {}};

mindspore::Status Build(const std::string &file, const Settings &settings, mindspore::Model *model) {
  auto context = std::make_shared<mindspore::Context>();
  context->SetThreadNum(settings.threads);
  auto device = std::make_shared<mindspore::CPUDeviceInfo>();
  device->SetEnableFP16(settings.half);
  context->MutableDeviceInfo().push_back(device);
  for (const auto &setting : settings.plan) EXPECT_TRUE(model->UpdateConfig("execution_plan", setting).IsOk());
  return model->Build(file.data(), file.size(), mindspore::kMindIR_Lite, context);
}

struct Result {
  std::vector<float> y;
  std::map<std::string, mindspore::DataType> types;  // of what each node writes
  PlanInfo info;
};

Result RunWith(const std::string &file, const Settings &settings, float scale = 1) {
  Result result;
  mindspore::Model model;
  const auto status = Build(file, settings, &model);
  EXPECT_TRUE(status.IsOk()) << status.ToString();
  if (status.IsError()) return result;
  EXPECT_TRUE(InspectPlan(model, &result.info).IsOk());
  std::vector<MSTensor> inputs = model.GetInputs(), outputs;
  for (MSTensor &input : inputs) {
    const std::vector<float> values = Wave(static_cast<size_t>(input.ElementNum()), 11);
    std::transform(values.begin(), values.end(), static_cast<float *>(input.MutableData()),
                   [scale](float value) { return value * scale; });
  }
  const mindspore::MSKernelCallBack after = [&](const std::vector<MSTensor> &, const std::vector<MSTensor> &written,
                                                const mindspore::MSCallBackParam &call) {
    result.types[call.node_name] = written[0].DataType();
    return true;
  };
  EXPECT_TRUE(model.Predict(inputs, &outputs, nullptr, after).IsOk());
  EXPECT_EQ(outputs[0].DataType(), mindspore::DataType::kNumberTypeFloat32);
  const auto *data = static_cast<const float *>(outputs[0].Data().get());
  result.y = {data, data + outputs[0].ElementNum()};
  return result;
}

double SignalToNoise(const std::vector<float> &wanted, const std::vector<float> &got) {
  double signal = 0;
  double noise = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    signal += static_cast<double>(wanted[i]) * wanted[i];
    noise += (static_cast<double>(wanted[i]) - got[i]) * (static_cast<double>(wanted[i]) - got[i]);
  }
  return 10 * std::log10(signal / noise);
}

constexpr auto kHalf = mindspore::DataType::kNumberTypeFloat16;
constexpr auto kSingle = mindspore::DataType::kNumberTypeFloat32;

// Three convolutions, the last of which is the output.
std::string Chain() {
  SumBuilder b;
  const uint32_t x = b.Image("x", kLargeImage);
  ConvolutionOptions relu;
  relu.activation = schema::ActivationType_RELU;
  return b.Main({x}, {b.Convolve("third", b.Convolve("second", b.Convolve("first", x, relu), relu))});
}

class Half : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!DetectedIsas().Has(MSLITE_ISA_NEON_FP16)) GTEST_SKIP() << "the processor has no float16 arithmetic";
  }
};

TEST_F(Half, IsWhatLiesBetweenNodes) {
  const Result single = RunWith(Chain(), kInFloat32);
  const Result half = RunWith(Chain(), {});
  EXPECT_EQ(single.types.at("first"), kSingle);
  EXPECT_EQ(half.types.at("first"), kHalf);
  EXPECT_EQ(half.types.at("second"), kHalf);
  EXPECT_EQ(half.types.at("x_to_float16"), kHalf);
  EXPECT_EQ(half.types.at("third_y_to_float32"), kSingle);
  EXPECT_EQ(half.types.size(), single.types.size() + 2);
  EXPECT_LE(half.info.arena_bytes, single.info.arena_bytes * 6 / 10);
  EXPECT_GT(SignalToNoise(single.y, half.y), 50);
  EXPECT_NE(single.y, half.y);
}

TEST_F(Half, DoesNotDependOnThreads) {
  const Result one = RunWith(Chain(), {});
  for (const int threads : {2, 3}) EXPECT_EQ(RunWith(Chain(), {true, threads, {}}).y, one.y);
}

// Squares of what a convolution gives are beyond float16; so are their means, until a norm makes them small again.
TEST_F(Half, LeavesTensorsInFloat32) {
  SumBuilder b;
  const uint32_t x = b.Image("x", kLargeImage);
  const uint32_t square = b.Call("square", schema::CreateSquare(b.builder), b.Convolve("first", x));
  const uint32_t small = b.Image("small");
  b.nodes.push_back(
      b.Node("scale", schema::CreateMulFusion(b.builder), {square, b.Floats("factor", {1}, {1e-5f})}, {small}));
  const std::string file = b.Main({x}, {b.Convolve("last", small)});
  const Result single = RunWith(file, kInFloat32, 100);
  const Result half = RunWith(file, {}, 100);
  EXPECT_EQ(half.types.at("first"), kHalf);
  EXPECT_EQ(half.types.at("square"), kSingle);
  EXPECT_EQ(half.types.at("scale"), kSingle);
  EXPECT_TRUE(std::all_of(half.y.begin(), half.y.end(), [](float value) { return std::isfinite(value); }));
  EXPECT_GT(SignalToNoise(single.y, half.y), 45);
}

// float16 cannot hold a mask of -1e9.
TEST_F(Half, LeavesWhatReadsLargeConstantsInFloat32) {
  SumBuilder b;
  const uint32_t x = b.Image("x", kLargeImage);
  const uint32_t masked = b.Image("masked");
  const uint32_t mask = b.Floats("mask", {4}, {0, -1e9f, 0, -1e9f});
  b.nodes.push_back(b.Node("add", schema::CreateAddFusion(b.builder), {b.Convolve("first", x), mask}, {masked}));
  const std::string file =
      b.Main({x}, {b.Call("softmax", schema::CreateSoftmax(b.builder, b.builder.CreateVector<int64_t>({-1})), masked)});
  const Result half = RunWith(file, {});
  EXPECT_EQ(half.types.at("first"), kHalf);
  EXPECT_EQ(half.types.at("add"), kSingle);
  EXPECT_EQ(half.types.at("softmax"), kSingle);
  EXPECT_TRUE(std::all_of(half.y.begin(), half.y.end(), [](float value) { return std::isfinite(value); }));
}

TEST_F(Half, IsChosenByNode) {
  const Result all_but_one = RunWith(Chain(), {true, 1, {{"second", "data_type:float32"}}});
  EXPECT_EQ(all_but_one.types.at("first"), kHalf);
  EXPECT_EQ(all_but_one.types.at("second"), kSingle);
  const Result one = RunWith(Chain(), {false, 1, {{"second", "data_type:float16"}}});
  EXPECT_EQ(one.types.at("first"), kSingle);
  EXPECT_EQ(one.types.at("second"), kHalf);
  EXPECT_NE(one.y, RunWith(Chain(), kInFloat32).y);
}

// On any processor.
TEST(ExecutionPlan, TellsMistakes) {
  mindspore::Model model;
  const auto status = Build(Chain(), {false, 1, {{"second", "data_type:float8"}}}, &model);
  EXPECT_EQ(status, mindspore::kLiteParamInvalid);
  EXPECT_NE(status.ToString().find("'data_type:float8' for node 'second'"), std::string::npos) << status.ToString();
  mindspore::Model other;
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(Build(Chain(), {false, 1, {{"nobody", "data_type:float32"}}}, &other).IsOk());
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("names 'nobody', which is not a node of the model"), std::string::npos) << log;
}
}  // namespace
}  // namespace mslite::test
