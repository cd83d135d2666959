// Sizes of inputs that a model was converted for.
#ifndef MSLITE_API_INPUT_SIZES_H
#define MSLITE_API_INPUT_SIZES_H

#include <vector>

#include "exec/session.h"
#include "include/api/status.h"
#include "model/graph.h"

namespace mslite {
// Whether inputs, in the order of the model, have the sizes that the file fixes, and equal ones where it shares a size.
// Errors: `code`, with the names of the inputs and both shapes.
Status CheckInputSizes(const Graph &graph, const std::vector<InputView> &inputs, mindspore::StatusCode code);

// Whether the first size of an input is fixed, so that rows of several requests cannot be one run.
bool FixesRows(const Graph &graph);
}  // namespace mslite

#endif
