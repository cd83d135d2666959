// What float16 as storage does to numbers and to memory, what stays float32, and what becomes an image.
#include "opencl/opencl_storage.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "include/api/model.h"
#include "model/half.h"
#include "model_builder.h"
#include "opencl/opencl_images.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT

uint16_t Rounded(float number) {
  const std::vector<uint8_t> bytes = RoundToHalf(&number, 1);
  uint16_t half = 0;
  std::memcpy(&half, bytes.data(), sizeof half);
  return half;
}

TEST(RoundToHalf, EveryNumberAndWhatLiesBetween) {
  for (uint32_t half = 0; half < 0x7c00; ++half) {
    const auto bits = static_cast<uint16_t>(half);
    const float number = HalfToFloat(bits);
    ASSERT_EQ(Rounded(number), bits);
    ASSERT_EQ(Rounded(-number), bits | 0x8000);
    if (half == 0x7bff) continue;
    const float next = HalfToFloat(static_cast<uint16_t>(bits + 1));
    const float middle = number + (next - number) / 2;  // exact
    ASSERT_EQ(Rounded(middle), half % 2 == 0 ? bits : bits + 1) << middle;
    ASSERT_EQ(Rounded(std::nextafter(middle, 0.0f)), bits) << middle;
    ASSERT_EQ(Rounded(std::nextafter(middle, next)), bits + 1) << middle;
  }
  EXPECT_EQ(Rounded(65519), 0x7bff);
  EXPECT_EQ(Rounded(65520), 0x7c00);
  EXPECT_EQ(Rounded(-1e30f), 0xfc00);
  EXPECT_EQ(Rounded(std::numeric_limits<float>::infinity()), 0x7c00);
  EXPECT_TRUE(std::isnan(HalfToFloat(Rounded(std::numeric_limits<float>::quiet_NaN()))));
}

// Of weights of 64 rows of eight, and a tensor of the same shape, that a launch reads so and another one reads or
// writes.
class ImagesOf {
 public:
  ImagesOf(OpenClAccessPattern access, size_t width, size_t height, bool is_in_place = false,
           bool is_at_border = false) {
    Part part;
    part.tensors.resize(2);
    for (Part::Tensor &tensor : part.tensors) {
      tensor.value = {};
      tensor.value.type = MSLITE_FLOAT32;
      tensor.value.rank = 2;
      tensor.value.dims[0] = 64;
      tensor.value.dims[1] = 8;
    }
    if (is_at_border) part.inputs = {0};
    const mslite_node node = {};
    const std::vector<int32_t> inputs = {0};
    const std::vector<int32_t> outputs = {1};
    std::vector<OpenClPlan> plans;
    OpenClPlan &plan = plans.emplace_back(node, inputs, outputs);
    const OpenClOperand weights = plan.Weights(std::vector<float>(64 * 8), 8);
    plan.Launch("a", "a").Input("weight", weights, OpenClAccessPattern::Rows(8));
    plan.Launch("a", "a").Input("x", plan.Input(0), OpenClAccessPattern::Rows(8));
    OpenClLaunch &other = plan.Launch("a", "a").Input("x", plan.Input(0), access);
    if (is_in_place) other.Output("y", plan.Input(0), OpenClAccessPattern::Fours());
    OpenClDevice::Limits limits;
    limits.image_width = width;
    limits.image_height = height;
    images_ = OpenClImages(part, plans, {0, 1}, limits);
  }
  bool tensor() const { return images_.OfTensor(0) != nullptr; }
  bool weights() const { return images_.OfConstant(0, 0) != nullptr; }
  const OpenClImageShape &shape() const { return *images_.OfConstant(0, 0); }

 private:
  OpenClImages images_;
};

TEST(OpenClImages, WhatBecomesOne) {
  const ImagesOf fits(OpenClAccessPattern::Fours(), 2, 64);
  EXPECT_TRUE(fits.tensor());
  ASSERT_TRUE(fits.weights());
  EXPECT_EQ(fits.shape().width, 2u);
  EXPECT_EQ(fits.shape().height, 64u);
  EXPECT_TRUE(ImagesOf(OpenClAccessPattern::Rows(8), 2, 64).tensor());
  EXPECT_FALSE(ImagesOf(OpenClAccessPattern::Rows(16), 16, 64).tensor()) << "rows of another length";
  EXPECT_FALSE(ImagesOf(OpenClAccessPattern(), 2, 64).tensor()) << "single elements";
  EXPECT_FALSE(ImagesOf(OpenClAccessPattern::Fours(), 2, 64, true).tensor()) << "read and written at once";
  EXPECT_FALSE(ImagesOf(OpenClAccessPattern::Fours(), 2, 64, false, true).tensor()) << "at the border of the part";
  for (const auto &[width, height] : {std::pair<size_t, size_t>{1, 64}, {2, 63}, {0, 0}}) {
    const ImagesOf too_large(OpenClAccessPattern::Fours(), width, height);
    EXPECT_FALSE(too_large.tensor() || too_large.weights()) << width << " x " << height;
  }
}

