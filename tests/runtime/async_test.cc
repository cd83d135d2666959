// Requests on threads of the library: order, capacity, cancellation, batches, models that are replaced, groups.
#include "include/mslite/async_run.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <future>
#include <numeric>
#include <thread>

#include "include/api/model_group.h"
#include "include/c_api/model_c.h"
#include "include/mslite/run_control.h"
#include "model_builder.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT

constexpr float kForEver = 1e9F;  // counting in float32 stands still before it is there
constexpr int64_t kColumns = 30;

std::shared_ptr<Context> MakeContext(int threads = 1) {
  auto context = std::make_shared<Context>();
  context->SetThreadNum(threads);
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  return context;
}

struct File {
  explicit File(const std::string &contents) {
    static std::atomic<int> next{0};
    path = ::testing::TempDir() + "mslite_async_" + std::to_string(getpid()) + "_" + std::to_string(next++) + ".ms";
    std::ofstream(path, std::ios::binary) << contents;
  }
  ~File() { std::remove(path.c_str()); }
  std::string path;
};

// y = x * factor, for any number of rows.
std::string ScaleModel(float factor, const std::string &input = "x") {
  ModelBuilder model;
  const uint32_t x = model.Value(input, {-1, static_cast<int32_t>(kColumns)});
  const uint32_t y = model.Value("y", {});
  const uint32_t node =
      model.Node("scale", schema::CreateMulFusion(model.builder), {x, model.Floats("factor", {1}, {factor})}, {y});
  model.Graph({x}, {y}, {node});
  return model.Finish({x}, {y});
}

MSTensor Rows(int64_t rows, float value) {
  const std::vector<float> values(static_cast<size_t>(rows * kColumns), value);
  return MSTensor("x", DataType::kNumberTypeFloat32, {rows, kColumns}, values.data(), values.size() * sizeof(float));
}

// Whether a result has that many rows of that value.
bool Holds(const MSTensor &tensor, int64_t rows, float value) {
  if (tensor == nullptr || tensor.Shape() != std::vector<int64_t>{rows, kColumns}) return false;
  const auto *data = static_cast<const float *>(tensor.Data().get());
  return std::all_of(data, data + rows * kColumns, [value](float element) { return element == value; });
}

struct Loop {
  explicit Loop(float count)
      : inputs{MSTensor("n", DataType::kNumberTypeFloat32, {1}, &count, 4),
               MSTensor("acc", DataType::kNumberTypeFloat32, {3}, start, 12)} {}
  const float start[3] = {1.0F, 2.0F, 3.0F};
  std::vector<MSTensor> inputs;
  std::vector<MSTensor> outputs;
};

Model LoopingModel() {
  Model model;
  const std::string file = LoopModel(true);
  EXPECT_TRUE(model.Build(file.data(), file.size(), kMindIR_Lite, MakeContext()).IsOk());
  return model;
}

std::shared_ptr<RunnerConfig> Workers(int32_t count, const std::map<std::string, std::string> &batching = {}) {
  auto config = std::make_shared<RunnerConfig>();
  config->SetWorkersNum(count);
  config->SetContext(MakeContext());
  if (!batching.empty()) config->SetConfigInfo("dynamic_batching", batching);
  return config;
}

TEST(AsyncRun, RequestsOfAModelEndInTheirOrder) {
  const Model model = LoopingModel();
  std::vector<Loop> loops(20, Loop(3.0F));
  std::vector<size_t> ended;
  std::vector<AsyncRun> runs;
  for (size_t i = 0; i < loops.size(); ++i) {
    runs.push_back(StartPredict(model, loops[i].inputs, &loops[i].outputs, [&ended, i](const Status &status) {
      if (status.IsOk()) ended.push_back(i);
    }));
  }
  for (AsyncRun &run : runs) EXPECT_TRUE(run.Wait().IsOk());
  std::vector<size_t> wanted(loops.size());
  std::iota(wanted.begin(), wanted.end(), 0);
  EXPECT_EQ(ended, wanted);
  EXPECT_TRUE(runs[0].IsDone());
  EXPECT_FALSE(runs[0].Cancel());
}

