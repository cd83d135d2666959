// Calls the shape rules of kernels/shape, and checks what goes in and what comes out.
#ifndef MSLITE_PLAN_SHAPES_H
#define MSLITE_PLAN_SHAPES_H

#include <cstdint>
#include <string>
#include <vector>

#include "kernel.h"
#include "model/internal_api.h"

namespace mslite {

/// The largest tensor, counting a dimension of 0 as 1: 1 TiB, or 2 GiB where addresses have 32 bits. Shape rules and
/// kernels multiply and add sizes within it without looking for overflow.
constexpr int64_t kMaximumTensorBytes = sizeof(void *) < 8 ? INT32_MAX : int64_t{1} << 40;

/// The largest dimension that a file can hold.
constexpr int64_t kMaximumDimension = INT32_MAX;

/// A status with its reason; an empty message for MSLITE_OK.
struct Outcome {
  mslite_status status = MSLITE_OK;
  std::string message;

  bool ok() const { return status == MSLITE_OK; }
};

/// What a status code says.
const char *StatusText(mslite_status status);

/// A tensor of which nothing is known.
MSLITE_INTERNAL_API mslite_tensor UnknownTensor();

/// Fills `known` from `data` for an integer or boolean tensor of at most MSLITE_MAX_KNOWN entries.
MSLITE_INTERNAL_API void FillKnown(mslite_tensor *tensor);

/// Whether there is a shape rule for an operator.
MSLITE_INTERNAL_API bool HasShapeRule(int32_t op);

/// Infers `outputs` (its size is the number of outputs) from `inputs`. `next_symbol` counts down. The message of a
/// failure names the operator and its inputs, not the node. Inputs and outputs beyond kMaximumTensorBytes or
/// kMaximumDimension are refused with MSLITE_ERROR_SHAPE.
MSLITE_INTERNAL_API Outcome InferShapes(int32_t op, const void *params,
                                        const std::vector<const mslite_tensor *> &inputs,
                                        std::vector<mslite_tensor> *outputs, int64_t *next_symbol);

}  // namespace mslite

#endif
