#include "threads/thread_pool.h"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <new>
#include <system_error>

#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace mslite {
namespace {
constexpr int32_t kSpins = 4000;        // about 50 to 100 microseconds
constexpr int32_t kThreadsPerCore = 5;  // maximum size of the pool
constexpr int32_t kNumbers = 64;        // maximum number of threads of one task

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Returns the CPU quota of the cgroup in cores, rounded up; 0 if there is none.
int32_t QuotaCores() {
  long long quota = 0;
  long long period = 0;
  if (std::FILE *file = std::fopen("/sys/fs/cgroup/cpu.max", "re"); file != nullptr) {
    const int read = std::fscanf(file, "%lld %lld", &quota, &period);
    std::fclose(file);
    if (read == 2 && quota > 0 && period > 0) return static_cast<int32_t>((quota + period - 1) / period);
    return 0;
  }
  const auto read_number = [](const char *path, long long *number) {
    std::FILE *file = std::fopen(path, "re");
    if (file == nullptr) return false;
    const bool ok = std::fscanf(file, "%lld", number) == 1;
    std::fclose(file);
    return ok;
  };
  if (read_number("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", &quota) && quota > 0 &&
      read_number("/sys/fs/cgroup/cpu/cpu.cfs_period_us", &period) && period > 0) {
    return static_cast<int32_t>((quota + period - 1) / period);
  }
  return 0;
}

// Binds the calling helper thread to `cores`, unless it is already bound to them.
void Bind(const CoreMask *cores) {
#if defined(__linux__)
  thread_local const CoreMask *bound = nullptr;
  thread_local cpu_set_t original;
  if (cores == bound) return;
  if (bound == nullptr) sched_getaffinity(0, sizeof original, &original);
  cpu_set_t set;
  CPU_ZERO(&set);
  if (cores != nullptr) {
    for (const int32_t core : *cores) {
      if (core >= 0 && core < CPU_SETSIZE) CPU_SET(static_cast<size_t>(core), &set);
    }
  }
  sched_setaffinity(0, sizeof set, cores == nullptr ? &original : &set);
  bound = cores;
#else
  static_cast<void>(cores);
#endif
}
}  // namespace

int32_t UsableCores() {
  int32_t cores = static_cast<int32_t>(std::thread::hardware_concurrency());
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
#endif
  if (const int32_t quota = QuotaCores(); quota > 0) cores = std::min(cores, quota);
  return std::max(cores, int32_t{1});
}

// The parts of a task for one thread. The owner takes parts from the front; threads without parts steal from the back.
// So a thread works on adjacent parts, which are mostly the same in each call and in its caches.
struct alignas(64) ThreadPool::Range {
  std::atomic<int32_t> left{0};  // number of parts that are not taken; may be negative after failed attempts
  std::atomic<int32_t> back{0};
  int32_t front = 0;  // only used by the owner
};

// A task of one caller. Its memory is never freed, so that late helpers can access it.
struct alignas(64) ThreadPool::Slot {
  enum : int32_t { kFree, kTaken, kOpen };
  std::atomic<int32_t> state{kFree};
  std::atomic<int32_t> visitors{0};  // helpers that access the slot
  std::atomic<uint64_t> numbers{0};  // one bit for each thread number in use
  Task task = nullptr;
  void *context = nullptr;
  int32_t threads = 0;
  int32_t range_count = 0;
  const CoreMask *cores = nullptr;
  alignas(64) std::atomic<int32_t> done{0};
  Range ranges[kRanges];

  bool HasWork() const {
    for (int32_t i = 0; i < range_count; ++i) {
      if (ranges[i].left.load(std::memory_order_relaxed) > 0) return true;
    }
    return false;
  }

  // Returns a free thread number, `wanted` if possible; -1 if there is none.
  int32_t Number(int32_t wanted) {
    uint64_t given = numbers.load();
    while (true) {
      int32_t number = wanted;
      if (number >= threads || (given >> number & 1) != 0) {
        for (number = 0; number < threads && (given >> number & 1) != 0;) ++number;
      }
      if (number >= threads) return -1;
      if (numbers.compare_exchange_weak(given, given | uint64_t{1} << number)) return number;
    }
  }
};

struct ThreadPool::Sleep {
  std::mutex mutex;
  std::condition_variable wake;
  std::atomic<int32_t> sleepers{0};
};

ThreadPool &ThreadPool::Instance() {
  static auto *pool = new ThreadPool;
  return *pool;
}

ThreadPool::ThreadPool()
    : slots_(std::make_unique<Slot[]>(kSlots)), sleep_(std::make_unique<Sleep>()), cores_(UsableCores()) {
#if defined(__unix__) || defined(__APPLE__)
  pthread_atfork(nullptr, nullptr, [] { Instance().ForgetHelpers(); });
#endif
}

// Called in the child of a fork, which has no helper threads. Their state may be inconsistent, so it is constructed
// again in place. Memory must not be allocated or freed here.
void ThreadPool::ForgetHelpers() {
  lost_helpers_.store(helper_count_.load());
  helper_count_.store(0);
  open_slots_.store(0);
  new (sleep_.get()) Sleep;
  new (&threads_) std::vector<std::thread>;
  for (int32_t i = 0; i < kSlots; ++i) {
    slots_[static_cast<size_t>(i)].state.store(Slot::kFree);
    slots_[static_cast<size_t>(i)].visitors.store(0);
  }
}

// Starts as many helpers as the parent process had. Failure is not an error: the caller then does all the work.
void ThreadPool::RestoreHelpers() {
  try {
    Grow(lost_helpers_.exchange(0) + 1);
  } catch (const std::system_error &) {
  } catch (const std::bad_alloc &) {
  }
}