class OpenClStored : public testing::Test {
 protected:
  void SetUp() override {
    setenv("MSLITE_OPENCL_LIBRARY", MSLITE_FAILING_OPENCL, 1);
    setenv("MSLITE_OPENCL_DEVICE", "Portable Computing Language", 1);
    setenv("MSLITE_DELEGATE_COSTS", "off", 1);
    setenv("POCL_WORK_GROUP_SPECIALIZATION", "0", 1);
    void *library = dlopen(MSLITE_FAILING_OPENCL, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    *reinterpret_cast<void **>(&allocated_bytes_) = dlsym(library, "allocated_bytes");
    *reinterpret_cast<void **>(&made_images_) = dlsym(library, "made_images");
    ASSERT_NE(allocated_bytes_, nullptr);
    ASSERT_NE(made_images_, nullptr);
    // y = |x| runs where there is a device.
    ModelBuilder m;
    const uint32_t x = m.Value("x", {1});
    const uint32_t y = m.Value("y", {1});
    m.Node("abs", schema::CreateAbs(m.builder), {x}, {y});
    if (const std::string reason = Run(&m, {x}, {y}, {{-1}}); !reason.empty()) {
      ASSERT_NE(reason.find("OpenCL: no "), std::string::npos) << reason;
      GTEST_SKIP() << reason;
    }
  }

  // Runs the nodes on the device, in their order; `y_` has the first output. Why it failed; empty: it did not.
  std::string Run(ModelBuilder *m, const std::vector<uint32_t> &inputs, const std::vector<uint32_t> &outputs,
                  const std::vector<std::vector<float>> &values, bool is_half = true) {
    std::vector<uint32_t> nodes(m->node_count());
    for (uint32_t i = 0; i < nodes.size(); ++i) nodes[i] = i;
    m->Graph(inputs, outputs, nodes);
    const std::string file = m->Finish(inputs, outputs);
    auto context = std::make_shared<Context>();
    auto gpu = std::make_shared<GPUDeviceInfo>();
    gpu->SetEnableFP16(is_half);
    context->MutableDeviceInfo() = {gpu, std::make_shared<CPUDeviceInfo>()};
    context->SetFallback(false);
    Model model;
    allocated_bytes_();
    Status status = model.Build(file.data(), file.size(), kMindIR_Lite, context);
    if (status.IsError()) return status.GetErrDescription();
    std::vector<MSTensor> entering = model.GetInputs();
    for (size_t i = 0; i < values.size(); ++i) {
      std::memcpy(entering[i].MutableData(), values[i].data(), values[i].size() * sizeof(float));
    }
    std::vector<MSTensor> leaving;
    status = model.Predict(entering, &leaving);
    bytes_ = allocated_bytes_();
    if (status.IsError()) return status.GetErrDescription();
    const auto *y = static_cast<const float *>(leaving[0].Data().get());
    y_.assign(y, y + leaving[0].ElementNum());
    return "";
  }

  // |x|, which is inside the part, and so float16.
  static uint32_t Inside(ModelBuilder *m, uint32_t x, const std::vector<int32_t> &dims) {
    const uint32_t inside = m->Value("inside" + std::to_string(x), dims);
    m->Node("abs" + std::to_string(x), schema::CreateAbs(m->builder), {x}, {inside});
    return inside;
  }

  size_t (*allocated_bytes_)() = nullptr;
  long (*made_images_)() = nullptr;
  std::vector<float> y_;
  size_t bytes_ = 0;
};

// The square of 300 is beyond float16, and its root is not.
TEST_F(OpenClStored, SquaresAndTheirMeans) {
  for (const bool is_product : {false, true}) {
    ModelBuilder m;
    const uint32_t x = m.Value("x", {1, 4});
    const uint32_t a = Inside(&m, x, {1, 4});
    const uint32_t square = m.Value("square", {1, 4});
    const uint32_t axes = m.Constant<int32_t>("axes", {1}, {1}, kInt);
    const uint32_t mean = m.Value("mean", {1, 1});
    const uint32_t root = m.Value("root", {1, 1});
    if (is_product) {
      m.Node("square", schema::CreateMulFusion(m.builder), {a, a}, {square});
    } else {
      m.Node("square", schema::CreateSquare(m.builder), {a}, {square});
    }
    m.Node("mean", schema::CreateReduceFusion(m.builder, true, schema::ReduceMode_ReduceMean), {square, axes}, {mean});
    m.Node("root", schema::CreateSqrt(m.builder), {mean}, {root});
    ASSERT_EQ(Run(&m, {x}, {root}, {{300, 400, 300, 400}}), "");
    EXPECT_NEAR(y_[0], std::sqrt(125000.0f), 0.1f);
  }
}

// A row whose elements are all masked is uniform, and not NaN.
TEST_F(OpenClStored, Masks) {
  for (const bool is_computed : {false, true}) {
    ModelBuilder m;
    const uint32_t x = m.Value("x", {2, 4});
    const uint32_t scores = Inside(&m, x, {2, 4});
    const uint32_t sum = m.Value("sum", {2, 4});
    const uint32_t y = m.Value("y", {2, 4});
    std::vector<uint32_t> inputs = {x};
    std::vector<std::vector<float>> values = {{1, 2, 3, 4, 1, 2, 3, 4}};
    uint32_t mask = 0;
    if (is_computed) {
      const uint32_t given = m.Value("given", {2, 1});
      const uint32_t large = m.Floats("large", {1}, {-1e30f});
      mask = m.Value("mask", {2, 1});
      m.Node("mask", schema::CreateMulFusion(m.builder), {given, large}, {mask});
      inputs.push_back(given);
      values.push_back({1, 0});
    } else {
      mask = m.Floats("mask", {2, 4}, {-1e9f, -1e9f, -1e9f, -1e9f, 0, 0, 0, 0});
    }
    m.Node("add", schema::CreateAddFusion(m.builder), {scores, mask}, {sum});
    const std::vector<int64_t> last = {-1};
    m.Node("softmax", schema::CreateSoftmaxDirect(m.builder, &last), {sum}, {y});
    ASSERT_EQ(Run(&m, inputs, {y}, values), "");
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(y_[static_cast<size_t>(i)], 0.25f, 1e-3f);
    EXPECT_NEAR(y_[7], 0.6439f, 1e-3f);
  }
}

// 1 / sqrt(0 + 1e-12): the constant would be 0 in float16, and the result infinite.
TEST_F(OpenClStored, SmallConstants) {
  ModelBuilder m;
  const uint32_t x = m.Value("x", {1});
  const uint32_t a = Inside(&m, x, {1});
  const uint32_t epsilon = m.Floats("epsilon", {1}, {1e-12f});
  const uint32_t sum = m.Value("sum", {1});
  const uint32_t root = m.Value("root", {1});
  const uint32_t zero = m.Floats("zero", {1}, {0});
  const uint32_t y = m.Value("y", {1});
  m.Node("add", schema::CreateAddFusion(m.builder), {a, epsilon}, {sum});
  m.Node("rsqrt", schema::CreateRsqrt(m.builder), {sum}, {root});
  m.Node("times", schema::CreateMulFusion(m.builder), {root, zero}, {y});
  ASSERT_EQ(Run(&m, {x}, {y}, {{0}}), "");
  EXPECT_EQ(y_[0], 0);
}

// float16 has no 500.3, and the cosine of what it has instead is another one.
TEST_F(OpenClStored, OperandsThatMustBeExact) {
  ModelBuilder m;
  const uint32_t x = m.Value("x", {1});
  const uint32_t a = Inside(&m, x, {1});
  const uint32_t y = m.Value("y", {1});
  m.Node("cosine", schema::CreateCos(m.builder), {a}, {y});
  ASSERT_EQ(Run(&m, {x}, {y}, {{500.3f}}), "");
  EXPECT_NEAR(y_[0], std::cos(500.3f), 1e-3f);
}

// No operator says that a sum is beyond float16: the range does that calibration has left.
TEST_F(OpenClStored, RangesOfCalibration) {
  for (const double largest : {0.0, 1e5}) {
    ModelBuilder m;
    const uint32_t x = m.Value("x", {1});
    const uint32_t a = Inside(&m, x, {1});
    const std::vector<flatbuffers::Offset<schema::QuantParam>> records = {
        schema::CreateQuantParam(m.builder, 1, 0, 0, largest)};
    const auto list = largest == 0 ? 0 : m.builder.CreateVector(records);
    const std::vector<int32_t> dims = {1};
    const auto shape = m.builder.CreateVector(dims);
    const uint32_t sum = m.Add(schema::CreateTensor(m.builder, 2, kFloat, shape, schema::Format_NHWC, 0, 0, 0, list, 0,
                                                    m.builder.CreateString("sum")));
    const uint32_t quarter = m.Floats("quarter", {1}, {0.25f});
    const uint32_t y = m.Value("y", {1});
    m.Node("add", schema::CreateAddFusion(m.builder), {a, a}, {sum});
    // Read twice, the sum is stored.
    const uint32_t part = m.Value("part", {1});
    m.Node("times", schema::CreateMulFusion(m.builder), {sum, quarter}, {part});
    m.Node("least", schema::CreateMinimum(m.builder), {part, sum}, {y});
    ASSERT_EQ(Run(&m, {x}, {y}, {{50000}}), "");
    if (largest == 0) {
      EXPECT_TRUE(std::isinf(y_[0])) << "a range would be needed";
    } else {
      EXPECT_NEAR(y_[0], 25000, 25);
    }
  }
}

// Two convolutions: their weights are images, and so is what is between them; the same numbers come out.
TEST_F(OpenClStored, Images) {
  std::vector<float> right;
  for (const char *storage : {"buffer", "image"}) {
    setenv("MSLITE_OPENCL_STORAGE", storage, 1);
    for (const bool is_half : {false, true}) {
      ModelBuilder m;
      uint32_t value = m.Value("x", {1, 6, 6, 8});
      const uint32_t x = value;
      for (const std::string name : {"first", "second"}) {
        std::vector<float> numbers(8 * 3 * 3 * 8);
        for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = (2 + std::cos(static_cast<float>(i))) / 72;
        const uint32_t weight = m.Floats(name + "_weight", {8, 3, 3, 8}, numbers);
        const uint32_t result = m.Value(name + "_result", {1, 6, 6, 8});
        const std::vector<int64_t> kernel = {3, 3};
        const std::vector<int64_t> ones = {1, 1};
        const std::vector<int64_t> pads = {1, 1, 1, 1};
        m.Node(name,
               schema::CreateConv2DFusionDirect(m.builder, schema::Format_NHWC, &kernel, &ones, &ones,
                                                schema::PadMode_PAD, &pads, 0, 1, 8, 8),
               {value, weight}, {result});
        value = result;
      }
      made_images_();
      ASSERT_EQ(Run(&m, {x}, {value}, {std::vector<float>(6 * 6 * 8, 0.5f)}, is_half), "");
      EXPECT_EQ(made_images_(), storage == std::string("image") ? 3 : 0);
      if (right.empty()) right = y_;
      float largest = 0;
      for (const float number : right) largest = std::max(largest, std::fabs(number));
      // Nothing cancels out: both weights, and what is between, add 2^-11 of a number each.
      const float tolerance = largest * (is_half ? 1.0f / (1 << 9) : 1e-5f);
      for (size_t i = 0; i < right.size(); ++i) ASSERT_NEAR(y_[i], right[i], tolerance);
    }
  }
}

TEST_F(OpenClStored, AnUnknownStorage) {
  setenv("MSLITE_OPENCL_STORAGE", "texture", 1);
  ModelBuilder m;
  const uint32_t x = m.Value("x", {1});
  const std::string reason = Run(&m, {x}, {Inside(&m, x, {1})}, {{-1}});
  EXPECT_NE(reason.find("MSLITE_OPENCL_STORAGE is 'texture'; it can be 'buffer' or 'image'"), std::string::npos)
      << reason;
}

// What leaves the part is small, and what is inside large.
TEST_F(OpenClStored, MemoryHalves) {
  size_t bytes[2] = {0, 0};
  for (const bool is_half : {false, true}) {
    ModelBuilder m;
    const uint32_t rows = m.Value("rows", {512, 1});
    const uint32_t columns = m.Value("columns", {1, 512});
    const uint32_t sum = m.Value("sum", {512, 512});
    const uint32_t a = m.Value("a", {512, 512});
    const uint32_t axes = m.Constant<int32_t>("axes", {1}, {0}, kInt);
    const uint32_t y = m.Value("y", {1, 512});
    m.Node("add", schema::CreateAddFusion(m.builder), {rows, columns}, {sum});
    m.Node("abs", schema::CreateAbs(m.builder), {sum}, {a});
    m.Node("mean", schema::CreateReduceFusion(m.builder, true, schema::ReduceMode_ReduceMean), {a, axes}, {y});
    ASSERT_EQ(Run(&m, {rows, columns}, {y}, {std::vector<float>(512, 1), std::vector<float>(512, 2)}, is_half), "");
    for (const float number : y_) ASSERT_EQ(number, 3);
    bytes[is_half ? 1 : 0] = bytes_;
  }
  EXPECT_GE(bytes[0], size_t{512} * 512 * sizeof(float)) << "the magnitudes; the sums are not stored";
  EXPECT_LT(static_cast<double>(bytes[1]), 0.51 * static_cast<double>(bytes[0]));
}
}  // namespace
}  // namespace mslite::test
