#include "plan/rewrite/rewrite.h"

#include "plan/cropped_kernels.h"
#include "plan/rewrite/needed_passes.h"
#include "plan/rewrite/residual_adds.h"
#include "plan/rewrite/transposed_norms.h"

namespace mslite {
Status RewriteGraph(Graph *graph, const std::function<bool(const Node &)> &keeps) {
  MSLITE_TRY(CheckCroppedKernels(*graph, keeps));
  FuseTransposedNorms(graph, keeps);
  MSLITE_TRY(ExpandQuantizedIfNeeded(graph));
  MSLITE_TRY(ExpandTypesIfNeeded(graph, keeps));
  MSLITE_TRY(FindResidualAdds(graph));
  return CheckCroppedKernels(*graph, keeps);
}
}  // namespace mslite
