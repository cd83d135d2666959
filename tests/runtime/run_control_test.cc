// Limits of runs, canceling, and calls of a model from within its own run.
#include <gtest/gtest.h>

#include <thread>

#include "include/api/model.h"
#include "include/mslite/run_control.h"
#include "model_builder.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT

constexpr float kForEver = 1e9F;  // counting in float32 stands still before it is there

std::shared_ptr<Context> MakeContext(const RunLimits &limits = {}) {
  auto context = std::make_shared<Context>();
  context->SetThreadNum(2);
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  EXPECT_TRUE(SetRunLimits(context, limits).IsOk());
  return context;
}

void Build(const std::string &file, const std::shared_ptr<Context> &context, Model *model) {
  const Status status = model->Build(file.data(), file.size(), kMindIR_Lite, context);
  ASSERT_TRUE(status.IsOk()) << status.ToString();
}

Status Loop(Model *model, float count) {
  const std::vector<float> start = {1.0F, 2.0F, 3.0F};
  std::vector<MSTensor> outputs;
  return model->Predict({MSTensor("n", DataType::kNumberTypeFloat32, {1}, &count, 4),
                         MSTensor("acc", DataType::kNumberTypeFloat32, {3}, start.data(), 12)},
                        &outputs);
}

TEST(RunControl, LimitsSteps) {
  Model model;
  Build(LoopModel(true), MakeContext({1000, 0}), &model);
  const Status status = Loop(&model, kForEver);
  EXPECT_EQ(status, kLiteServiceDeny);
  EXPECT_NE(status.ToString().find("after 1000 operators: step limit"), std::string::npos) << status.ToString();
  EXPECT_EQ(status.ToString().find("requests"), std::string::npos) << status.ToString();
  EXPECT_TRUE(Loop(&model, 7.0F).IsOk());
}

TEST(RunControl, LimitsTime) {
  Model model;
  Build(LoopModel(true), MakeContext({0, 20}), &model);
  const Status status = Loop(&model, kForEver);
  EXPECT_EQ(status, kLiteServiceDeny);
  EXPECT_NE(status.ToString().find("after 20 ms: time limit"), std::string::npos) << status.ToString();
}

TEST(RunControl, LimitsMemory) {
  Model model;
  Build(SmallModel(4, 300), MakeContext({0, 0, 64 * 1024}), &model);
  model.GetInputs()[0].MutableData();
  EXPECT_TRUE(model.Predict().IsOk());
  ASSERT_TRUE(model.Resize(model.GetInputs(), {{400, 300}}).IsOk());
  model.GetInputs()[0].MutableData();
  const Status status = model.Predict();
  EXPECT_EQ(status, kLiteMemoryFailed) << status.ToString();
  EXPECT_NE(status.ToString().find("memory limit is 65536 bytes"), std::string::npos) << status.ToString();
  ASSERT_TRUE(model.Resize(model.GetInputs(), {{4, 300}}).IsOk());
  EXPECT_TRUE(model.Predict().IsOk());
}

TEST(RunControl, RefusesLimitsThatMakeNoSense) {
  EXPECT_EQ(SetRunLimits(nullptr, {}), kLiteNullptr);
  EXPECT_EQ(SetRunLimits(std::make_shared<Context>(), {-1, 0}), kLiteParamInvalid);
  EXPECT_EQ(SetRunLimits(std::make_shared<Context>(), {0, -1}), kLiteParamInvalid);
}

TEST(RunControl, CancelsFromAnotherThread) {
  Model model;
  EXPECT_FALSE(CancelPredict(model));
  Build(LoopModel(true), MakeContext(), &model);
  EXPECT_FALSE(CancelPredict(model));
  for (int round = 0; round < 3; ++round) {
    Status status;
    std::thread runner([&] { status = Loop(&model, kForEver); });
    while (!CancelPredict(model)) std::this_thread::yield();
    runner.join();
    EXPECT_EQ(status, kLiteServiceDeny);
    EXPECT_FALSE(CancelPredict(model));
    EXPECT_TRUE(Loop(&model, 3.0F).IsOk());
  }
}

