// Every call of the driver fails in turn, once or for good: the CPU takes over, or there is one clear error; nothing is
// lost, and the next model works.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <ostream>

#include "include/api/model.h"
#include "include/mslite/inspect.h"
#include "include/registry/opencl_device_access.h"
#include "model_builder.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT

// x -> transpose -> softmax -> gather (indices that may be wrong) -> relu -> product with a constant, which may be an
// image.
std::string GatheringModel() {
  ModelBuilder m;
  const uint32_t x = m.Value("x", {4, 6});
  const uint32_t at = m.Value("at", {3}, kInt);
  const uint32_t order = m.Constant<int32_t>("order", {2}, {1, 0}, kInt);
  const uint32_t axis = m.Constant<int32_t>("axis", {1}, {0}, kInt);
  const uint32_t t = m.Value("t", {6, 4});
  const uint32_t s = m.Value("s", {6, 4});
  const uint32_t g = m.Value("g", {3, 4});
  const uint32_t r = m.Value("r", {3, 4});
  const uint32_t w = m.Floats("w", {4, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
  const uint32_t y = m.Value("y", {3, 4});
  m.Node("transpose", schema::CreateTranspose(m.builder), {x, order}, {t});
  const std::vector<int64_t> last = {-1};
  m.Node("softmax", schema::CreateSoftmaxDirect(m.builder, &last), {t}, {s});
  m.Node("gather", schema::CreateGather(m.builder), {s, at, axis}, {g});
  m.Node("relu", schema::CreateActivation(m.builder, schema::ActivationType_RELU), {g}, {r});
  m.Node("product", schema::CreateMatMulFusion(m.builder), {r, w}, {y});
  m.Graph({x, at}, {y}, {0, 1, 2, 3, 4});
  return m.Finish({x, at}, {y});
}

constexpr int kOutOfResources = -5;  // CL_OUT_OF_RESOURCES

// Environments that the engine makes other calls in.
struct Way {
  const char *name;
  const char *variable;
  const char *value;
};

// Names of tests must not have addresses in them.
void PrintTo(const Way &way, std::ostream *out) { *out << way.name; }

// Between the calls that are made to fail: CI samples them, `make check-marked` tries each.
long Step() {
  static const long step = std::getenv("MSLITE_EVERY_CALL") != nullptr ? 1 : 3;
  return step;
}

class OpenClFaults : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    setenv("MSLITE_OPENCL_LIBRARY", MSLITE_FAILING_OPENCL, 1);
    setenv("MSLITE_OPENCL_DEVICE", "Portable Computing Language", 1);
    setenv("MSLITE_DELEGATE_COSTS", "off", 1);
    setenv("POCL_WORK_GROUP_SPECIALIZATION", "0", 1);
    setenv(GetParam().variable, GetParam().value, 1);
    // Compiling each time takes long, and is tried in one of the ways.
    unsetenv("MSLITE_OPENCL_CACHE");
    if (std::string(GetParam().name) != "Copied") setenv("MSLITE_OPENCL_CACHE", folder_.c_str(), 1);
    void *library = dlopen(MSLITE_FAILING_OPENCL, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    *reinterpret_cast<void **>(&fail_calls_) = dlsym(library, "fail_calls");
    ASSERT_NE(fail_calls_, nullptr);
    *reinterpret_cast<void **>(&fail_with_) = dlsym(library, "fail_with");
    ASSERT_NE(fail_with_, nullptr);
    fail_with_(kOutOfResources);
    fail_calls_(LONG_MAX, LONG_MAX);
    if (const Status status = Run(false); status.IsError()) {
      const std::string reason = status.GetErrDescription();
      ASSERT_NE(reason.find("OpenCL: no "), std::string::npos) << reason;
      GTEST_SKIP() << reason;
    }
    ASSERT_EQ(on_engine_, 5);
  }

  void TearDown() override {
    unsetenv(GetParam().variable);
    unsetenv("MSLITE_OPENCL_CACHE");
  }

  // Builds the model and runs it twice; `outputs_` has what the second run gave.
  Status Run(bool may_fall_back, int32_t index = 2) {
    std::filesystem::remove(folder_ + "/tuning.cltune");  // so that launches are measured each time
    auto context = std::make_shared<Context>();
    context->SetThreadNum(1);
    context->MutableDeviceInfo() = {std::make_shared<GPUDeviceInfo>(), std::make_shared<CPUDeviceInfo>()};
    context->SetFallback(may_fall_back);
    Model model;
    if (auto status = model.Build(file_.data(), file_.size(), kMindIR_Lite, context); status.IsError()) return status;
    PlacementInfo info;
    if (auto status = InspectPlacement(model, &info); status.IsError()) return status;
    on_engine_ = std::count_if(info.nodes.begin(), info.nodes.end(),
                               [](const NodePlacement &node) { return node.engine != "CPU"; });
    for (int turn = 0; turn < 2; ++turn) {
      std::vector<MSTensor> inputs = model.GetInputs();
      auto *x = static_cast<float *>(inputs[0].MutableData());
      for (int i = 0; i < 24; ++i) x[i] = std::sin(static_cast<float>(i + turn));
      auto *at = static_cast<int32_t *>(inputs[1].MutableData());
      std::fill(at, at + 3, index);
      std::vector<MSTensor> outputs;
      if (auto status = model.Predict(inputs, &outputs); status.IsError()) return status;
      const auto *y = static_cast<const float *>(outputs[0].Data().get());
      outputs_.assign(y, y + outputs[0].ElementNum());
    }
    return kSuccess;
  }

  // Lets call number n fail, and all after it with `for_good`, for every n, or every third; then fewer of those.
  void FailEach(bool for_good) {
    const std::vector<float> right = outputs_;
    fail_calls_(LONG_MAX, LONG_MAX);
    ASSERT_TRUE(Run(false).IsOk());
    const long count = fail_calls_(LONG_MAX, LONG_MAX);
    ASSERT_GT(count, 30);
    long tried = 0;
    long failures = 0;
    for (long n = 1; n <= count; n += Step() * (for_good ? 3 : 1)) {
      ++tried;
      const long last = for_good ? LONG_MAX : n;
      fail_calls_(n, last);
      const Status fallen_back = Run(true);
      EXPECT_TRUE(fallen_back.IsOk()) << "call " << n << ": " << fallen_back.GetErrDescription();
      for (size_t i = 0; i < right.size(); ++i) EXPECT_NEAR(outputs_[i], right[i], 1e-6) << "call " << n;
      fail_calls_(n, last);
      const Status strict = Run(false);
      if (strict.IsError()) {
        ++failures;
        EXPECT_NE(strict.GetErrDescription().find("OpenCL"), std::string::npos) << strict.GetErrDescription();
      }
      fail_calls_(LONG_MAX, LONG_MAX);
      const Status next = Run(false);
      ASSERT_TRUE(next.IsOk()) << "after call " << n << ": " << next.GetErrDescription();
      for (size_t i = 0; i < right.size(); ++i) EXPECT_NEAR(outputs_[i], right[i], 1e-6) << "after call " << n;
    }
    // A choice that fails while launches are measured is left out.
    const bool is_measured = std::string(GetParam().name) == "Tuned";
    EXPECT_GT(failures, for_good ? tried * 3 / 4 : tried / (is_measured ? 4 : 2));
  }

  const std::string file_ = GatheringModel();
  const std::string folder_ = testing::TempDir() + "opencl_faults";
  long (*fail_calls_)(long, long) = nullptr;
  void (*fail_with_)(int) = nullptr;
  std::ptrdiff_t on_engine_ = 0;
  std::vector<float> outputs_;
};

TEST_P(OpenClFaults, OneCallFails) { FailEach(false); }
TEST_P(OpenClFaults, TheDeviceIsLost) { FailEach(true); }

// This library has nothing for images.
TEST_P(OpenClFaults, KernelsOfApplicationsNeedMoreOfTheLibrary) {
  registry::opencl::DeviceAccess device;
  const Status status = device.LoadSource("program", "__kernel void f() {}");
  EXPECT_EQ(status, kLiteNotSupport);
  EXPECT_NE(status.GetErrDescription().find(", which registered GPU kernels need"), std::string::npos)
      << status.GetErrDescription();
  EXPECT_EQ(device.GetAllocator(), nullptr);
  EXPECT_EQ(device.LimitOf(registry::opencl::DeviceAccess::Limit::kImageWidth), 0u);
  EXPECT_TRUE(Run(false).IsOk()) << "the engine does not";
}

// A device that goes away while a model is there: its runs fail, or give the right outputs again; a model that is built
// later has a device of its own.
TEST_P(OpenClFaults, TheDeviceIsLostBetweenRuns) {
  constexpr int kDeviceNotAvailable = -2;
  auto context = std::make_shared<Context>();
  context->MutableDeviceInfo() = {std::make_shared<GPUDeviceInfo>(), std::make_shared<CPUDeviceInfo>()};
  context->SetFallback(false);
  Model model;
  ASSERT_TRUE(model.Build(file_.data(), file_.size(), kMindIR_Lite, context).IsOk());
  fail_with_(kDeviceNotAvailable);
  fail_calls_(1, LONG_MAX);
  std::vector<MSTensor> inputs = model.GetInputs();
  std::fill_n(static_cast<float *>(inputs[0].MutableData()), 24, 1.0f);
  std::fill_n(static_cast<int32_t *>(inputs[1].MutableData()), 3, 1);
  std::vector<MSTensor> outputs;
  const Status lost = model.Predict(inputs, &outputs);
  EXPECT_TRUE(lost.IsError());
  EXPECT_NE(lost.GetErrDescription().find("CL_DEVICE_NOT_AVAILABLE"), std::string::npos) << lost.GetErrDescription();
  fail_calls_(LONG_MAX, LONG_MAX);
  EXPECT_TRUE(Run(false).IsOk());
  EXPECT_TRUE(model.Predict(inputs, &outputs).IsOk());
}

TEST_P(OpenClFaults, TheDeviceHasNoMemory) {
  constexpr int kNoMemory = -4;  // CL_MEM_OBJECT_ALLOCATION_FAILURE
  const std::vector<float> right = outputs_;
  fail_with_(kNoMemory);
  fail_calls_(LONG_MAX, LONG_MAX);
  ASSERT_TRUE(Run(false).IsOk());
  const long count = fail_calls_(LONG_MAX, LONG_MAX);
  long refused = 0;
  for (long n = 1; n <= count; n += Step()) {
    fail_calls_(n, n);
    const Status strict = Run(false);
    const bool names_it = strict.GetErrDescription().find("CL_MEM_OBJECT_ALLOCATION_FAILURE") != std::string::npos;
    if (strict.IsError() && names_it) ++refused;
    fail_calls_(n, n);
    ASSERT_TRUE(Run(true).IsOk()) << "call " << n;
    for (size_t i = 0; i < right.size(); ++i) EXPECT_NEAR(outputs_[i], right[i], 1e-6) << "call " << n;
  }
  EXPECT_GT(refused, 20 / Step());
}

TEST_P(OpenClFaults, AnIndexThatIsNotThere) {
  const Status status = Run(false, 6);
  EXPECT_TRUE(status.IsError());
  EXPECT_NE(status.GetErrDescription().find("gather"), std::string::npos) << status.GetErrDescription();
  EXPECT_TRUE(Run(false, 5).IsOk());
}

INSTANTIATE_TEST_SUITE_P(Ways, OpenClFaults,
                         testing::Values(Way{"Shared", "MSLITE_OPENCL_SHARED_MEMORY", "on"},
                                         Way{"Copied", "MSLITE_OPENCL_SHARED_MEMORY", "off"},
                                         Way{"Tuned", "MSLITE_OPENCL_TUNING", "on"},
                                         Way{"Images", "MSLITE_OPENCL_STORAGE", "image"}),
                         [](const testing::TestParamInfo<Way> &way) { return std::string(way.param.name); });
}  // namespace
}  // namespace mslite::test
