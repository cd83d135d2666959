/* The functions of recurrent gates on 16-bit fixed-point numbers, bit-identical to gemmlowp, which TensorFlow Lite's
 * reference kernels use. Qm.n is an int16 with the real value raw / 2^n; m + n = 15. */
#ifndef MSLITE_FIXED_GATES_H
#define MSLITE_FIXED_GATES_H

#include "math/fixed_point.h"

/* Returns value * factor as LiteRT's matrix library ruy computes it: rounded twice like `mslite_rescale`, but half
 * up both times. -31 <= factor.shift <= 30. */
static inline int32_t mslite_rescale_up(int32_t value, mslite_multiplier factor) {
  const int32_t left = factor.shift > 0 ? factor.shift : 0, right = factor.shift > 0 ? 0 : -factor.shift;
  const int32_t product = mslite_doubling_high_product(mslite_shift_left(value, left), factor.value);
  return right == 0 ? product : (int32_t)(((int64_t)product + ((int64_t)1 << (right - 1))) >> right);
}

/* Returns 1 / (1 + exp(-a)) in Q0.15 for a in Q3.12. */
int16_t mslite_fixed_sigmoid(int16_t a);

/* Returns tanh(a) in Q0.15 for a with `digits` integer digits, 0 to 6. */
int16_t mslite_fixed_tanh(int16_t a, int32_t digits);

/* Returns a * b / 2^15, rounded half away from zero; -1 * -1 in Q0.15 saturates. */
int16_t mslite_fixed_product(int16_t a, int16_t b);

/* Returns value * 2^exponent, saturated to 16 bits; exponent >= 0. */
int16_t mslite_fixed_scaled(int16_t value, int32_t exponent);

#endif