TEST(AsyncRun, CancelsWhatWaitsAndWhatRuns) {
  const Model model = LoopingModel();
  Loop first(kForEver), second(3.0F), third(3.0F);
  AsyncRun running = StartPredict(model, first.inputs, &first.outputs);
  std::atomic<int> told{0};
  AsyncRun waiting = StartPredict(model, second.inputs, &second.outputs, [&](const Status &status) {
    EXPECT_EQ(status, kLiteServiceDeny);
    ++told;
  });
  AsyncRun last = StartPredict(model, third.inputs, &third.outputs);
  EXPECT_TRUE(waiting.Cancel());
  EXPECT_EQ(told.load(), 1);
  EXPECT_EQ(waiting.Wait(), kLiteServiceDeny);
  EXPECT_FALSE(waiting.Cancel());
  EXPECT_FALSE(last.IsDone());
  EXPECT_TRUE(running.Cancel());
  EXPECT_EQ(running.Wait(), kLiteServiceDeny);
  EXPECT_TRUE(last.Wait().IsOk());
  EXPECT_EQ(third.outputs.size(), 1u);
}

TEST(AsyncRun, CancelsWhatRunsInC) {
  const std::string file = LoopModel(true);
  MSContextHandle context = MSContextCreate();
  MSContextAddDeviceInfo(context, MSDeviceInfoCreate(kMSDeviceTypeCPU));
  MSModelHandle model = MSModelCreate();
  ASSERT_EQ(MSModelBuild(model, file.data(), file.size(), kMSModelTypeMindIR, context), kMSStatusSuccess);
  const MSTensorHandleArray inputs = MSModelGetInputs(model);
  *static_cast<float *>(MSTensorGetMutableData(inputs.handle_list[0])) = kForEver;
  std::fill_n(static_cast<float *>(MSTensorGetMutableData(inputs.handle_list[1])), 3, 1.0F);
  MSTensorHandleArray outputs = {0, nullptr};
  MSAsyncRunHandle run = nullptr;
  ASSERT_EQ(MSModelStartPredict(model, inputs, &outputs, nullptr, nullptr, &run), kMSStatusSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it may wait or run
  EXPECT_FALSE(MSAsyncRunIsDone(run));
  EXPECT_TRUE(MSAsyncRunCancel(run));
  EXPECT_EQ(MSAsyncRunWait(run), kMSStatusLiteServiceDeny);
  EXPECT_EQ(outputs.handle_num, 0u);
  MSAsyncRunDestroy(&run);
  MSModelDestroy(&model);
}

// A request that waits for another thread's Predict is canceled without ending that one.
TEST(AsyncRun, CancelsNoOtherRun) {
  Model model = LoopingModel();
  Loop other(kForEver), mine(3.0F);
  Status status;
  std::promise<void> begun;
  bool is_first = true;
  const MSKernelCallBack before = [&](const std::vector<MSTensor> &, const std::vector<MSTensor> &,
                                      const MSCallBackParam &) {
    if (is_first) begun.set_value();
    is_first = false;
    return true;
  };
  std::thread thread([&] { status = model.Predict(other.inputs, &other.outputs, before); });
  begun.get_future().wait();
  AsyncRun run = StartPredict(model, mine.inputs, &mine.outputs);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it may wait in the queue, or for the other run
  EXPECT_TRUE(run.Cancel());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(CancelPredict(model)) << "the other run has ended";
  thread.join();
  EXPECT_EQ(status, kLiteServiceDeny);
  EXPECT_EQ(run.Wait(), kLiteServiceDeny);
}

TEST(AsyncRun, AFullQueueRefuses) {
  const Model model = LoopingModel();
  EXPECT_EQ(SetQueueCapacity(model, 0), kLiteParamInvalid);
  EXPECT_TRUE(SetQueueCapacity(model, 1).IsOk());
  Loop first(kForEver), second(kForEver), third(3.0F), fourth(3.0F);
  AsyncRun running = StartPredict(model, first.inputs, &first.outputs);
  AsyncRun waiting = StartPredict(model, second.inputs, &second.outputs);
  while (waiting.IsDone()) {  // refused while the first one still waits for its thread
    EXPECT_EQ(waiting.Wait(), kLiteServiceDeny);
    waiting = StartPredict(model, second.inputs, &second.outputs);
  }
  AsyncRun refused = StartPredict(model, third.inputs, &third.outputs);
  ASSERT_TRUE(refused.IsDone());
  EXPECT_EQ(refused.Wait(), kLiteServiceDeny);
  EXPECT_TRUE(waiting.Cancel());  // makes room
  AsyncRun taken = StartPredict(model, fourth.inputs, &fourth.outputs);
  EXPECT_FALSE(taken.IsDone());
  EXPECT_TRUE(running.Cancel());
  EXPECT_TRUE(taken.Wait().IsOk());
}

TEST(AsyncRun, CallbacksMayThrow) {
  const Model model = LoopingModel();
  Loop loop(3.0F);
  AsyncRun run =
      StartPredict(model, loop.inputs, &loop.outputs, [](const Status &) { throw std::runtime_error("of the user"); });
  EXPECT_TRUE(run.Wait().IsOk());
  run = StartPredict(model, loop.inputs, &loop.outputs, [](const Status &) { throw 42; });
  EXPECT_TRUE(run.Wait().IsOk());
  EXPECT_TRUE(StartPredict(model, loop.inputs, &loop.outputs).Wait().IsOk());
}

TEST(AsyncRun, NeedsWhatRuns) {
  std::vector<MSTensor> outputs;
  EXPECT_EQ(StartPredict(Model(), {}, &outputs).Wait(), kLiteUninitializedObj);
  EXPECT_EQ(StartPredict(ModelParallelRunner(), {}, &outputs).Wait(), kLiteUninitializedObj);
  EXPECT_EQ(StartPredict(LoopingModel(), {}, nullptr).Wait(), kLiteNullptr);
  EXPECT_EQ(ModelParallelRunner().PredictAsync({}, &outputs).get(), kLiteUninitializedObj);
}

TEST(AsyncRun, AForkedProcessIsToldSo) {
  Model model = LoopingModel();
  Loop loop(3.0F);
  ASSERT_TRUE(model.PredictAsync(loop.inputs, &loop.outputs).get().IsOk());
  const pid_t child = fork();
  if (child == 0) {
    const bool predicts = model.Predict(loop.inputs, &loop.outputs).IsOk();
    const bool is_told = model.PredictAsync(loop.inputs, &loop.outputs).get() == kLiteThreadPoolError;
    _exit(predicts && is_told ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// Threads that work while a process forks are not in the child; its models run all the same, on threads of its own.
TEST(AsyncRun, AForkedProcessHasThreadsOfItsOwn) {
  const std::string file = SmallModel(400, 300);
  Model busy, idle;
  ASSERT_TRUE(busy.Build(file.data(), file.size(), kMindIR_Lite, MakeContext(3)).IsOk());
  ASSERT_TRUE(idle.Build(file.data(), file.size(), kMindIR_Lite, MakeContext(3)).IsOk());
  busy.GetInputs()[0].MutableData();
  idle.GetInputs()[0].MutableData();
  std::atomic<bool> goes_on{true};
  std::thread thread([&] {
    while (goes_on) EXPECT_TRUE(busy.Predict().IsOk());
  });
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) _exit(idle.Predict().IsOk() && idle.Predict().IsOk() ? 0 : 1);
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  goes_on = false;
  thread.join();
}

TEST(AsyncRun, AForkedProcessBuildsModelsWhileItsParentDoes) {
  const File file(SmallModel(400, 300));
  const auto builds = [&file] {
    Model model;
    if (model.Build(file.path, kMindIR_Lite, MakeContext(2)).IsError()) return false;
    model.GetInputs()[0].MutableData();
    return model.Predict().IsOk();
  };
  std::atomic<bool> goes_on{true};
  std::thread thread([&] {
    while (goes_on) EXPECT_TRUE(builds());
  });
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) _exit(builds() ? 0 : 1);
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  goes_on = false;
  thread.join();
}

TEST(Runner, HigherPrioritiesBeginFirst) {
  const File file(LoopModel(true));
  ModelParallelRunner runner;
  ASSERT_TRUE(runner.Init(file.path, Workers(1)).IsOk());
  Loop blocker(kForEver);
  AsyncRun blocking = StartPredict(runner, blocker.inputs, &blocker.outputs, AsyncOptions{10});
  std::vector<Loop> loops(6, Loop(3.0F));
  std::vector<int32_t> ended;
  std::vector<AsyncRun> runs;
  for (int32_t i = 0; i < 6; ++i) {
    const AsyncOptions options = {i % 3};
    Loop &loop = loops[static_cast<size_t>(i)];
    runs.push_back(
        StartPredict(runner, loop.inputs, &loop.outputs, options, [&ended, i](const Status &) { ended.push_back(i); }));
  }
  EXPECT_TRUE(blocking.Cancel());
  for (AsyncRun &run : runs) EXPECT_TRUE(run.Wait().IsOk());
  EXPECT_EQ(ended, (std::vector<int32_t>{2, 5, 1, 4, 0, 3}));
}

TEST(Runner, RequestsHaveResultsOfTheirOwn) {
  const File file(ScaleModel(2.0F));
  ModelParallelRunner runner;
  ASSERT_TRUE(runner.Init(file.path, Workers(2)).IsOk());
  std::vector<MSTensor> first, second;
  ASSERT_TRUE(runner.Predict({Rows(2, 1.0F)}, &first).IsOk());
  ASSERT_TRUE(runner.Predict({Rows(3, 5.0F)}, &second).IsOk());
  EXPECT_TRUE(Holds(first[0], 2, 2.0F));
  EXPECT_TRUE(Holds(second[0], 3, 10.0F));
  // What the caller brings is written in place.
  const void *memory = first[0].MutableData();
  ASSERT_TRUE(runner.Predict({Rows(2, 7.0F)}, &first).IsOk());
  EXPECT_EQ(first[0].MutableData(), memory);
  EXPECT_TRUE(Holds(first[0], 2, 14.0F));
}

TEST(Runner, BatchesGiveEachRequestItsRows) {
  const File file(ScaleModel(2.0F));
  ModelParallelRunner runner;
  ASSERT_TRUE(
      runner.Init(file.path, Workers(1, {{"max_batch_size", "8"}, {"max_queue_delay_microseconds", "2000"}})).IsOk());
  std::atomic<int> right{0};
  std::vector<std::thread> callers;
  for (int64_t caller = 1; caller <= 6; ++caller) {
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 30; ++round) {
        const int64_t rows = 1 + (caller + round) % 3;
        const auto value = static_cast<float>(caller * 100 + round);
        std::vector<MSTensor> outputs;
        const Status status = runner.Predict({Rows(rows, value)}, &outputs);
        if (status.IsOk() && Holds(outputs[0], rows, value * 2)) ++right;
      }
    });
  }
  for (std::thread &caller : callers) caller.join();
  EXPECT_EQ(right.load(), 180);
}

