// Rewrites nodes whose attributes MindSpore Lite's kernels read differently from its schema.
#ifndef MSLITE_MODEL_UPGRADE_ATTRIBUTE_SEMANTICS_H
#define MSLITE_MODEL_UPGRADE_ATTRIBUTE_SEMANTICS_H

#include "model/graph.h"

namespace mslite {
// Up to 1.5, TopKFusion uses the last dimension, whatever the axis in the file is.
void ReadTopK(Graph *graph);

// Up to 1.3, four sizes or scales of Resize are in the order of the layout that the file gives for them.
void ReadResizeOperands(Graph *graph);

// The kernel for NEAREST does not round: with ASYMMETRIC it uses the previous pixel. 2.x writes ROUND_HALF_DOWN there.
void ReadNearest(Graph *graph);

// Expands a constant bias of one element, which 2.x writes for Gemm, to one element per column.
void ReadScalarBias(Graph *graph);

// Since 2.0, sizes of Split and axes of Squeeze may be a constant input, which has priority over the attribute.
void ReadListOperands(Graph *graph);
}  // namespace mslite

#endif
