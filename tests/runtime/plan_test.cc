// Memory layout, the thread pool, packed weights.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>

#include "plan/memory.h"
#include "plan/weights.h"
#include "threads/thread_pool.h"

namespace mslite::test {
namespace {
bool Overlap(const ArenaBuffer &a, const ArenaBuffer &b) {
  return a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}

TEST(Arena, ReusesMemoryAndNeverOverlaps) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    std::vector<ArenaBuffer> buffers;
    int64_t sum = 0;
    const uint32_t steps = round % 2 == 0 ? 30 : 300;
    for (uint32_t i = 0; i < steps + 10; ++i) {
      const auto first = static_cast<int32_t>(random() % steps);
      const auto length = static_cast<int32_t>(random() % (i % 8 == 0 ? steps : 5));
      buffers.push_back({static_cast<int64_t>(random() % 5000), first, {first + length}, -1});
      sum += buffers.back().size;
    }
    const int64_t total = LayOutArena(StepOrder::Linear(), &buffers);
    EXPECT_LT(total, sum);
    for (size_t a = 0; a < buffers.size(); ++a) {
      EXPECT_EQ(buffers[a].offset % kArenaAlignment, 0);
      EXPECT_LE(buffers[a].offset + buffers[a].size, total);
      for (size_t b = 0; b < a; ++b) {
        const bool together = buffers[a].first <= buffers[b].last[0] && buffers[b].first <= buffers[a].last[0];
        EXPECT_FALSE(together && Overlap(buffers[a], buffers[b])) << round;
      }
    }
  }
}

TEST(Arena, KeepsBranchesApart) {
  // 0 -> 1 -> 3 and 0 -> 2 -> 3: the outputs of 1 and 2 may exist at the same time, in whatever order they run.
  const StepOrder order = StepOrder::Branches({{}, {0}, {0}, {1, 2}});
  EXPECT_TRUE(order.Before(0, 3));
  EXPECT_FALSE(order.Before(1, 2));
  std::vector<ArenaBuffer> buffers = {{100, 1, {1}, -1}, {100, 2, {2}, -1}};
  LayOutArena(order, &buffers);
  EXPECT_FALSE(Overlap(buffers[0], buffers[1]));
  buffers = {{100, 1, {1}, -1}, {100, 2, {2}, -1}};
  LayOutArena(StepOrder::Linear(), &buffers);
  EXPECT_TRUE(Overlap(buffers[0], buffers[1]));
}

TEST(Arena, KeepsRandomBranchesApart) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    constexpr uint32_t kSteps = 80;
    std::vector<std::vector<int32_t>> predecessors(kSteps);
    for (uint32_t step = 1; step < kSteps; ++step) {
      for (uint32_t i = random() % 3; i > 0; --i) predecessors[step].push_back(static_cast<int32_t>(random() % step));
    }
    const StepOrder order = StepOrder::Branches(predecessors);
    std::vector<ArenaBuffer> buffers;
    for (uint32_t i = 0; i < kSteps; ++i) {
      ArenaBuffer buffer = {static_cast<int64_t>(random() % 5000) + 1, static_cast<int32_t>(i), {}, -1};
      for (uint32_t step = i + 1; step < kSteps; ++step) {
        const std::vector<int32_t> &before = predecessors[step];
        if (std::find(before.begin(), before.end(), buffer.first) != before.end()) {
          buffer.last.push_back(static_cast<int32_t>(step));
        }
      }
      if (buffer.last.empty()) buffer.last.push_back(buffer.first);
      buffers.push_back(std::move(buffer));
    }
    const int64_t total = LayOutArena(order, &buffers);
    const auto over_before = [&](const ArenaBuffer &a, const ArenaBuffer &b) {
      return std::all_of(a.last.begin(), a.last.end(), [&](int32_t last) { return order.Before(last, b.first); });
    };
    for (size_t a = 0; a < buffers.size(); ++a) {
      EXPECT_LE(buffers[a].offset + buffers[a].size, total);
      for (size_t b = 0; b < a; ++b) {
        const bool apart = over_before(buffers[a], buffers[b]) || over_before(buffers[b], buffers[a]);
        EXPECT_TRUE(apart || !Overlap(buffers[a], buffers[b])) << round;
      }
    }
  }
}

TEST(Arena, RefusesImpossibleSizes) {
  std::vector<ArenaBuffer> buffers = {{INT64_MAX, 0, {0}, -1}};
  EXPECT_EQ(LayOutArena(StepOrder::Linear(), &buffers), -1);
}

// A kernel that packs floats by negating them.
int64_t NegatedSize(const mslite_node *node, int32_t input) { return mslite_element_count(node->inputs[input]) * 4; }

std::atomic<int> pack_calls{0};

void Negate(const mslite_node *node, int32_t input, const void *source, void *packed) {
  ++pack_calls;
  const int64_t count = mslite_element_count(node->inputs[input]);
  for (int64_t i = 0; i < count; ++i) static_cast<float *>(packed)[i] = -static_cast<const float *>(source)[i];
}

TEST(WeightStore, PacksEachConstantOnceForAllWhoAsk) {
  mslite_kernel kernel = {};
  kernel.name = "negate";
  kernel.pack_size = NegatedSize;
  kernel.pack = Negate;
  constexpr int kWeights = 20;
  std::vector<std::vector<float>> values;
  std::vector<mslite_tensor> tensors;
  std::vector<const mslite_tensor *> pointers;
  for (int i = 0; i < kWeights; ++i) {
    values.push_back(std::vector<float>(static_cast<size_t>(1 + i * 7), static_cast<float>(i)));
    mslite_tensor tensor = {};
    tensor.type = MSLITE_FLOAT32;
    tensor.rank = 1;
    tensor.dims[0] = 1 + i * 7;
    tensor.data = values.back().data();
    tensors.push_back(tensor);
  }
  for (const mslite_tensor &tensor : tensors) pointers.push_back(&tensor);
  const auto make_jobs = [&] {
    std::vector<PackJob> jobs;
    for (int i = 0; i < kWeights; ++i) {
      PackJob job;
      job.kernel = &kernel;
      job.node.input_count = 1;
      job.node.inputs = &pointers[static_cast<size_t>(i)];
      job.node_index = i;
      job.bytes = NegatedSize(&job.node, 0);
      jobs.push_back(job);
    }
    return jobs;
  };
  ThreadPool::Instance().Grow(4);
  const Graph graph;
  WeightStore store;
  std::vector<std::vector<PackJob>> results(4);
  std::vector<std::thread> callers;
  for (std::vector<PackJob> &result : results) {
    callers.emplace_back([&] {
      result = make_jobs();
      EXPECT_TRUE(store.Pack(graph, &result, 3).IsOk());
      for (int i = 0; i < kWeights; ++i) {
        const auto *packed = static_cast<const float *>(result[static_cast<size_t>(i)].packed);
        for (int k = 0; k < 1 + i * 7; ++k) ASSERT_EQ(packed[k], -static_cast<float>(i));
      }
    });
  }
  for (std::thread &caller : callers) caller.join();
  EXPECT_EQ(pack_calls.load(), kWeights);
  for (int i = 0; i < kWeights; ++i)
    EXPECT_EQ(results[0][static_cast<size_t>(i)].packed, results[3][static_cast<size_t>(i)].packed);
}
}  // namespace
}  // namespace mslite::test
