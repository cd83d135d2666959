#include "plan/plan.h"

#include <cstring>

namespace mslite {
bool Plan::Fits(const Frame &frame) const {
  for (const ShapeCheck &check : shape_checks) {
    if (!(frame.values[static_cast<size_t>(check.local)].shape == check.shape)) return false;
  }
  for (const ContentCheck &check : content_checks) {
    const uint8_t *data = frame.values[static_cast<size_t>(check.local)].data;
    if (data == nullptr || std::memcmp(data, check.bytes.data(), check.bytes.size()) != 0) return false;
  }
  return true;
}
}  // namespace mslite
