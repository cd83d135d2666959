// Two workers of a ModelParallelRunner need one copy of the packed weights, and an arena each.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <thread>

#include "include/api/model.h"
#include "include/api/model_parallel_runner.h"
#include "include/mslite/inspect.h"
#include "model_builder.h"

namespace mslite::test {
namespace {
using namespace mindspore;  // NOLINT

constexpr int32_t kRows = 1024;
constexpr int32_t kColumns = 2048;
constexpr int32_t kResults = 16;
constexpr int64_t kMebibyte = 1048576;
// Stacks of the callers, the graph, what malloc rounds up: far less than the weights or an arena.
constexpr int64_t kSmallThings = 3 * kMebibyte;

// Three products with weights of 16 MiB, 16 MiB and 128 KiB; activations of 8 MiB, a small result.
std::string LargeWeights() {
  ModelBuilder model;
  const std::vector<float> values(static_cast<size_t>(kColumns) * kColumns, 0.01F);
  const std::vector<float> last(static_cast<size_t>(kColumns) * kResults, 0.01F);
  const uint32_t x = model.Value("x", {kRows, kColumns});
  const uint32_t w0 = model.Floats("w0", {kColumns, kColumns}, values);
  const uint32_t a = model.Value("a", {kRows, kColumns});
  const uint32_t w1 = model.Floats("w1", {kColumns, kColumns}, values);
  const uint32_t b = model.Value("b", {kRows, kColumns});
  const uint32_t w2 = model.Floats("w2", {kColumns, kResults}, last);
  const uint32_t y = model.Value("y", {kRows, kResults});
  model.Node("first", schema::CreateMatMulFusion(model.builder), {x, w0}, {a});
  model.Node("second", schema::CreateMatMulFusion(model.builder), {a, w1}, {b});
  model.Node("third", schema::CreateMatMulFusion(model.builder), {b, w2}, {y});
  model.Graph({x}, {y}, {0, 1, 2});
  return model.Finish({x}, {y});
}

// Bytes of this process in memory that no file backs: pages of a mapped model can be dropped at any time.
int64_t AnonymousMemory() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("RssAnon:", 0) == 0) return std::stoll(line.substr(8)) * 1024;
  }
  return 0;
}

std::shared_ptr<Context> OneThread() {
  auto context = std::make_shared<Context>();
  context->SetThreadNum(1);
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  return context;
}

// Lets those who come wait until all are there, so that they all hold what they need at the same time.
class Meeting {
 public:
  explicit Meeting(int members) : members_(members) {}
  void Come() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++come_;
    wake_.notify_all();
    is_full_ = wake_.wait_for(lock, std::chrono::seconds(60), [this] { return come_ >= members_; });
  }
  bool is_full() const { return is_full_; }

 private:
  const int members_;
  std::mutex mutex_;
  std::condition_variable wake_;
  int come_ = 0;
  bool is_full_ = false;
};

TEST(MemoryOfTwoWorkers, IsOneCopyOfTheWeightsAndTwoArenas) {
  const std::string path = ::testing::TempDir() + "mslite_large_weights_" + std::to_string(getpid()) + ".ms";
  std::ofstream(path, std::ios::binary) << LargeWeights();
  const std::vector<float> x(static_cast<size_t>(kRows) * kColumns, 0.5F);
  const MSTensor input("x", DataType::kNumberTypeFloat32, {kRows, kColumns}, x.data(), x.size() * sizeof(float));

  const int64_t before = AnonymousMemory();
  if (before == 0) GTEST_SKIP() << "the system does not tell";
  int64_t grown = 0;
  {
    auto config = std::make_shared<RunnerConfig>();
    config->SetWorkersNum(2);
    config->SetContext(OneThread());
    ModelParallelRunner runner;
    ASSERT_TRUE(runner.Init(path, config).IsOk());
    Meeting meeting(2);
    const MSKernelCallBack meet = [&meeting](const auto &, const auto &, const MSCallBackParam &node) {
      if (node.node_name == "second") meeting.Come();
      return true;
    };
    std::vector<MSTensor> outputs[2];
    std::vector<std::thread> callers;
    for (auto &results : outputs) {
      callers.emplace_back([&] { EXPECT_TRUE(runner.Predict({input}, &results, meet).IsOk()); });
    }
    for (std::thread &caller : callers) caller.join();
    grown = AnonymousMemory() - before;
    ASSERT_TRUE(meeting.is_full()) << "the workers did not run at the same time";
    for (const auto &results : outputs) {
      ASSERT_EQ(results.size(), 1u);
      EXPECT_NEAR(static_cast<const float *>(results[0].Data().get())[0],
                  0.5 * 0.01 * 0.01 * 0.01 * 2048.0 * 2048 * 2048, 0.1);
    }
  }

  Model model;
  ASSERT_TRUE(model.Build(path, kMindIR_Lite, OneThread()).IsOk());
  PlanInfo plan;
  ASSERT_TRUE(InspectPlan(model, &plan).IsOk());
  std::remove(path.c_str());
  ASSERT_GT(plan.packed_bytes, 32 * kMebibyte);
  ASSERT_GT(plan.arena_bytes, 2 * kSmallThings) << "a third arena would not be seen";
  const int64_t expected = plan.packed_bytes + 2 * plan.arena_bytes;
  std::printf("packed weights %.1f MiB, arena %.1f MiB; 2 workers: %.1f MiB\n",
              static_cast<double>(plan.packed_bytes) / kMebibyte, static_cast<double>(plan.arena_bytes) / kMebibyte,
              static_cast<double>(grown) / kMebibyte);
  EXPECT_LE(grown, expected + kSmallThings);
  EXPECT_GE(grown, expected - kSmallThings) << "less cannot be: something was not measured";
}

}  // namespace
}  // namespace mslite::test
