// The engines of phones, over stand-ins for their libraries: how they are asked for, that every call may fail, once or
// for good, and that what the device does not support stays on the CPU.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>

#include "include/api/delegate.h"
#include "include/api/model.h"
#include "include/mslite/inspect.h"
#include "model_builder.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT

struct Phone {
  const char *name;
  const char *prefix;  // of its library's functions
  const char *provider;
  const char *variable;
  const char *fake;
  const char *old;
  const char *refuses;    // the variable that names an operation
  const char *transpose;  // its number there
};

// Names of tests must not have addresses in them.
void PrintTo(const Phone &phone, std::ostream *out) { *out << phone.name; }

constexpr Phone kPhones[] = {
    {"NNAPI", "ANeuralNetworks", "nnapi", "MSLITE_NNAPI_LIBRARY", MSLITE_FAKE_NNAPI, MSLITE_OLD_NNAPI,
     "FAKE_NNAPI_REFUSES", "37"},
    {"NNRT", "OH_NN", "nnrt", "MSLITE_NNRT_LIBRARY", MSLITE_FAKE_NNRT, MSLITE_OLD_NNRT, "FAKE_NNRT_REFUSES", "41"},
};

// x -> transpose -> softmax -> relu.
std::string SmallModel() {
  ModelBuilder m;
  const uint32_t x = m.Value("x", {4, 6});
  const uint32_t order = m.Constant<int32_t>("order", {2}, {1, 0}, kInt);
  const uint32_t t = m.Value("t", {6, 4});
  const uint32_t s = m.Value("s", {6, 4});
  const uint32_t y = m.Value("y", {6, 4});
  m.Node("transpose", schema::CreateTranspose(m.builder), {x, order}, {t});
  const std::vector<int64_t> last = {-1};
  m.Node("softmax", schema::CreateSoftmaxDirect(m.builder, &last), {t}, {s});
  m.Node("relu", schema::CreateActivation(m.builder, schema::ActivationType_RELU), {s}, {y});
  m.Graph({x}, {y}, {0, 1, 2});
  return m.Finish({x}, {y});
}

