// Which rewriting passes a graph needs. Passes that it does not need may be missing in a cropped library.
#ifndef MSLITE_PLAN_REWRITE_NEEDED_PASSES_H
#define MSLITE_PLAN_REWRITE_NEEDED_PASSES_H

#include "plan/rewrite/expand_quantized.h"
#include "plan/rewrite/expand_types.h"

namespace mslite {
/// Returns whether any operand of the node is a quantized 8-bit or 16-bit integer.
bool HasQuantizedOperands(const Graph &graph, const Node &node);
/// Returns whether any operand of the node that is neither constant nor quantized is not float32.
bool HasOtherTypes(const Graph &graph, const Node &node);

/// Run ExpandQuantized or ExpandTypes if the graph needs it. Errors: theirs, and kLiteNotFindOp if the pass was cropped
/// from this library.
Status ExpandQuantizedIfNeeded(Graph *graph);
Status ExpandTypesIfNeeded(Graph *graph, const std::function<bool(const Node &)> &keeps);

using ExpandQuantizedFunction = decltype(&ExpandQuantized);
extern "C" const ExpandQuantizedFunction mslite_part_integers[1];
using ExpandTypesFunction = decltype(&ExpandTypes);
extern "C" const ExpandTypesFunction mslite_part_types[1];
}  // namespace mslite

#endif
