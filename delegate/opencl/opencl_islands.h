// Which tensors of a model float16 does not do for.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_ISLANDS_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_ISLANDS_H

#include <cstddef>
#include <functional>
#include <vector>

#include "engine/part.h"

namespace mslite {
// Whether float16 has the numbers: none that is finite is beyond it, and not all are below its normal ones.
bool FitsHalf(const float *numbers, size_t count);

// Whether the device takes a node whose shapes are known.
using RunsOnDevice = std::function<bool(const mslite_node &node)>;

// Tensors that float16 would overflow in, or lose the meaning of: by the ranges that calibration has left in the file;
// where there are none, by what the operators do to numbers (OpenClPrecision), and by constants that float16 does not
// have.
std::vector<size_t> FindIslands(const Part &whole, const RunsOnDevice &runs);
}  // namespace mslite

#endif
