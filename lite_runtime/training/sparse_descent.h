// Tables of which rows are taken, changed in those rows alone.
#ifndef MSLITE_TRAINING_SPARSE_DESCENT_H
#define MSLITE_TRAINING_SPARSE_DESCENT_H

#include <set>
#include <string>

#include "training/training_graph.h"

namespace mslite {
// Whether the file asks for it: an optimizer's name says so, as the converter names it.
bool AsksForSparseDescent(const TrainingGraph &training);

// Each SGD without momentum and decay whose gradient is nothing but a sum of rows becomes one step on these rows: the
// same bits, without a gradient of the table's size. Gradients that are outputs stay. Returns the variables that have
// to stay 0 for that: the momenta.
std::set<std::string> DescendSparsely(TrainingGraph *training);
}  // namespace mslite

#endif
