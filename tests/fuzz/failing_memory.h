// Replaces malloc in a program: allocation number n inside of the API fails. For one source file of a program.
#ifndef MSLITE_TESTS_FAILING_MEMORY_H
#define MSLITE_TESTS_FAILING_MEMORY_H

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <limits>

namespace {
constexpr int kNever = std::numeric_limits<int>::max();
std::atomic<bool> armed{false};  // only inside of the API: a program's own memory is its own affair
std::atomic<int> left{kNever};   // allocations until the one that fails
std::atomic<bool> stays{false};  // whether there is no memory any more after that

bool Fails() {
  if (!armed.load(std::memory_order_relaxed)) return false;
  const int mine = left.fetch_sub(1);
  return mine == 1 || (mine < 1 && stays.load(std::memory_order_relaxed));
}

template <typename Function>
auto Armed(Function function) {
  armed = true;
  auto result = function();
  armed = false;
  return result;
}
}  // namespace

// Seen by the libraries, too: clang hides them by -fvisibility=hidden, gcc does not.
#pragma GCC visibility push(default)
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) { return Fails() ? nullptr : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return Fails() ? nullptr : __libc_calloc(count, size); }
void *realloc(void *pointer, size_t size) { return Fails() ? nullptr : __libc_realloc(pointer, size); }
void *aligned_alloc(size_t alignment, size_t size) { return Fails() ? nullptr : __libc_memalign(alignment, size); }
int posix_memalign(void **memory, size_t alignment, size_t size) {
  *memory = aligned_alloc(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
}
#pragma GCC visibility pop

#endif
