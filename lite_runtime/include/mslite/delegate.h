/// Help for those who write a delegate (include/api/delegate.h), beyond MindSpore Lite's API.
#ifndef MSLITE_INCLUDE_MSLITE_DELEGATE_H
#define MSLITE_INCLUDE_MSLITE_DELEGATE_H

#include <cstddef>
#include <functional>
#include <vector>

#include "include/api/delegate.h"

namespace mslite {
/// Kernels [begin, end) of the model's list.
struct KernelRange {
  size_t begin = 0;
  size_t end = 0;
};

/// Finds the largest subgraphs of kernels that an engine supports, and reorders the list so that each is one range.
///
/// A subgraph is connected and convex: no path leaves it and comes back, so it can run as a whole. Kernels keep their
/// order within a range, and the list stays in an order in which kernels may run. Ranges come last first, so that
/// Replace on one of them leaves the others where they are; subgraphs of less than `fewest` kernels are left out.
MS_API std::vector<KernelRange> SupportedRanges(mindspore::LiteDelegateGraph *model,
                                                const std::function<bool(mindspore::kernel::Kernel *)> &supports,
                                                size_t fewest = 1);

/// What crosses the border of a range: no constants, each tensor once.
struct Border {
  std::vector<mindspore::MSTensor> inputs;   ///< read within, made elsewhere
  std::vector<mindspore::MSTensor> outputs;  ///< made within, read elsewhere or by the caller of the model
};
MS_API Border BorderOf(mindspore::LiteDelegateGraph *model, KernelRange range);

/// Whether the tensor's stored integers are rounded half to even, as ONNX has it, and not away from zero, as TensorFlow
/// Lite has it.
MS_API bool RoundsHalfToEven(const mindspore::MSTensor &tensor);
}  // namespace mslite

#endif
