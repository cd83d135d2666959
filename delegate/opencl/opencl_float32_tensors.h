// Which tensors of a model float16 does not do for.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_FLOAT32_TENSORS_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_FLOAT32_TENSORS_H

#include <cstddef>
#include <functional>
#include <vector>

#include "engine/part.h"

namespace mslite {
// Whether the device takes a node whose shapes are known.
using RunsOnDevice = std::function<bool(const mslite_node &node)>;

// Tensors that float16 would overflow in, or lose the meaning of (plan/half_precision.h).
std::vector<size_t> Float32TensorsOf(const Part &whole, const RunsOnDevice &runs);
}  // namespace mslite

#endif
