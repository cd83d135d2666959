// Rewrites a graph after loading, before planning: to calls that have kernels, and to faster ones.
#ifndef MSLITE_PLAN_REWRITE_REWRITE_H
#define MSLITE_PLAN_REWRITE_REWRITE_H

#include <functional>

#include "model/graph.h"
#include "model/internal_api.h"

namespace mslite {
/// Runs every rewriting pass of this folder once. `keeps` returns true for nodes that must not change because
/// registered kernels or delegates run them. Errors: kLiteNotFindOp for a pass that a cropped library lacks; those of
/// ExpandQuantized, ExpandTypes and FindResidualAdds.
MSLITE_INTERNAL_API Status RewriteGraph(Graph *graph, const std::function<bool(const Node &)> &keeps);
}  // namespace mslite

#endif
