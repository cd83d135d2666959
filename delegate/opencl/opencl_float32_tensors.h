// Selection of the tensors of a model that stay in float32 when float16 is enabled.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_FLOAT32_TENSORS_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_FLOAT32_TENSORS_H

#include <cstddef>
#include <functional>
#include <vector>

#include "engine/part.h"

namespace mslite {
// Returns true if a node with known shapes runs on the device.
using RunsOnDevice = std::function<bool(const mslite_node &node)>;

// Returns the indices of tensors whose values could overflow or become meaningless in float16 (plan/half_precision.h).
std::vector<size_t> Float32TensorsOf(const Part &whole, const RunsOnDevice &runs);
}  // namespace mslite

#endif
