// Finds convolutions followed by a residual add: candidates for one fused call.
#ifndef MSLITE_PLAN_REWRITE_RESIDUAL_ADDS_H
#define MSLITE_PLAN_REWRITE_RESIDUAL_ADDS_H

#include "model/graph.h"

namespace mslite {
/// Finds the fusions of every subgraph: Conv2DFusion and the AddFusion that is its only reader, as one Conv2DAddFusion,
/// which adds while the result is still in registers. It has the convolution's name.
///
/// The convolution has float32 weights, one group and no activation; neither node is quantized. A sum of two such
/// convolutions has two fusions, the first operand's first; a plan runs one of them. Whether the other operand has the
/// result's shape and is not broadcast is checked in the plan. Errors: kLiteMemoryFailed.
Status FindResidualAdds(Graph *graph);
}  // namespace mslite

#endif
