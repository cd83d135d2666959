// What MindSpore Lite's kernels read differently from its tables say.
#ifndef MSLITE_MODEL_UPGRADE_MEANINGS_H
#define MSLITE_MODEL_UPGRADE_MEANINGS_H

#include "model/graph.h"

namespace mslite {
// Up to 1.5 TopKFusion looks along the last dimension, whatever the file says.
void ReadTopK(Graph *graph);

// Up to 1.3, four sizes or scales of Resize stand in the order of the layout that the file states of them.
void ReadResizeOperands(Graph *graph);

// The kernel for NEAREST knows no rounding: with ASYMMETRIC it takes the pixel before. 2.x writes ROUND_HALF_DOWN
// there.
void ReadNearest(Graph *graph);

// A constant bias of one number, which 2.x writes for Gemm, is one for each column.
void ReadScalarBias(Graph *graph);

// Since 2.0, sizes of Split and axes of Squeeze may be a constant operand, which counts more than the attribute.
void ReadListOperands(Graph *graph);
}  // namespace mslite

#endif
