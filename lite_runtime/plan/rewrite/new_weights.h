// Constants of a file that get other contents.
#ifndef MSLITE_PLAN_REWRITE_NEW_WEIGHTS_H
#define MSLITE_PLAN_REWRITE_NEW_WEIGHTS_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "model/graph.h"

namespace mslite {
// By the name of the constant; the contents have the type and shape that it has when it is loaded.
struct NewWeight {
  const void *data = nullptr;
  size_t size = 0;  // in bytes
  int32_t type = 0;
};
using NewWeights = std::map<std::string, NewWeight>;

// Before any rewriting, so that what is made of constants is made of these. Errors: kLiteParamInvalid for a name that
// is no constant's of the file, another type or size; nothing is changed then.
MSLITE_INTERNAL_API Status SetNewWeights(const NewWeights &weights, Graph *graph);
}  // namespace mslite

#endif
