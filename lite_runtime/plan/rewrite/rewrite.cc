#include "plan/rewrite/rewrite.h"

#include "plan/kept.h"
#include "plan/rewrite/channels_last.h"
#include "plan/rewrite/needed.h"
#include "plan/rewrite/residual_sums.h"

namespace mslite {
Status RewriteGraph(Graph *graph, const std::function<bool(const Node &)> &keeps) {
  MSLITE_TRY(CheckKept(*graph, keeps));
  JoinTransposedNorms(graph, keeps);
  MSLITE_TRY(ExpandQuantizedIfNeeded(graph));
  MSLITE_TRY(ExpandTypesIfNeeded(graph, keeps));
  MSLITE_TRY(FindResidualSums(graph));
  return CheckKept(*graph, keeps);
}
}  // namespace mslite
