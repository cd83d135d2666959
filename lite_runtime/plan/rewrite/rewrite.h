// What loading makes of a graph before anything is planned: calls that kernels have, and those that are faster.
#ifndef MSLITE_PLAN_REWRITE_REWRITE_H
#define MSLITE_PLAN_REWRITE_REWRITE_H

#include <functional>

#include "model/graph.h"
#include "model/internal_api.h"

namespace mslite {
/// Runs every rewriting of this folder, each once. `keeps`: calls that must stay as they are in the file, because
/// kernels of others run them. Errors: kLiteNotFindOp for what a cropped library lacks, those of ExpandQuantized,
/// ExpandTypes and FindResidualSums.
MSLITE_INTERNAL_API Status RewriteGraph(Graph *graph, const std::function<bool(const Node &)> &keeps);
}  // namespace mslite

#endif
