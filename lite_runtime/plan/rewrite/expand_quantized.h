// Calls on quantized integers, rewritten to calls that kernels for float values run.
#ifndef MSLITE_PLAN_REWRITE_EXPAND_QUANTIZED_H
#define MSLITE_PLAN_REWRITE_EXPAND_QUANTIZED_H

#include "model/graph.h"

namespace mslite {
/// Rewrites every call that computes on quantized integers and has no kernel of its own: its constants become float32,
/// a QuantDTypeCast before it makes float32 of each of its other operands (one for all that read a value), and one
/// behind it rounds each result to the integers of its records. So the numbers are those of integer arithmetic to
/// within a step. Calls that only move values stay as they are where all that they move has the same records.
///
/// The output of DynamicQuant has records only when it runs: its readers get the rounded float values.
///
/// A call that cannot be rewritten stays; QuantizedProblem says why. Errors: kLiteGraphFileError with node and reason
/// for constants whose records do not fit them, kLiteMemoryFailed.
Status ExpandQuantized(Graph *graph);
}  // namespace mslite

#endif
