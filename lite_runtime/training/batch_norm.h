// Batch normalization in training.
#ifndef MSLITE_TRAINING_BATCH_NORM_H
#define MSLITE_TRAINING_BATCH_NORM_H

#include <map>

#include "model/graph.h"

namespace mslite {
// Replaces a FusedBatchNorm with its five results by a BatchNormTraining, which normalizes by the statistics of the
// batch. Results 1 and 2, which are copies of scale and offset, become the new running statistics; readers of the
// copies then read scale and offset. `latest` maps running statistics to their newest values: nodes that share
// statistics update them one after the other.
void TrainBatchNorm(int32_t node, std::map<int32_t, int32_t> *latest, Graph *graph);

// As TrainBatchNorm, for a node whose results 1 and 2 are not read.
void RepeatBatchNorm(int32_t node, Graph *graph);

// Makes BatchNormGrad of files up to 1.3, which do not say which statistics it uses, use those of the batch.
void UseBatchStatistics(Graph *graph);
}  // namespace mslite

#endif
