// Rewrites calls on data types that no kernel supports to calls between casts.
#ifndef MSLITE_PLAN_REWRITE_EXPAND_TYPES_H
#define MSLITE_PLAN_REWRITE_EXPAND_TYPES_H

#include <functional>

#include "model/graph.h"

namespace mslite {
/// Makes every call whose data types no portable kernel supports compute in wider ones (FindKernelTypes), between
/// casts. Float results are passed on unrounded; they are rounded to float16 or float64 only at graph outputs and for
/// operators that depend on the data type. Integers are always cast back, so that they wrap around as in their own data
/// type. `keeps` returns true for nodes that must not change.
///
/// A call that cannot be rewritten is not changed; planning reports the reason. Errors: kLiteMemoryFailed.
Status ExpandTypes(Graph *graph, const std::function<bool(const Node &)> &keeps);
}  // namespace mslite

#endif
