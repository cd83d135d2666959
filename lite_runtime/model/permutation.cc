#include "model/permutation.h"

#include <cstring>

namespace mslite {
namespace {
// Returns the rank if the order is 0 followed by the other dimensions in a cycle that starts at the last or at the
// third; otherwise 0.
int32_t Circle(const Tensor &order, bool from_last) {
  const size_t size = order.type == MSLITE_INT64 ? sizeof(int64_t) : sizeof(int32_t);
  if (!order.is_constant || order.data == nullptr || (order.type != MSLITE_INT64 && order.type != MSLITE_INT32))
    return 0;
  const auto rank = static_cast<int32_t>(order.size / size);
  if (rank < 3 || order.size / size > MSLITE_MAX_RANK) return 0;
  for (int32_t i = 0; i < rank; ++i) {
    int64_t wide = 0;
    int32_t narrow = 0;
    std::memcpy(size == sizeof wide ? static_cast<void *>(&wide) : &narrow, order.data + static_cast<size_t>(i) * size,
                size);
    const int32_t axis = from_last ? (i == 1 ? rank - 1 : i - 1) : (i == rank - 1 ? 1 : i + 1);
    if (wide + narrow != (i == 0 ? 0 : axis)) return 0;
  }
  return rank;
}
}  // namespace

int32_t IsToChannelsFirst(const Tensor &order) { return Circle(order, true); }
int32_t IsToChannelsLast(const Tensor &order) { return Circle(order, false); }
}  // namespace mslite
