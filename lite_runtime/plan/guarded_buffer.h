// Memory with guard bytes on both sides, for kernels that may write one element too far.
#ifndef MSLITE_PLAN_GUARDED_BUFFER_H
#define MSLITE_PLAN_GUARDED_BUFFER_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace mslite {

/// A block of bytes with the alignment of tensors, filled with 0xff (NaN in every float type).
class GuardedBuffer {
 public:
  static constexpr size_t kAlignment = 64;
  static constexpr size_t kGuardBytes = 256;
  static constexpr unsigned char kGuard = 0xff;

  GuardedBuffer() = default;

  /// Allocates the block. Throws std::bad_alloc.
  explicit GuardedBuffer(int64_t bytes) : bytes_(static_cast<size_t>(bytes)) {
    if (static_cast<uint64_t>(bytes) > PTRDIFF_MAX - kAlignment - 2 * kGuardBytes) throw std::bad_alloc();
    const size_t total = kAlignment + kGuardBytes + bytes + kGuardBytes;
    memory_ = std::make_unique<unsigned char[]>(total);
    const auto address = reinterpret_cast<size_t>(memory_.get());
    begin_ = memory_.get() + (kAlignment - address % kAlignment) % kAlignment + kGuardBytes;
    std::memset(begin_ - kGuardBytes, kGuard, kGuardBytes + bytes + kGuardBytes);
  }

  void *data() const { return begin_; }
  size_t size() const { return bytes_; }

  /// Returns whether no guard byte has changed.
  bool Intact() const {
    if (begin_ == nullptr) return true;
    for (size_t i = 0; i < kGuardBytes; ++i) {
      if ((begin_ - kGuardBytes)[i] != kGuard || (begin_ + bytes_)[i] != kGuard) return false;
    }
    return true;
  }

 private:
  std::unique_ptr<unsigned char[]> memory_;
  unsigned char *begin_ = nullptr;
  size_t bytes_ = 0;
};

/// Fills the stack below the caller with `byte`, so that a kernel that reads uninitialized stack gives reproducible
/// results.
[[gnu::noinline]] inline void FillStack(int byte) {
  volatile unsigned char stack[1 << 14];
  for (volatile unsigned char &one : stack) one = static_cast<unsigned char>(byte);
}

}  // namespace mslite

#endif
