// What a cropped library (mslite-crop) has kernels for, and which kernels a graph needs.
#ifndef MSLITE_PLAN_KEPT_H
#define MSLITE_PLAN_KEPT_H

#include <cstdint>
#include <functional>

#include "cropped.h"
#include "model/graph.h"
#include "model/internal_api.h"

namespace mslite {
/// Which kernels of its operator the node may be offered to, at any shape: a sum of MSLITE_KIND_...
MSLITE_INTERNAL_API int32_t KernelKinds(const Graph &graph, const Node &node);

/// kLiteNotFindOp with all nodes for which this library was cropped too far; always kSuccess in a whole one. `keeps`:
/// calls that kernels of others run.
Status CheckKept(const Graph &graph, const std::function<bool(const Node &)> &keeps);
}  // namespace mslite

#endif
