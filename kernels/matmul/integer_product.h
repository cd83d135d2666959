/* Shared by MatMulInteger and ConvInteger: 8-bit integers, signed or unsigned, whose zero points, and optionally the
 * scale of the result, are operands. Unsigned integers are converted to signed ones by subtracting 128, which flips
 * the highest bit. Their zero points are flipped, too, so that all differences stay the same. */
#ifndef MSLITE_MATMUL_INTEGER_PRODUCT_H
#define MSLITE_MATMUL_INTEGER_PRODUCT_H

#include <stdbool.h>

#include "kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The operands of both: a, b, zero points of a, of b, [scale, [bias, [row scale]]]. */
enum { MSLITE_A = 0, MSLITE_B, MSLITE_A_ZERO, MSLITE_B_ZERO, MSLITE_SCALE, MSLITE_BIAS, MSLITE_ROW_SCALE };

typedef struct {
  int64_t a_zeros, b_zeros; /* number of zero points */
  /* 0: the result is the integer sums; otherwise 1 or one per column, and the result is float32. */
  int64_t scales;
  int64_t a_rows; /* adjacent rows of a that share a zero point and a row scale */
  int32_t has_bias, has_row_scale;
  int32_t scales_apart;   /* (sum * scale) * row scale; otherwise sum * (scale * row scale) */
  uint8_t a_flip, b_flip; /* 128 if unsigned, otherwise 0: XOR converts the bytes to signed integers */
} mslite_integer_operands;

/* `support` of both operators. */
int32_t mslite_integer_matmul_support(const mslite_node *node);

/* Resolves the operands; all shapes are known, `columns` are those of the result. Returns MSLITE_ERROR_SHAPE if
 * scale or bias do not match. */
mslite_status mslite_integer_operands_of(const mslite_node *node, int64_t columns, mslite_integer_operands *operands);

/* Returns whether all zero points of b are known to be 0 after flipping. */
bool mslite_integer_b_is_symmetric(const mslite_node *node);

static inline int32_t mslite_flipped_at(const void *bytes, int64_t index, uint8_t flip) {
  return (int8_t)(((const uint8_t *)bytes)[index] ^ flip);
}

/* Returns the index of the zero point and scale for row `row` of a. */
static inline int64_t mslite_integer_row(const mslite_integer_operands *operands, int64_t row) {
  return operands->a_zeros > 1 ? row / operands->a_rows % operands->a_zeros : 0;
}

/* Stores column `n` of the result from its sum; `a_at` is mslite_integer_row. */
static inline void mslite_integer_store(const mslite_run *run, const mslite_integer_operands *operands, int32_t sum,
                                        int64_t a_at, int64_t n, int64_t at) {
  if (operands->scales == 0) {
    ((int32_t *)run->outputs[0])[at] = sum;
    return;
  }
  const float scale = ((const float *)run->inputs[MSLITE_SCALE])[operands->scales > 1 ? n : 0];
  const float row_scale = operands->has_row_scale != 0 ? ((const float *)run->inputs[MSLITE_ROW_SCALE])[a_at] : 1.0F;
  float real = operands->scales_apart != 0 ? (float)sum * scale * row_scale : (float)sum * (scale * row_scale);
  if (operands->has_bias != 0) real += ((const float *)run->inputs[MSLITE_BIAS])[n];
  ((float *)run->outputs[0])[at] = real;
}

#ifdef __cplusplus
}
#endif

#endif
