// What MindSpore Lite's kernels read otherwise than its tables say.
#ifndef MSLITE_MODEL_UPGRADE_MEANINGS_H
#define MSLITE_MODEL_UPGRADE_MEANINGS_H

#include "model/graph.h"

namespace mslite {
// Up to 1.5 TopKFusion looks along the last dimension, whatever the file says.
void ReadTopK(Graph *graph);

// Up to 1.3, four sizes or scales of Resize stand in the order of the layout that the file states of them.
void ReadResizeOperands(Graph *graph);
}  // namespace mslite

#endif