// Requests that cannot be joined, and a model whose result is no batch, are answered all the same.
TEST(Runner, BatchesOnlyWhatFits) {
  ModelBuilder model;
  const uint32_t x = model.Value("x", {-1, static_cast<int32_t>(kColumns)});
  const uint32_t y = model.Value("y", {});
  const uint32_t axes = model.Constant<int32_t>("axes", {1}, {0}, kInt);
  const uint32_t node =
      model.Node("sum", schema::CreateReduceFusion(model.builder, true, schema::ReduceMode_ReduceSum), {x, axes}, {y});
  model.Graph({x}, {y}, {node});
  const File file(model.Finish({x}, {y}));
  ModelParallelRunner runner;
  ASSERT_TRUE(
      runner.Init(file.path, Workers(2, {{"max_batch_size", "64"}, {"max_queue_delay_microseconds", "5000"}})).IsOk());
  std::atomic<int> right{0};
  std::vector<std::thread> callers;
  for (int64_t caller = 1; caller <= 4; ++caller) {
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 10; ++round) {
        std::vector<MSTensor> outputs;
        const Status status = runner.Predict({Rows(caller, 3.0F)}, &outputs);
        if (status.IsOk() && Holds(outputs[0], 1, 3.0F * static_cast<float>(caller))) ++right;
      }
    });
  }
  for (std::thread &caller : callers) caller.join();
  EXPECT_EQ(right.load(), 40);
}