class PhoneFaults : public testing::TestWithParam<Phone> {
 protected:
  void SetUp() override {
    setenv(GetParam().variable, GetParam().fake, 1);
    setenv("MSLITE_DELEGATE_COSTS", "off", 1);
    void *library = dlopen(GetParam().fake, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    *reinterpret_cast<void **>(&fail_calls_) = dlsym(library, "fail_calls");
    ASSERT_NE(fail_calls_, nullptr);
    fail_calls_(LONG_MAX, LONG_MAX);
  }
  void TearDown() override {
    fail_calls_(LONG_MAX, LONG_MAX);
    unsetenv(GetParam().refuses);
  }

  std::shared_ptr<Context> Asking(bool may_fall_back) const {
    auto context = std::make_shared<Context>();
    context->SetThreadNum(1);
    auto device = std::make_shared<CPUDeviceInfo>();
    device->SetProvider(GetParam().provider);
    device->SetEnableFP16(is_half_);
    context->MutableDeviceInfo() = {device, std::make_shared<CPUDeviceInfo>()};
    context->SetFallback(may_fall_back);
    return context;
  }

  // Builds the model and runs it twice; `outputs_` has what the second run gave.
  Status Run(const std::shared_ptr<Context> &context) {
    Model model;
    if (auto status = model.Build(file_.data(), file_.size(), kMindIR_Lite, context); status.IsError()) return status;
    PlacementInfo info;
    if (auto status = InspectPlacement(model, &info); status.IsError()) return status;
    on_engine_ = std::count_if(info.nodes.begin(), info.nodes.end(),
                               [](const NodePlacement &node) { return node.engine != "CPU"; });
    reason_.clear();
    for (const NodePlacement &node : info.nodes) reason_ += node.reason;
    for (int turn = 0; turn < 2; ++turn) {
      std::vector<MSTensor> inputs = model.GetInputs();
      auto *x = static_cast<float *>(inputs[0].MutableData());
      for (int i = 0; i < 24; ++i) x[i] = std::sin(static_cast<float>(i + turn));
      std::vector<MSTensor> outputs;
      if (auto status = model.Predict(inputs, &outputs); status.IsError()) return status;
      const auto *y = static_cast<const float *>(outputs[0].Data().get());
      outputs_.assign(y, y + outputs[0].ElementNum());
    }
    return kSuccess;
  }

  void ExpectRight(const std::vector<float> &right, long n) const {
    ASSERT_EQ(outputs_.size(), right.size());
    for (size_t i = 0; i < right.size(); ++i) EXPECT_NEAR(outputs_[i], right[i], 1e-6) << "call " << n;
  }

  // Lets call number n fail, or all calls from number n on, for every n.
  void FailEach(bool for_good) {
    ASSERT_TRUE(Run(Asking(false)).IsOk());
    ASSERT_EQ(on_engine_, 3);
    const std::vector<float> right = outputs_;
    fail_calls_(LONG_MAX, LONG_MAX);
    ASSERT_TRUE(Run(Asking(false)).IsOk());
    const long count = fail_calls_(LONG_MAX, LONG_MAX);
    ASSERT_GT(count, 50);
    long errors = 0;
    long left_alone = 0;
    for (long n = 1; n <= count; ++n) {
      const long last = for_good ? LONG_MAX : n;
      fail_calls_(n, last);
      const Status fallen_back = Run(Asking(true));
      EXPECT_TRUE(fallen_back.IsOk()) << "call " << n << ": " << fallen_back.GetErrDescription();
      ExpectRight(right, n);
      fail_calls_(n, last);
      const Status strict = Run(Asking(false));
      if (strict.IsError()) {
        ++errors;
        EXPECT_NE(strict.GetErrDescription().find(GetParam().prefix), std::string::npos) << strict.GetErrDescription();
      } else {
        // A call that asked whether a node runs: it stays on the CPU, and the report says why.
        EXPECT_LT(on_engine_, 3) << "call " << n;
        EXPECT_FALSE(reason_.empty()) << "call " << n;
        ++left_alone;
      }
      fail_calls_(LONG_MAX, LONG_MAX);
      ASSERT_TRUE(Run(Asking(false)).IsOk()) << "after call " << n;
      EXPECT_EQ(on_engine_, 3) << "after call " << n;
      ExpectRight(right, n);
    }
    EXPECT_GT(errors, count / 4);
    EXPECT_GT(left_alone, count / 8);
  }

  const std::string file_ = SmallModel();
  long (*fail_calls_)(long, long) = nullptr;
  bool is_half_ = false;
  std::ptrdiff_t on_engine_ = 0;
  std::string reason_;
  std::vector<float> outputs_;
};

TEST_P(PhoneFaults, OneCallFails) { FailEach(false); }
TEST_P(PhoneFaults, TheDeviceIsLost) { FailEach(true); }

TEST_P(PhoneFaults, WhatTheDeviceDoesNotTakeStaysOnTheCpu) {
  ASSERT_TRUE(Run(Asking(false)).IsOk());
  const std::vector<float> right = outputs_;
  setenv(GetParam().refuses, GetParam().transpose, 1);
  ASSERT_TRUE(Run(Asking(false)).IsOk());
  EXPECT_EQ(on_engine_, 2);
  EXPECT_NE(reason_.find("TRANSPOSE"), std::string::npos) << reason_;
  ExpectRight(right, 0);
}

TEST_P(PhoneFaults, Float16IsAllowedWhereItIsAskedFor) {
  ASSERT_TRUE(Run(Asking(false)).IsOk());
  const std::vector<float> whole = outputs_;
  is_half_ = true;
  ASSERT_TRUE(Run(Asking(false)).IsOk());
  EXPECT_NE(outputs_, whole);
  for (size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(outputs_[i], whole[i], 1e-3);
}

// The device by another name, or one that is not there.
TEST_P(PhoneFaults, DevicesByName) {
  auto context = Asking(false);
  context->MutableDeviceInfo()[0]->SetProviderDevice("fake-npu");
  EXPECT_TRUE(Run(context).IsOk());
  EXPECT_EQ(on_engine_, 3);
  context = Asking(false);
  context->MutableDeviceInfo()[0]->SetProviderDevice("another");
  const Status status = Run(context);
  EXPECT_EQ(status.StatusCode(), kLiteNotSupport);
  EXPECT_NE(status.GetErrDescription().find("fake-npu"), std::string::npos) << status.GetErrDescription();
}

INSTANTIATE_TEST_SUITE_P(Phones, PhoneFaults, testing::ValuesIn(kPhones),
                         [](const auto &info) { return std::string(info.param.name); });

// A library is opened once in a process, so each of these is a process of its own, which exits with the status.
class PhoneLibraries : public testing::TestWithParam<Phone> {};

std::string ReasonWith(const Phone &phone, const char *library) {
  setenv(phone.variable, library, 1);
  auto context = std::make_shared<Context>();
  auto device = std::make_shared<CPUDeviceInfo>();
  device->SetProvider(phone.provider);
  context->MutableDeviceInfo() = {device, std::make_shared<CPUDeviceInfo>()};
  context->SetFallback(false);
  const std::string file = SmallModel();
  Model model;
  return model.Build(file.data(), file.size(), kMindIR_Lite, context).GetErrDescription();
}

TEST_P(PhoneLibraries, MissingAndTooOld) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto says = [&](const char *library, const char *what) {
    EXPECT_EXIT(
        {
          const std::string reason = ReasonWith(GetParam(), library);
          std::fprintf(stderr, "%s\n", reason.c_str());
          std::exit(0);
        },
        testing::ExitedWithCode(0), what);
  };
  says("/nowhere/lib.so", "cannot be loaded");
  says(GetParam().old, "is too old");
}

INSTANTIATE_TEST_SUITE_P(Phones, PhoneLibraries, testing::ValuesIn(kPhones),
                         [](const auto &info) { return std::string(info.param.name); });

// The original's ways to the engines.
TEST(Phones, BuiltInDelegateAndKirin) {
  setenv("MSLITE_NNAPI_LIBRARY", MSLITE_FAKE_NNAPI, 1);
  setenv("MSLITE_NNRT_LIBRARY", MSLITE_FAKE_NNRT, 1);
  setenv("MSLITE_DELEGATE_COSTS", "off", 1);
  const std::string file = SmallModel();
  const auto engine_of = [&](const std::shared_ptr<Context> &context) {
    context->SetFallback(false);
    Model model;
    PlacementInfo info;
    const Status status = model.Build(file.data(), file.size(), kMindIR_Lite, context);
    if (status.IsError() || InspectPlacement(model, &info).IsError()) return status.GetErrDescription();
    return info.nodes.at(0).engine;
  };
  auto context = std::make_shared<Context>();
  context->MutableDeviceInfo() = {std::make_shared<CPUDeviceInfo>()};
  context->SetBuiltInDelegate(kNNAPI);
  EXPECT_EQ(engine_of(context), "NNAPI (fake-npu)");
  context = std::make_shared<Context>();
  context->MutableDeviceInfo() = {std::make_shared<KirinNPUDeviceInfo>(), std::make_shared<CPUDeviceInfo>()};
  EXPECT_EQ(engine_of(context), "NNRT (fake-npu)");
}

#ifndef __APPLE__
TEST(Phones, CoreMlIsNamedWhereItIsNot) {
  CoreMLDelegate delegate;
  const Status status = delegate.Init();
  EXPECT_EQ(status.StatusCode(), kLiteNotSupport);
  EXPECT_NE(status.GetErrDescription().find("Core ML"), std::string::npos) << status.GetErrDescription();
  const std::string file = SmallModel();
  auto context = std::make_shared<Context>();
  context->MutableDeviceInfo() = {std::make_shared<CPUDeviceInfo>()};
  context->SetBuiltInDelegate(kCoreML);
  context->SetFallback(false);
  const Status strict = Model().Build(file.data(), file.size(), kMindIR_Lite, context);
  EXPECT_EQ(strict.StatusCode(), kLiteNotSupport);
  EXPECT_NE(strict.GetErrDescription().find("Core ML"), std::string::npos) << strict.GetErrDescription();
  // As the application's own delegate it leaves all to the CPU without a word, as in the original.
  context->SetBuiltInDelegate(kNoDelegate);
  context->set_delegate(std::make_shared<CoreMLDelegate>());
  EXPECT_TRUE(Model().Build(file.data(), file.size(), kMindIR_Lite, context).IsOk());
}
#endif
}  // namespace
}  // namespace mslite::test
