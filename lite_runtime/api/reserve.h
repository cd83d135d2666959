// A small reserve of memory, which is used to report that memory is exhausted.
#ifndef MSLITE_API_RESERVE_H
#define MSLITE_API_RESERVE_H

#include <cstddef>

namespace mslite {
// Allocates with operator new, or from the reserve if this fails. Throws std::bad_alloc if the reserve is used up.
void *AllocateWithReserve(size_t bytes);
void FreeWithReserve(void *memory) noexcept;

template <typename T>
struct ReserveAllocator {
  using value_type = T;

  ReserveAllocator() = default;
  template <typename U>
  ReserveAllocator(const ReserveAllocator<U> & /*other*/) {}  // NOLINT: allocators convert

  T *allocate(size_t count) { return static_cast<T *>(AllocateWithReserve(count * sizeof(T))); }
  void deallocate(T *memory, size_t /*count*/) noexcept { FreeWithReserve(memory); }
};

template <typename T, typename U>
bool operator==(const ReserveAllocator<T> & /*a*/, const ReserveAllocator<U> & /*b*/) {
  return true;
}
template <typename T, typename U>
bool operator!=(const ReserveAllocator<T> & /*a*/, const ReserveAllocator<U> & /*b*/) {
  return false;
}
}  // namespace mslite

#endif
