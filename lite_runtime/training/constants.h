// What a training graph says of its constants in its own way.
#ifndef MSLITE_TRAINING_CONSTANTS_H
#define MSLITE_TRAINING_CONSTANTS_H

#include "model/graph.h"

namespace mslite {
// The converter writes a large constant of one repeated number as a Fill node: here it is a constant again, which an
// optimiser can change. Errors: kLiteMemoryFailed; kLiteGraphFileError for a shape that is none.
Status SettleFilled(Graph *graph);
}  // namespace mslite

#endif
