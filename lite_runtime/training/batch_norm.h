// Batch normalization as training computes it.
#ifndef MSLITE_TRAINING_BATCH_NORM_H
#define MSLITE_TRAINING_BATCH_NORM_H

#include <map>

#include "model/graph.h"

namespace mslite {
// A FusedBatchNorm with its five results becomes a BatchNormTraining, which normalizes by the statistics of the batch.
// Results 1 and 2, copies of scale and offset, make room for the new running statistics; those who read the copies read
// scale and offset. `latest`: running statistics, and what they are by now: nodes that share them move them one behind
// the other.
void TrainBatchNorm(int32_t node, std::map<int32_t, int32_t> *latest, Graph *graph);

// The same for a node whose results 1 and 2 nobody reads.
void RepeatBatchNorm(int32_t node, Graph *graph);

// Files up to 1.3 do not say by which statistics BatchNormGrad goes: by those of the batch.
void UseBatchStatistics(Graph *graph);
}  // namespace mslite

#endif
