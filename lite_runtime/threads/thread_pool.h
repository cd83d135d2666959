// The thread pool of the process. A caller opens a task, works on it, and idle threads help.
#ifndef MSLITE_THREADS_THREAD_POOL_H
#define MSLITE_THREADS_THREAD_POOL_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace mslite {
// Returns the number of cores that this process may use: its affinity mask, limited by the quota of its cgroup; at
// least 1.
int32_t UsableCores();

// The cores that helper threads may run on; empty: all.
using CoreMask = std::vector<int32_t>;

class ThreadPool {
 public:
  using Task = void (*)(void *context, int32_t part, int32_t thread);

  // Never destroyed, because threads of the application may run after the destruction of static objects.
  static ThreadPool &Instance();

  // Starts helpers until there are `threads` - 1, up to the maximum. Allocates memory, so it is called by Build.
  void Grow(int32_t threads);

  // Runs task(context, part, thread) for all parts in [0, parts) on at most `threads` threads. The caller is thread 0;
  // helpers have different numbers below `threads`. Each thread starts with adjacent parts. Returns when all parts are
  // done. It allocates nothing, except in the first call in the child of a fork, which starts the helpers. It locks a
  // mutex only to wake sleeping threads.
  void Run(Task task, void *context, int32_t parts, int32_t threads, const CoreMask *cores = nullptr);

  // For a thread that waits within its own work: takes parts of what others have opened with `task`, which must wait
  // for nothing itself. False when there are none. The thread stays on its cores.
  bool Help(Task task) { return open_slots_.load() > 0 && HelpOnce(1, task); }

 private:
  struct Range;
  struct Slot;
  struct Sleep;
  ThreadPool();
  void Work(int32_t number);
  bool HelpOnce(int32_t wanted, Task only);
  void ForgetHelpers();
  void RestoreHelpers();
  static void TakeParts(Slot *slot, int32_t thread);

  static constexpr int32_t kSlots = 64;
  static constexpr int32_t kRanges = 16;  // further threads only steal parts of other threads
  std::unique_ptr<Slot[]> slots_;
  std::unique_ptr<Sleep> sleep_;
  std::vector<std::thread> threads_;  // guarded by the mutex in sleep_
  std::atomic<int32_t> helper_count_{0};
  std::atomic<int32_t> lost_helpers_{0};  // number of helpers of the parent process, after a fork
  std::atomic<int32_t> open_slots_{0};
  int32_t cores_ = 1;
};
}  // namespace mslite

#endif
