// Rewrites calls on quantized integers to calls that float kernels support.
#ifndef MSLITE_PLAN_REWRITE_EXPAND_QUANTIZED_H
#define MSLITE_PLAN_REWRITE_EXPAND_QUANTIZED_H

#include "model/graph.h"

namespace mslite {
/// Rewrites every call that computes on quantized integers and has no integer kernel. Its constants become float32, a
/// QuantDTypeCast before it dequantizes each other input (shared by all readers of a tensor), and one after it
/// quantizes each result. Results differ from integer arithmetic by at most one quantization step. Calls that only move
/// values do not change if all their tensors have the same quantization parameters.
///
/// The scale of DynamicQuant's output is known only at run time, so other readers get the dequantized values.
///
/// A call that cannot be rewritten is not changed; QuantizedProblem returns the reason. Errors: kLiteGraphFileError,
/// with node and reason, for constants with invalid quantization parameters; kLiteMemoryFailed.
Status ExpandQuantized(Graph *graph);
}  // namespace mslite

#endif
