#include "plan/rewrite/rewrite.h"

#include "plan/rewrite/channels_last.h"
#include "plan/rewrite/expand_quantised.h"
#include "plan/rewrite/expand_types.h"
#include "plan/rewrite/residual_sums.h"

namespace mslite {
Status RewriteGraph(Graph *graph, const std::function<bool(const Node &)> &keeps) {
  JoinTransposedNorms(graph, keeps);
  MSLITE_TRY(ExpandQuantised(graph));
  MSLITE_TRY(ExpandTypes(graph, keeps));
  return FindResidualSums(graph);
}
}  // namespace mslite
