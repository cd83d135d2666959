#include "plan/memory.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mslite {
namespace {
constexpr int32_t kStepsPerSpan = 16;

// The buffers that have an offset. If steps run one after the other, they are indexed by spans of steps, so that a
// search need not visit all of them.
class PlacedBuffers {
 public:
  PlacedBuffers(const StepOrder &order, const std::vector<ArenaBuffer> &buffers) : order_(order) {
    int32_t last = 0;
    for (const ArenaBuffer &buffer : buffers) last = std::max(last, LastStep(buffer));
    spans_.resize(order.is_linear() ? static_cast<size_t>(last / kStepsPerSpan) + 1 : 1);
  }

  void Add(const ArenaBuffer *buffer) {
    const Placed placed = {buffer, LastStep(*buffer)};
    const auto [first, last] = SpansOf(*buffer);
    for (size_t span = first; span <= last; ++span) {
      std::vector<Placed> &all = spans_[span];
      all.insert(std::upper_bound(all.begin(), all.end(), buffer->offset,
                                  [](int64_t offset, const Placed &other) { return offset < other.buffer->offset; }),
                 placed);
    }
  }

  // Finds the buffers that live at the same time as `buffer`, sorted by offset. May contain duplicates.
  void FindTogether(const ArenaBuffer &buffer, std::vector<const ArenaBuffer *> *together) const {
    together->clear();
    const Placed mine = {&buffer, LastStep(buffer)};
    const auto [first, last] = SpansOf(buffer);
    for (size_t span = first; span <= last; ++span) {
      for (const Placed &other : spans_[span]) {
        if (LiveTogether(mine, other)) together->push_back(other.buffer);
      }
    }
    if (first == last) return;
    std::sort(together->begin(), together->end(),
              [](const ArenaBuffer *a, const ArenaBuffer *b) { return a->offset < b->offset; });
  }

 private:
  struct Placed {
    const ArenaBuffer *buffer;
    int32_t last;  // the largest of buffer->last
  };

  static int32_t LastStep(const ArenaBuffer &buffer) {
    return std::max(buffer.first, *std::max_element(buffer.last.begin(), buffer.last.end()));
  }

  // A step can come before another only if its number is smaller. If that holds for all last steps, the order is
  // checked.
  bool LiveTogether(const Placed &a, const Placed &b) const {
    if (a.last < b.buffer->first) return !IsOverBefore(*a.buffer, b.buffer->first);
    if (b.last < a.buffer->first) return !IsOverBefore(*b.buffer, a.buffer->first);
    return true;
  }

  bool IsOverBefore(const ArenaBuffer &buffer, int32_t step) const {
    return order_.is_linear() ||
           std::all_of(buffer.last.begin(), buffer.last.end(), [&](int32_t last) { return order_.Before(last, step); });
  }

  std::pair<size_t, size_t> SpansOf(const ArenaBuffer &buffer) const {
    if (spans_.size() == 1) return {0, 0};
    return {static_cast<size_t>(buffer.first / kStepsPerSpan), static_cast<size_t>(LastStep(buffer) / kStepsPerSpan)};
  }

  const StepOrder &order_;
  std::vector<std::vector<Placed>> spans_;  // each sorted by offset
};

// Returns the offset of the smallest gap of at least `size` bytes between `taken` (sorted), or after all of them.
int64_t BestGap(const std::vector<const ArenaBuffer *> &taken, int64_t size) {
  int64_t end = 0;
  int64_t best = -1;
  int64_t best_gap = INT64_MAX;
  for (const ArenaBuffer *buffer : taken) {
    const int64_t gap = buffer->offset - end;
    if (gap >= size && gap < best_gap) {
      best = end;
      best_gap = gap;
    }
    end = std::max(end, buffer->offset + AlignedSize(buffer->size));
  }
  return best >= 0 ? best : end;
}
}  // namespace

StepOrder StepOrder::Branches(const std::vector<std::vector<int32_t>> &predecessors) {
  StepOrder order;
  order.words_ = (predecessors.size() + 63) / 64;
  order.ancestors_.assign(order.words_ * predecessors.size(), 0);
  for (size_t step = 0; step < predecessors.size(); ++step) {
    uint64_t *mine = &order.ancestors_[step * order.words_];
    for (const int32_t predecessor : predecessors[step]) {
      const uint64_t *theirs = &order.ancestors_[static_cast<size_t>(predecessor) * order.words_];
      for (size_t i = 0; i < order.words_; ++i) mine[i] |= theirs[i];
      mine[predecessor / 64] |= uint64_t{1} << (predecessor % 64);
    }
  }
  return order;
}

int64_t LayOutArena(const StepOrder &order, std::vector<ArenaBuffer> *buffers) {
  std::vector<size_t> sequence(buffers->size());
  std::iota(sequence.begin(), sequence.end(), size_t{0});
  std::sort(sequence.begin(), sequence.end(), [&](size_t a, size_t b) {
    const int64_t size = (*buffers)[a].size;
    const int64_t other = (*buffers)[b].size;
    return size != other ? size > other : a < b;
  });
  PlacedBuffers placed(order, *buffers);
  std::vector<const ArenaBuffer *> taken;
  int64_t total = 0;
  for (const size_t index : sequence) {
    ArenaBuffer &buffer = (*buffers)[index];
    if (buffer.size < 0 || buffer.size > INT64_MAX / 4) return -1;
    placed.FindTogether(buffer, &taken);
    buffer.offset = BestGap(taken, AlignedSize(buffer.size));
    if (buffer.offset > INT64_MAX / 4) return -1;
    total = std::max(total, buffer.offset + AlignedSize(buffer.size));
    placed.Add(&buffer);
  }
  return total;
}
}  // namespace mslite