TEST(Runner, SettingsOfBatchesAreChecked) {
  const File file(ScaleModel(2.0F));
  EXPECT_EQ(ModelParallelRunner().Init(file.path, Workers(1, {{"max_batch_size", "0"}})), kLiteParamInvalid);
  EXPECT_EQ(ModelParallelRunner().Init(file.path, Workers(1, {{"max_batch_size", "8x"}})), kLiteParamInvalid);
  EXPECT_EQ(ModelParallelRunner().Init(file.path, Workers(1, {{"batch", "8"}})), kLiteParamInvalid);
  auto config = Workers(2);
  config->GetContext()->SetThreadAffinity(std::vector<int>{0});
  EXPECT_EQ(ModelParallelRunner().Init(file.path, config), kLiteParamInvalid);
}

// No request is lost, and none gets numbers of both models, while a model is replaced.
TEST(Runner, ReplacesItsModelUnderLoad) {
  const File two(ScaleModel(2.0F)), three(ScaleModel(3.0F)), other(ScaleModel(2.0F, "z"));
  ModelParallelRunner runner;
  EXPECT_EQ(ReplaceModel(runner, two.path), kLiteUninitializedObj);
  ASSERT_TRUE(runner.Init(two.path, Workers(2)).IsOk());
  std::atomic<bool> goes_on{true};
  std::atomic<int> wrong{0}, answered{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller] {
      while (goes_on) {
        std::vector<MSTensor> outputs;
        const auto value = static_cast<float>(caller + 1);
        const Status status = runner.Predict({Rows(4, value)}, &outputs);
        const bool is_right = status.IsOk() && (Holds(outputs[0], 4, 2 * value) || Holds(outputs[0], 4, 3 * value));
        ++(is_right ? answered : wrong);
      }
    });
  }
  for (int round = 0; round < 20; ++round) {
    EXPECT_TRUE(ReplaceModel(runner, (round % 2 == 0 ? three : two).path).IsOk());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_TRUE(ReplaceModel(runner, three.path).IsOk());
  EXPECT_EQ(ReplaceModel(runner, other.path), kLiteParamInvalid);
  EXPECT_EQ(ReplaceModel(runner, "there_is_none.ms"), kLiteFileError);
  std::vector<MSTensor> outputs;
  EXPECT_TRUE(runner.Predict({Rows(4, 5.0F)}, &outputs).IsOk());
  EXPECT_TRUE(Holds(outputs[0], 4, 15.0F));
  goes_on = false;
  for (std::thread &caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_GT(answered.load(), 0);
}

TEST(ModelGroup, SharesOneWorkspace) {
  const std::string small = SmallModel(4, 300), large = SmallModel(40, 300);
  const File file(large);
  ModelGroup group;
  EXPECT_EQ(group.AddModel(std::vector<std::string>{}), kLiteParamInvalid);
  EXPECT_EQ(group.AddModel(std::vector<std::string>{"there_is_none.ms"}), kLiteFileError);
  ASSERT_TRUE(group.AddModel(std::vector<std::string>{file.path}).IsOk());
  Model first, second;
  ASSERT_TRUE(group.AddModel(std::vector<Model>{first}).IsOk());
  ASSERT_TRUE(group.CalMaxSizeOfWorkspace(kMindIR_Lite, MakeContext()).IsOk());
  ASSERT_TRUE(first.Build(small.data(), small.size(), kMindIR_Lite, MakeContext()).IsOk());
  ASSERT_TRUE(second.Build(file.path, kMindIR_Lite, MakeContext()).IsOk());
  EXPECT_EQ(group.AddModel(std::vector<Model>{second}), kLiteModelRebuild);
  Model alone;
  ASSERT_TRUE(alone.Build(large.data(), large.size(), kMindIR_Lite, MakeContext()).IsOk());
  std::atomic<int> wrong{0};
  const auto use = [&](Model *model, const std::vector<MSTensor> *expected) {
    for (int round = 0; round < 50; ++round) {
      std::vector<MSTensor> inputs = model->GetInputs(), outputs;
      auto *data = static_cast<float *>(inputs[0].MutableData());
      for (int64_t i = 0; i < inputs[0].ElementNum(); ++i) data[i] = static_cast<float>(i % 7) - 3;
      if (!model->Predict(inputs, &outputs).IsOk()) ++wrong;
      if (expected != nullptr &&
          std::memcmp(outputs[0].Data().get(), (*expected)[0].Data().get(), outputs[0].DataSize()) != 0) {
        ++wrong;
      }
    }
  };
  std::vector<MSTensor> inputs = alone.GetInputs(), expected;
  auto *data = static_cast<float *>(inputs[0].MutableData());
  for (int64_t i = 0; i < inputs[0].ElementNum(); ++i) data[i] = static_cast<float>(i % 7) - 3;
  ASSERT_TRUE(alone.Predict(inputs, &expected).IsOk());
  std::thread thread([&] { use(&first, nullptr); });
  use(&second, &expected);
  thread.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(ModelGroup(ModelGroupFlag::kShareWeight).CalMaxSizeOfWorkspace(kMindIR, MakeContext()), kLiteNotSupport);
}
}  // namespace
}  // namespace mslite::test
