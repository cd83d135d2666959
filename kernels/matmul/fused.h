/* The activation that a kernel applies to its own result: a clamp while the result is in a register, other functions
 * to whole rows afterwards. For `_vector.c` files; portable kernels use convolution/fused.h. */
#ifndef MSLITE_MATMUL_FUSED_H
#define MSLITE_MATMUL_FUSED_H

#include "activation/functions.h"

/* Returns true for no activation and for those that only clamp. */
static inline __attribute__((unused)) bool fused_is_clamp(int32_t type) {
  return type == MSLITE_ACTIVATION_TYPE_NO_ACTIVATION || type == MSLITE_ACTIVATION_TYPE_RELU ||
         type == MSLITE_ACTIVATION_TYPE_RELU6 || type == MSLITE_ACTIVATION_TYPE_RELU1;
}

/* Returns the clamp's bounds, which have no effect for other activations. */
static inline __attribute__((unused)) float fused_low(int32_t type) {
  if (type == MSLITE_ACTIVATION_TYPE_RELU1) return -1.0f;
  return fused_is_clamp(type) && type != MSLITE_ACTIVATION_TYPE_NO_ACTIVATION ? 0.0f : -INFINITY;
}

static inline __attribute__((unused)) float fused_high(int32_t type) {
  if (type == MSLITE_ACTIVATION_TYPE_RELU1) return 1.0f;
  return type == MSLITE_ACTIVATION_TYPE_RELU6 ? 6.0f : INFINITY;
}

static __attribute__((noinline, unused)) void fused_row(int32_t type, simd_real *x, int64_t count) {
  mslite_activation_params numbers;
  activation_params_of(type, 0.0f, 0.0f, 0.0f, false, &numbers);
  activation_row(&numbers, x, x, count);
}

/* Applies an activation that is not a clamp, in place, to `rows` rows that are `step` elements apart. */
static inline __attribute__((unused)) void fused_rows(int32_t type, simd_real *x, int64_t step, int64_t rows,
                                                      int64_t columns) {
  if (fused_is_clamp(type)) return;
  if (step == columns) {
    columns *= rows;
    rows = 1;
  }
  for (int64_t r = 0; r < rows; ++r, x += step) fused_row(type, x, columns);
}

#endif
