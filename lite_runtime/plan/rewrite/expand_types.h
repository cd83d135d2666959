// Calls on element types that no kernel takes, rewritten to calls between casts.
#ifndef MSLITE_PLAN_REWRITE_EXPAND_TYPES_H
#define MSLITE_PLAN_REWRITE_EXPAND_TYPES_H

#include <functional>

#include "model/graph.h"

namespace mslite {
/// Lets every call whose types no portable kernel takes compute in wider ones (FindKernelTypes), between casts. The
/// readers of float values get them as they were computed: they are rounded to float16 or float64 only where the file
/// shows them: at the ends of a graph, and to operators that are about types. Integers are always cast back, so that
/// they wrap as their own type does. `keeps`: calls that must stay as they are.
///
/// A call that cannot be rewritten stays; planning says why it cannot run. Errors: kLiteMemoryFailed.
Status ExpandTypes(Graph *graph, const std::function<bool(const Node &)> &keeps);
}  // namespace mslite

#endif
