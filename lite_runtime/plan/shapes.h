// Calls the shape rules of kernels/shape, and checks their inputs and outputs.
#ifndef MSLITE_PLAN_SHAPES_H
#define MSLITE_PLAN_SHAPES_H

#include <cstdint>
#include <string>
#include <vector>

#include "kernel.h"
#include "model/internal_api.h"

namespace mslite {

/// The largest tensor in bytes, with dimensions of 0 counted as 1: 1 TiB, or 2 GiB with 32-bit addresses. Within it,
/// shape rules and kernels multiply and add sizes without overflow checks.
constexpr int64_t kMaximumTensorBytes = sizeof(void *) < 8 ? INT32_MAX : int64_t{1} << 40;

/// The largest dimension that a file can have.
constexpr int64_t kMaximumDimension = INT32_MAX;

/// A status and its reason. The message is empty for MSLITE_OK.
struct Outcome {
  mslite_status status = MSLITE_OK;
  std::string message;

  bool ok() const { return status == MSLITE_OK; }
};

/// Returns the text of a status code.
const char *StatusText(mslite_status status);

/// Returns a tensor whose data type, shape and contents are unknown.
MSLITE_INTERNAL_API mslite_tensor UnknownTensor();

/// Fills `known` from `data` if the tensor is integer or boolean and has at most MSLITE_MAX_KNOWN elements.
MSLITE_INTERNAL_API void FillKnown(mslite_tensor *tensor);

/// Returns whether there is a shape rule for an operator.
MSLITE_INTERNAL_API bool HasShapeRule(int32_t op);

/// Infers `outputs`, whose size is the number of outputs, from `inputs`. `next_symbol` counts down. Error messages name
/// the operator and its inputs, not the node. Inputs and outputs beyond kMaximumTensorBytes or kMaximumDimension give
/// MSLITE_ERROR_SHAPE.
MSLITE_INTERNAL_API Outcome InferShapes(int32_t op, const void *params,
                                        const std::vector<const mslite_tensor *> &inputs,
                                        std::vector<mslite_tensor> *outputs, int64_t *next_symbol);

}  // namespace mslite

#endif
