// Which rewritings a graph needs, told without them: those that it does not need may be cropped out of the library.
#ifndef MSLITE_PLAN_REWRITE_NEEDED_H
#define MSLITE_PLAN_REWRITE_NEEDED_H

#include "plan/rewrite/expand_quantized.h"
#include "plan/rewrite/expand_types.h"

namespace mslite {
/// True when some operand of the node is a quantized integer of 8 or 16 bits.
bool HasQuantizedOperands(const Graph &graph, const Node &node);
/// True when some operand of the node that is neither constant nor quantized has another type than float32.
bool HasOtherTypes(const Graph &graph, const Node &node);

/// Run ExpandQuantized or ExpandTypes where the graph needs it. Errors: theirs, and kLiteNotFindOp where this library
/// was cropped and has it no more.
Status ExpandQuantizedIfNeeded(Graph *graph);
Status ExpandTypesIfNeeded(Graph *graph, const std::function<bool(const Node &)> &keeps);

using ExpandQuantizedFunction = decltype(&ExpandQuantized);
extern "C" const ExpandQuantizedFunction mslite_part_integers[1];
using ExpandTypesFunction = decltype(&ExpandTypes);
extern "C" const ExpandTypesFunction mslite_part_types[1];
}  // namespace mslite

#endif
