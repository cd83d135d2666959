// Every part of a task runs once, on threads whose numbers are their own, however many callers and helpers there are.
#include "threads/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace mslite {
namespace {
struct Count {
  std::vector<std::atomic<int32_t>> runs;
  std::vector<std::atomic<int32_t>> busy;  // by thread number
  std::atomic<bool> shared{false};         // two parts ran at once under one number

  Count(int32_t parts, int32_t threads) : runs(static_cast<size_t>(parts)), busy(static_cast<size_t>(threads)) {}

  static void Part(void *context, int32_t part, int32_t thread) {
    auto *count = static_cast<Count *>(context);
    auto &busy = count->busy.at(static_cast<size_t>(thread));
    if (busy.fetch_add(1) != 0) count->shared = true;
    count->runs.at(static_cast<size_t>(part)).fetch_add(1);
    busy.fetch_sub(1);
  }

  bool EachOnce() const {
    for (const auto &run : runs) {
      if (run.load() != 1) return false;
    }
    return !shared;
  }
};

TEST(ThreadPool, RunsEveryPartOnce) {
  ThreadPool::Instance().Grow(4);
  for (const int32_t parts : {0, 1, 2, 3, 7, 16, 33, 1000}) {
    for (const int32_t threads : {1, 2, 3, 4, 17, 100}) {
      Count count(parts, threads);
      ThreadPool::Instance().Run(&Count::Part, &count, parts, threads);
      EXPECT_TRUE(count.EachOnce()) << parts << " parts, " << threads << " threads";
    }
  }
}

TEST(ThreadPool, ServesManyCallers) {
  ThreadPool::Instance().Grow(4);
  std::atomic<int32_t> wrong{0};
  std::vector<std::thread> callers;
  for (int32_t caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&wrong, caller] {
      for (int32_t i = 0; i < 2000; ++i) {
        Count count(2 + (i + caller) % 40, 4);
        ThreadPool::Instance().Run(&Count::Part, &count, 2 + (i + caller) % 40, 4);
        if (!count.EachOnce()) ++wrong;
      }
    });
  }
  for (auto &caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, TakesWorkFromWork) {
  ThreadPool::Instance().Grow(4);
  std::atomic<int32_t> right{0};
  const auto nested = [](void *context, int32_t, int32_t) {
    Count count(8, 3);
    ThreadPool::Instance().Run(&Count::Part, &count, 8, 3);
    if (count.EachOnce()) ++*static_cast<std::atomic<int32_t> *>(context);
  };
  std::vector<std::thread> callers;
  for (int32_t caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&] {
      for (int32_t i = 0; i < 100; ++i) ThreadPool::Instance().Run(nested, &right, 5, 3);
    });
  }
  for (auto &caller : callers) caller.join();
  EXPECT_EQ(right, 6 * 100 * 5);
}

TEST(ThreadPool, KeepsTheOrderOnOneThread) {
  std::vector<int32_t> order;
  const auto note = [](void *context, int32_t part, int32_t) {
    static_cast<std::vector<int32_t> *>(context)->push_back(part);
  };
  ThreadPool::Instance().Run(note, &order, 5, 1);
  EXPECT_EQ(order, (std::vector<int32_t>{0, 1, 2, 3, 4}));
}

#if defined(__unix__) || defined(__APPLE__)
// With the parent's helpers asleep or at work; in the child, more helpers than the parent had are asked for, too.
TEST(ThreadPool, WorksInTheChildOfAFork) {
  ThreadPool::Instance().Grow(4);
  for (int32_t round = 0; round < 20; ++round) {
    Count warm(40, 4);
    ThreadPool::Instance().Run(&Count::Part, &warm, 40, 4);
    if (round % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(30);  // hanging is a failure
      bool right = true;
      for (int32_t i = 0; i < 200; ++i) {
        if (i == 50) ThreadPool::Instance().Grow(8);
        if (i % 20 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        Count count(40, 8);
        ThreadPool::Instance().Run(&Count::Part, &count, 40, 8);
        right = right && count.EachOnce();
      }
      _exit(right ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}
#endif
}  // namespace
}  // namespace mslite