void ThreadPool::Grow(int32_t threads) {
  const int32_t wanted = std::min(threads, kThreadsPerCore * cores_) - 1;
  const std::lock_guard<std::mutex> lock(sleep_->mutex);
  while (static_cast<int32_t>(threads_.size()) < wanted) {
    const auto number = static_cast<int32_t>(threads_.size()) + 1;
    threads_.emplace_back([this, number] { Work(number); });
    threads_.back().detach();
  }
  helper_count_.store(static_cast<int32_t>(threads_.size()));
}

void ThreadPool::TakeParts(Slot *slot, int32_t thread) {
  const int32_t count = slot->range_count;
  int32_t taken = 0;
  if (thread < count) {
    Range &own = slot->ranges[thread];
    for (; own.left.fetch_sub(1) > 0; ++taken) slot->task(slot->context, own.front++, thread);
  }
  for (int32_t i = 1; i <= count; ++i) {
    Range &other = slot->ranges[(thread + i) % count];
    for (; other.left.load(std::memory_order_relaxed) > 0 && other.left.fetch_sub(1) > 0; ++taken) {
      slot->task(slot->context, other.back.fetch_sub(1) - 1, thread);
    }
  }
  if (taken > 0) slot->done.fetch_add(taken);
}

// Helps with the first open slot that needs threads, as thread number `wanted` if possible. If `only` is set, only with
// this task. Returns false if there is no such slot.
bool ThreadPool::HelpOnce(int32_t wanted, Task only) {
  for (int32_t i = 0; i < kSlots; ++i) {
    Slot &slot = slots_[static_cast<size_t>(i)];
    if (slot.state.load(std::memory_order_relaxed) != Slot::kOpen) continue;
    bool helped = false;
    slot.visitors.fetch_add(1);
    if (slot.state.load() == Slot::kOpen && (only == nullptr || slot.task == only) && slot.HasWork()) {
      const int32_t thread = slot.Number(wanted);
      if (thread > 0) {
        if (only == nullptr) Bind(slot.cores);
        TakeParts(&slot, thread);
        helped = true;
      }
    }
    slot.visitors.fetch_sub(1);
    if (helped) return true;
  }
  return false;
}

void ThreadPool::Work(int32_t number) {
  int32_t spins = 0;
  while (true) {
    if (open_slots_.load() > 0 && HelpOnce(number, nullptr)) {
      spins = 0;
      continue;
    }
    // With more helpers than cores, spinning would slow down working threads.
    const int32_t limit = helper_count_.load(std::memory_order_relaxed) < cores_ ? kSpins : 0;
    if (++spins <= limit) {
      Pause();
      continue;
    }
    spins = 0;
    std::unique_lock<std::mutex> lock(sleep_->mutex);
    sleep_->sleepers.fetch_add(1);
    if (open_slots_.load() > 0) {
      // A task was opened meanwhile. If other threads have taken all its parts, this thread yields instead of sleeping.
      sleep_->sleepers.fetch_sub(1);
      lock.unlock();
      std::this_thread::yield();
      continue;
    }
    sleep_->wake.wait(lock);
    sleep_->sleepers.fetch_sub(1);
  }
}

void ThreadPool::Run(Task task, void *context, int32_t parts, int32_t threads, const CoreMask *cores) {
  Slot *slot = nullptr;
  if (parts > 1 && threads > 1) {
    if (lost_helpers_.load(std::memory_order_relaxed) > 0) RestoreHelpers();
    for (int32_t i = 0; i < kSlots && slot == nullptr; ++i) {
      int32_t expected = Slot::kFree;
      if (slots_[static_cast<size_t>(i)].state.compare_exchange_strong(expected, Slot::kTaken)) {
        slot = &slots_[static_cast<size_t>(i)];
      }
    }
  }
  if (slot == nullptr) {
    for (int32_t part = 0; part < parts; ++part) task(context, part, 0);
    return;
  }
  slot->numbers.store(1);  // number 0: the caller
  slot->done.store(0);
  slot->task = task;
  slot->context = context;
  slot->threads = std::min(threads, kNumbers);
  slot->range_count = std::min({parts, slot->threads, kRanges});
  slot->cores = cores;
  for (int32_t i = 0; i < slot->range_count; ++i) {
    Range &range = slot->ranges[i];
    range.front = static_cast<int32_t>(int64_t{parts} * i / slot->range_count);
    const auto end = static_cast<int32_t>(int64_t{parts} * (i + 1) / slot->range_count);
    range.back.store(end, std::memory_order_relaxed);
    range.left.store(end - range.front, std::memory_order_relaxed);
  }
  slot->state.store(Slot::kOpen);
  open_slots_.fetch_add(1);
  if (sleep_->sleepers.load() > 0) {
    // Locking the mutex orders this after a sleeper's last check of open_slots_.
    { const std::lock_guard<std::mutex> lock(sleep_->mutex); }
    const int32_t wanted = std::min(threads, parts) - 1;
    for (int32_t i = 0; i < wanted; ++i) sleep_->wake.notify_one();
  }
  TakeParts(slot, 0);
  for (int32_t spins = 0; slot->done.load() < parts; ++spins) {
    if (spins < kSpins) {
      Pause();
    } else {
      std::this_thread::yield();
    }
  }
  open_slots_.fetch_sub(1);
  slot->state.store(Slot::kTaken);
  while (slot->visitors.load() != 0) Pause();
  slot->state.store(Slot::kFree);
}
}  // namespace mslite
