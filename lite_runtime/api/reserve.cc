#include "api/reserve.h"

#include <atomic>
#include <new>

namespace mslite {
namespace {
constexpr size_t kBlocks = 32;
constexpr size_t kBlockBytes = 256;

struct alignas(std::max_align_t) Block {
  unsigned char bytes[kBlockBytes];
};

Block blocks[kBlocks];
std::atomic<bool> is_taken[kBlocks];
}  // namespace

void *AllocateWithReserve(size_t bytes) {
  if (void *memory = ::operator new(bytes, std::nothrow); memory != nullptr) return memory;
  for (size_t i = 0; i < kBlocks && bytes <= kBlockBytes; ++i) {
    if (!is_taken[i].exchange(true)) return blocks[i].bytes;
  }
  throw std::bad_alloc();
}

void FreeWithReserve(void *memory) noexcept {
  for (size_t i = 0; i < kBlocks; ++i) {
    if (memory != blocks[i].bytes) continue;
    is_taken[i] = false;
    return;
  }
  ::operator delete(memory);
}
}  // namespace mslite
