// Convolutions whose result is only added to another tensor: candidates for one call that computes the sum.
#ifndef MSLITE_PLAN_REWRITE_RESIDUAL_SUMS_H
#define MSLITE_PLAN_REWRITE_RESIDUAL_SUMS_H

#include "model/graph.h"

namespace mslite {
/// Gives every subgraph its fusions: Conv2DFusion and the AddFusion that alone reads it, as Conv2DAddFusion, which
/// adds while the result is still in registers. It bears the convolution's name.
///
/// The convolution has float32 weights, one group and no activation; neither node is quantized. A sum of two such
/// convolutions has two fusions, the first operand's first: a plan runs one of them. Whether the other operand has the
/// result's shape, and is not broadcast, only a plan knows. Errors: kLiteMemoryFailed.
Status FindResidualSums(Graph *graph);
}  // namespace mslite

#endif
