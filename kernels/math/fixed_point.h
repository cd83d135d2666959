/* Fixed-point rescaling of integers, bit-identical to TensorFlow Lite's reference. All quantized results are rounded
 * here. */
#ifndef MSLITE_FIXED_POINT_H
#define MSLITE_FIXED_POINT_H

#include <math.h>
#include <stdint.h>

#include "math/float_bits.h"

/* A positive real factor: value * 2^(shift - 31), with value in [2^30, 2^31), or 0. */
typedef struct {
  int32_t value;
  int32_t shift;
} mslite_multiplier;

/* Returns the multiplier nearest to `real` (0 <= real); factors below 2^-32 become 0. */
mslite_multiplier mslite_make_multiplier(double real);

/* The factor of results that are rounded once, half to even, in float32, as in onnxruntime: `value` contains the
 * bits of the float. */
enum { MSLITE_SHIFT_TO_EVEN = 127 };
mslite_multiplier mslite_make_even_multiplier(double real);

/* Results that round half to even are clamped to this magnitude, which is beyond the range of quantized results.
 * Adding MSLITE_EVEN_MAGIC to such a float leaves the rounded integer in the lowest bits. */
#define MSLITE_EVEN_LIMIT 1048576.0f
#define MSLITE_EVEN_MAGIC 12582912.0f
enum { MSLITE_EVEN_BITS = 0x4b400000 }; /* the bits of MSLITE_EVEN_MAGIC */

/* Rounds `steps` to the nearest integer, half to even. */
static inline int32_t mslite_round_even(float steps) {
  const float cut = steps < -MSLITE_EVEN_LIMIT  ? -MSLITE_EVEN_LIMIT
                    : steps > MSLITE_EVEN_LIMIT ? MSLITE_EVEN_LIMIT
                                                : steps;
  return (int32_t)mslite_bits_of_float(cut + MSLITE_EVEN_MAGIC) - MSLITE_EVEN_BITS;
}

static inline int32_t mslite_rescale_even(int32_t value, int32_t factor_bits) {
  return mslite_round_even((float)value * mslite_float_of_bits((uint32_t)factor_bits));
}

/* Returns `factor` / count as the reference's averages compute it: the quotient is truncated. count > 0. */
mslite_multiplier mslite_divide_multiplier(mslite_multiplier factor, int64_t count);

/* Returns 2 * a * b / 2^32, rounded half up; -2^31 * -2^31 gives 2^31 - 1. (The reference adds 1 - 2^30 to a
 * negative product and truncates, which is the same.) */
static inline int32_t mslite_doubling_high_product(int32_t a, int32_t b) {
  if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
  return (int32_t)(((int64_t)a * b + ((int64_t)1 << 30)) >> 31);
}

/* Returns value / 2^exponent, rounded half away from zero; 0 <= exponent <= 31. */
static inline int32_t mslite_divide_by_power(int32_t value, int32_t exponent) {
  const int32_t mask = (int32_t)(((int64_t)1 << exponent) - 1);
  const int32_t remainder = value & mask;
  const int32_t threshold = (mask >> 1) + (value < 0);
  return (value >> exponent) + (remainder > threshold);
}

/* Returns value * 2^left with 32-bit wraparound. */
static inline int32_t mslite_shift_left(int32_t value, int32_t left) { return (int32_t)((uint32_t)value << left); }

/* Returns value * factor, rounded twice: after the multiplication and after the shift. */
static inline int32_t mslite_rescale_twice(int32_t value, mslite_multiplier factor) {
  const int32_t left = factor.shift > 0 ? factor.shift : 0;
  const int32_t right = factor.shift > 0 ? 0 : -factor.shift;
  return mslite_divide_by_power(mslite_doubling_high_product(mslite_shift_left(value, left), factor.value), right);
}

/* As mslite_rescale_twice, or rounded once if the factor is to round half to even. */
static inline int32_t mslite_rescale(int32_t value, mslite_multiplier factor) {
  if (factor.shift == MSLITE_SHIFT_TO_EVEN) return mslite_rescale_even(value, factor.value);
  return mslite_rescale_twice(value, factor);
}

/* As mslite_rescale, for 64-bit sums (int16 activations): |value| < 2^47, a 16-bit multiplier, rounded once, half
 * up. Factors that round half to even are as precise as in mslite_rescale. */
static inline int32_t mslite_rescale_wide(int64_t value, mslite_multiplier factor) {
  if (factor.shift == MSLITE_SHIFT_TO_EVEN)
    return mslite_round_even((float)value * mslite_float_of_bits((uint32_t)factor.value));
  const int64_t narrow = factor.value < 0x7FFF0000 ? (factor.value + (1 << 15)) >> 16 : 0x7FFF;
  const int32_t total = factor.shift < 15 ? 15 - factor.shift : 1; /* larger factors are not used */
  return (int32_t)((value * narrow + ((int64_t)1 << (total - 1))) >> total);
}

/* Returns sum * factor in float64, rounded half away from zero, as for fully connected layers. */
static inline int32_t mslite_rescale_real(int64_t sum, double factor) {
  const double steps = round((double)sum * factor);
  return steps > INT32_MAX ? INT32_MAX : steps < INT32_MIN ? INT32_MIN : (int32_t)steps;
}

/* Clamps `value` to [low, high]. */
static inline int32_t mslite_clamp(int32_t value, int32_t low, int32_t high) {
  return value < low ? low : value > high ? high : value;
}

#endif
