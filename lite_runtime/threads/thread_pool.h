// One pool of threads per process. Whoever has parallel work opens it; idle threads help; the caller works too.
#ifndef MSLITE_THREADS_THREAD_POOL_H
#define MSLITE_THREADS_THREAD_POOL_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace mslite {
// Cores that this process may use: its affinity mask, cut by the cgroup's quota. At least 1.
int32_t UsableCores();

// The cores that helpers may run on; empty: any.
using CoreMask = std::vector<int32_t>;

class ThreadPool {
 public:
  using Task = void (*)(void *context, int32_t part, int32_t thread);

  // Never destroyed: threads of the host may still run when static objects go.
  static ThreadPool &Instance();

  // Makes sure that `threads` - 1 helpers exist, up to the cap. Allocates; call it when building, not when running.
  void Grow(int32_t threads);

  // Runs task(context, part, thread) for every part in [0, parts), on at most `threads` threads: the caller is thread
  // 0, helpers have distinct numbers below `threads`, and each thread begins with parts next to each other. Returns
  // when all parts are done. No allocation, but for the first call in the child of a fork, which makes the helpers that
  // the parent had; a lock only to wake threads that sleep.
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
  static constexpr int32_t kRanges = 16;  // more threads than that take from the others' ranges only
  std::unique_ptr<Slot[]> slots_;
  std::unique_ptr<Sleep> sleep_;
  std::vector<std::thread> threads_;  // guarded by the mutex in sleep_
  std::atomic<int32_t> helper_count_{0};
  std::atomic<int32_t> lost_helpers_{0};  // that the parent of this process had
  std::atomic<int32_t> open_slots_{0};
  int32_t cores_ = 1;
};
}  // namespace mslite

#endif
