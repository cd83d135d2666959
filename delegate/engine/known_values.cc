#include "engine/known_values.h"

#include <algorithm>

namespace mslite {
bool IsKnown(const mslite_node &node) {
  const auto is_known = [](const mslite_tensor *tensor) {
    const auto is_value = [](int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; };
    const bool is_whole = tensor->type == MSLITE_INT64 || tensor->type == MSLITE_INT32 || tensor->type == MSLITE_BOOL;
    return is_whole && tensor->known_count > 0 && tensor->known_count == mslite_element_count(tensor) &&
           std::all_of(tensor->known, tensor->known + tensor->known_count, is_value);
  };
  return std::all_of(node.outputs, node.outputs + node.output_count, is_known);
}

std::vector<uint8_t> KnownContents(const mslite_tensor &tensor) {
  std::vector<uint8_t> bytes;
  for (int32_t i = 0; i < tensor.known_count; ++i) {
    const int64_t value = tensor.known[i];
    const auto narrow = static_cast<int32_t>(value);
    const uint8_t truth = value != 0 ? 1 : 0;
    const void *begin = tensor.type == MSLITE_INT64   ? static_cast<const void *>(&value)
                        : tensor.type == MSLITE_INT32 ? static_cast<const void *>(&narrow)
                                                      : &truth;
    const auto *first = static_cast<const uint8_t *>(begin);
    bytes.insert(bytes.end(), first, first + mslite_type_size(tensor.type));
  }
  return bytes;
}
}  // namespace mslite
