/// Functions for writing a delegate (include/api/delegate.h). mslite extension.
#ifndef MSLITE_INCLUDE_MSLITE_DELEGATE_H
#define MSLITE_INCLUDE_MSLITE_DELEGATE_H

#include <cstddef>
#include <functional>
#include <vector>

#include "include/api/delegate.h"

namespace mslite {
/// The kernels [begin, end) of the model's list: one partition.
struct KernelRange {
  size_t begin = 0;
  size_t end = 0;
};

/// Finds the largest partitions of kernels that a backend supports, and reorders the list so that each is one range.
///
/// A partition is connected and convex: no path leaves it and returns, so it can run as a whole. Kernels keep their
/// order within a range, and the order of the list stays valid. The last range is returned first, so that Replace on it
/// does not move the others. Partitions with fewer than `fewest` kernels are not returned.
MS_API std::vector<KernelRange> SupportedRanges(mindspore::LiteDelegateGraph *model,
                                                const std::function<bool(mindspore::kernel::Kernel *)> &supports,
                                                size_t fewest = 1);

/// The inputs and outputs of a range: each tensor once, without constants.
struct Border {
  std::vector<mindspore::MSTensor> inputs;   ///< read in the range, produced outside of it
  std::vector<mindspore::MSTensor> outputs;  ///< produced in the range, read outside of it or outputs of the model
};
/// Returns the inputs and outputs of a range.
MS_API Border BorderOf(mindspore::LiteDelegateGraph *model, KernelRange range);

/// Returns true if the integers of a quantized tensor are rounded half to even, as in ONNX, and false if they are
/// rounded half away from zero, as in TensorFlow Lite.
MS_API bool RoundsHalfToEven(const mindspore::MSTensor &tensor);
}  // namespace mslite

#endif
