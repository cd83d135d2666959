// What a model needs of a runtime that was cropped for it.
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
  std::set<std::string> refusing;  // kernels that take no call of the model whose first operand is float32
};

struct ModelNeeds {
  std::map<int32_t, OperatorNeeds> operators;  // of the file, and of what loading makes of them, by number
  std::vector<std::string> parts;              // of the library that loading went through (model/parts.h)
};

/// Errors: those of loading; kLiteNotSupport for a model that runs kernels of the training library.
mindspore::Status NeedsOf(const std::string &path, ModelNeeds *needs);
}  // namespace mslite::codegen

#endif
