// Replaces the contents of constants.
#ifndef MSLITE_PLAN_REWRITE_NEW_WEIGHTS_H
#define MSLITE_PLAN_REWRITE_NEW_WEIGHTS_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "model/graph.h"

namespace mslite {
// New contents, by the name of the constant. They have the constant's data type and shape after loading.
struct NewWeight {
  const void *data = nullptr;
  size_t size = 0;  // in bytes
  int32_t type = 0;
};
using NewWeights = std::map<std::string, NewWeight>;

// Must run before all other rewriting, which may derive constants from these. Errors: kLiteParamInvalid for an unknown
// name, or another data type or size; nothing is changed then.
MSLITE_INTERNAL_API Status SetNewWeights(const NewWeights &weights, Graph *graph);
}  // namespace mslite

#endif
