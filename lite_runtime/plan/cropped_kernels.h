// The kernels that a cropped library (mslite-crop) contains, and those that a graph needs.
#ifndef MSLITE_PLAN_CROPPED_KERNELS_H
#define MSLITE_PLAN_CROPPED_KERNELS_H

#include <cstdint>
#include <functional>

#include "cropped.h"
#include "model/graph.h"
#include "model/internal_api.h"

namespace mslite {
/// Returns the kinds of kernels that may run the node, at any shape: a sum of MSLITE_KIND_... values.
MSLITE_INTERNAL_API int32_t RequiredKernelKinds(const Graph &graph, const Node &node);

/// Returns kLiteNotFindOp with all nodes whose kernels were cropped from this library; always kSuccess if it is not
/// cropped. `keeps` returns true for nodes that registered kernels or delegates run.
Status CheckCroppedKernels(const Graph &graph, const std::function<bool(const Node &)> &keeps);
}  // namespace mslite

#endif
