// Checks the input sizes that a model was converted for.
#ifndef MSLITE_API_INPUT_SIZES_H
#define MSLITE_API_INPUT_SIZES_H

#include <vector>

#include "exec/session.h"
#include "include/api/status.h"
#include "model/graph.h"

namespace mslite {
// Checks that inputs, in the order of the model, have the sizes that are fixed in the file, and that dimensions with a
// shared size are equal. Errors: `code`, with the names of the inputs and both shapes.
Status CheckInputSizes(const Graph &graph, const std::vector<InputView> &inputs, mindspore::StatusCode code);

// Returns true if the first dimension of an input is fixed, so that requests cannot be batched.
bool FixesRows(const Graph &graph);
}  // namespace mslite

#endif
