/* What MatMulInteger and ConvInteger have in common: integers of 8 bits, signed or unsigned, whose zero points, and
 * perhaps the scale of the result, are operands. Unsigned integers are computed with as the signed ones 128 below
 * them: a byte with its highest bit flipped. Zero points flip with their integers, so that all differences stay. */
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
  int64_t a_zeros, b_zeros; /* how many there are */
  int64_t scales;           /* 0: the result is the sums; otherwise 1 or one per column, and the result is float32 */
  int64_t a_rows;           /* neighboring rows of a share a zero point and a row scale */
  int32_t has_bias, has_row_scale;
  int32_t scales_apart;   /* (sum * scale) * row scale, else sum * (scale * row scale) */
  uint8_t a_flip, b_flip; /* 128 where unsigned, else 0: exclusive or makes signed integers of the bytes */
} mslite_integer_operands;

/* `support` of both operators. */
int32_t mslite_integer_product_support(const mslite_node *node);

/* All shapes are known; `columns` of the result. MSLITE_ERROR_SHAPE when scale or bias do not fit them. */
mslite_status mslite_integer_operands_of(const mslite_node *node, int64_t columns, mslite_integer_operands *operands);

/* True when every zero point of b is known to be nothing, after flipping. */
bool mslite_integer_b_is_symmetric(const mslite_node *node);

static inline int32_t mslite_flipped_at(const void *bytes, int64_t index, uint8_t flip) {
  return (int8_t)(((const uint8_t *)bytes)[index] ^ flip);
}

/* Where the zero point and the scale of row `row` of a stand. */
static inline int64_t mslite_integer_row(const mslite_integer_operands *operands, int64_t row) {
  return operands->a_zeros > 1 ? row / operands->a_rows % operands->a_zeros : 0;
}

/* Column `n` of the result from its sum; `a_at` is mslite_integer_row. */
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
