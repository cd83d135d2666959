// Plans the arena: every temporary gets an offset; two that live at the same time do not overlap.
#ifndef MSLITE_PLAN_MEMORY_H
#define MSLITE_PLAN_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mslite {
constexpr int64_t kArenaAlignment = 64;
constexpr int64_t AlignedSize(int64_t size) { return (size + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment; }

struct ArenaBuffer {
  int64_t size = 0;
  int32_t first = 0;          // the step that writes it
  std::vector<int32_t> last;  // the steps that read it last; {first} if nothing reads it
  int64_t offset = -1;        // result
};

// Which steps are always finished before another one begins: by position in a linear plan, by ancestors with branches.
class StepOrder {
 public:
  // Steps run one after the other.
  static StepOrder Linear() { return StepOrder(); }
  // A step waits only for its predecessors; predecessors[i] < i.
  static StepOrder Branches(const std::vector<std::vector<int32_t>> &predecessors);

  bool is_linear() const { return words_ == 0; }

  bool Before(int32_t a, int32_t b) const {
    if (a >= b) return false;
    return words_ == 0 ||
           (ancestors_[static_cast<size_t>(b) * words_ + static_cast<size_t>(a) / 64] >> (a % 64) & 1) != 0;
  }

 private:
  size_t words_ = 0;
  std::vector<uint64_t> ancestors_;
};

// Sets the offset of every buffer (64-byte aligned): largest first, each into the smallest gap that fits between the
// buffers that live at the same time. Returns the size of the arena, or -1 if it exceeds 63 bits.
int64_t LayOutArena(const StepOrder &order, std::vector<ArenaBuffer> *buffers);
}  // namespace mslite

#endif
