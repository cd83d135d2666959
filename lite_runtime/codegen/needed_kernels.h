// Finds the kernels and other parts of the runtime that a model needs, for cropping.
#ifndef MSLITE_CODEGEN_NEEDED_KERNELS_H
#define MSLITE_CODEGEN_NEEDED_KERNELS_H

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "include/api/status.h"

namespace mslite::codegen {
struct OperatorNeeds {
  int32_t kinds = 0;               // sum of MSLITE_KIND_...
  std::set<std::string> refusing;  // kernels that support no call of the model with a float32 first input
};

struct ModelNeeds {
  std::map<int32_t, OperatorNeeds> operators;  // operators of the file, and those after rewriting, by number
  std::vector<std::string> parts;              // parts of the library that loading uses (model/parts.h)
};

/// Finds what the model file `path` needs. Errors: those of loading; kLiteNotSupport for a model that needs kernels of
/// the training library.
mindspore::Status NeedsOf(const std::string &path, ModelNeeds *needs);
}  // namespace mslite::codegen

#endif
