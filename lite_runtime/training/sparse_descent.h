// Updates only those rows of embedding tables that a step has read.
#ifndef MSLITE_TRAINING_SPARSE_DESCENT_H
#define MSLITE_TRAINING_SPARSE_DESCENT_H

#include <set>
#include <string>

#include "training/training_graph.h"

namespace mslite {
// Returns whether the file enables this, by the names that the converter gives optimizers.
bool HasSparseUpdates(const TrainingGraph &training);

// Replaces each SGD without momentum and weight decay whose gradient is only a sum of rows by an update of these rows.
// The result is bit-identical, without a gradient of the table's size. Not for gradients that are outputs. Returns the
// momentum variables, which must stay 0.
std::set<std::string> UseSparseUpdates(TrainingGraph *training);
}  // namespace mslite

#endif