TEST(RunControl, CancelsFromACallback) {
  Model model;
  Build(SmallModel(), MakeContext(), &model);
  model.GetInputs()[0].MutableData();
  int seen = 0;
  const MSKernelCallBack before = [&](const std::vector<MSTensor> &, const std::vector<MSTensor> &,
                                      const MSCallBackParam &) {
    if (++seen == 2) {
      EXPECT_TRUE(CancelPredict(model));
    }
    return true;
  };
  EXPECT_EQ(model.Predict(before, nullptr), kLiteServiceDeny);
  EXPECT_EQ(seen, 2);
  EXPECT_TRUE(model.Predict().IsOk());
}

TEST(RunControl, StepsOfBranchesEnd) {
  auto context = MakeContext({2, 0});
  context->SetInterOpParallelNum(2);
  Model model;
  Build(SmallModel(), context, &model);
  model.GetInputs()[0].MutableData();
  EXPECT_EQ(model.Predict(), kLiteServiceDeny);
}

TEST(RunControl, RefusesCallsFromItsOwnCallbacks) {
  Model model;
  Build(SmallModel(), MakeContext(), &model);
  model.GetInputs()[0].MutableData();
  std::vector<Status> inner;
  const MSKernelCallBack before = [&](const std::vector<MSTensor> &, const std::vector<MSTensor> &,
                                      const MSCallBackParam &) {
    inner.push_back(model.Predict());
    inner.push_back(model.Resize(model.GetInputs(), {{2, 300}}));
    return true;
  };
  EXPECT_TRUE(model.Predict(before, nullptr).IsOk());
  ASSERT_FALSE(inner.empty());
  for (const Status &status : inner) EXPECT_EQ(status, kLiteReentrantError) << status.ToString();
}

TEST(RunControl, ACallbackMayThrow) {
  Model model;
  Build(SmallModel(), MakeContext(), &model);
  model.GetInputs()[0].MutableData();
  const MSKernelCallBack before = [](const std::vector<MSTensor> &, const std::vector<MSTensor> &,
                                     const MSCallBackParam &) -> bool { throw std::runtime_error("of the user"); };
  EXPECT_NE(model.Predict(before, nullptr).ToString().find("of the user"), std::string::npos);
  const MSKernelCallBack number = [](const std::vector<MSTensor> &, const std::vector<MSTensor> &,
                                     const MSCallBackParam &) -> bool { throw 42; };
  EXPECT_NE(model.Predict(number, nullptr).ToString().find("not a std::exception"), std::string::npos);
  EXPECT_FALSE(CancelPredict(model));
  EXPECT_TRUE(model.Predict().IsOk());
}

// The last copy of a model may go in the callback of one of its requests; those that wait are told so.
TEST(RunControl, AModelMayGoInItsOwnCallback) {
  auto model = std::make_unique<Model>();
  Build(SmallModel(), MakeContext(), model.get());
  std::vector<MSTensor> inputs = model->GetInputs();
  inputs[0].MutableData();
  std::vector<MSTensor> first, second;
  std::promise<void> queued;
  std::promise<Status> ended;
  std::promise<Status> refused;
  model->PredictAsync(inputs, &first, [&](const Status &status) {
    queued.get_future().wait();
    model.reset();
    ended.set_value(status);
  });
  model->PredictAsync(inputs, &second, [&](const Status &status) { refused.set_value(status); });
  queued.set_value();
  EXPECT_TRUE(ended.get_future().get().IsOk());
  EXPECT_EQ(refused.get_future().get(), kLiteUninitializedObj);
}

TEST(RunControl, PredictAsyncNeedsAPlaceForResults) {
  Model model;
  Build(SmallModel(), MakeContext(), &model);
  EXPECT_EQ(model.PredictAsync(model.GetInputs(), nullptr).get(), kLiteNullptr);
}
}  // namespace
}  // namespace mslite::test
