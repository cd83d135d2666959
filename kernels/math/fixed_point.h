/* Fixed-point rescaling of integers: TensorFlow Lite's reference arithmetic, to the bit. The only place in which a
 * quantized result is rounded. */
#ifndef MSLITE_FIXED_POINT_H
#define MSLITE_FIXED_POINT_H

#include <math.h>
#include <stdint.h>

#include "math/float_bits.h"

/* A positive real factor: value * 2^(shift - 31), value in [2^30, 2^31), or 0. */
typedef struct {
  int32_t value;
  int32_t shift;
} mslite_multiplier;

/* The multiplier nearest to `real` (0 <= real); factors below 2^-32 become 0. */
mslite_multiplier mslite_make_multiplier(double real);

/* A factor of results that round once, half to even, in float32, as onnxruntime's do: `value` holds the bits of the
 * float.
 */
enum { MSLITE_SHIFT_TO_EVEN = 127 };
mslite_multiplier mslite_make_even_multiplier(double real);

/* Results to even are cut to this magnitude, which no stored result reaches; adding the second number to such a float
 * leaves the nearest integer, the even one of two, in the lowest bits. */
#define MSLITE_EVEN_LIMIT 1048576.0f
#define MSLITE_EVEN_MAGIC 12582912.0f
enum { MSLITE_EVEN_BITS = 0x4b400000 }; /* of the second number */

/* `steps` as the nearest integer, the even one of two. */
static inline int32_t mslite_round_even(float steps) {
  const float cut = steps < -MSLITE_EVEN_LIMIT  ? -MSLITE_EVEN_LIMIT
                    : steps > MSLITE_EVEN_LIMIT ? MSLITE_EVEN_LIMIT
                                                : steps;
  return (int32_t)mslite_bits_of_float(cut + MSLITE_EVEN_MAGIC) - MSLITE_EVEN_BITS;
}

static inline int32_t mslite_rescale_even(int32_t value, int32_t factor_bits) {
  return mslite_round_even((float)value * mslite_float_of_bits((uint32_t)factor_bits));
}

/* `factor` / count, as the reference's means have it: the quotient is cut, not rounded. count > 0. */
mslite_multiplier mslite_divide_multiplier(mslite_multiplier factor, int64_t count);

/* 2 * a * b / 2^32, half up; -2^31 * -2^31 gives 2^31 - 1. (The reference adds 1 - 2^30 to a negative product and cuts
 * towards zero, which is the same.) */
static inline int32_t mslite_doubling_high_product(int32_t a, int32_t b) {
  if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
  return (int32_t)(((int64_t)a * b + ((int64_t)1 << 30)) >> 31);
}

/* value / 2^exponent, half away from zero; 0 <= exponent <= 31. */
static inline int32_t mslite_divide_by_power(int32_t value, int32_t exponent) {
  const int32_t mask = (int32_t)(((int64_t)1 << exponent) - 1);
  const int32_t remainder = value & mask;
  const int32_t threshold = (mask >> 1) + (value < 0);
  return (value >> exponent) + (remainder > threshold);
}

/* value * 2^left in 32 bits, as the machine wraps it. */
static inline int32_t mslite_shift_left(int32_t value, int32_t left) { return (int32_t)((uint32_t)value << left); }

/* value * factor, rounded twice: the product, then the shift. */
static inline int32_t mslite_rescale_twice(int32_t value, mslite_multiplier factor) {
  const int32_t left = factor.shift > 0 ? factor.shift : 0;
  const int32_t right = factor.shift > 0 ? 0 : -factor.shift;
  return mslite_divide_by_power(mslite_doubling_high_product(mslite_shift_left(value, left), factor.value), right);
}

/* The same, or once, for a factor to even. */
static inline int32_t mslite_rescale(int32_t value, mslite_multiplier factor) {
  if (factor.shift == MSLITE_SHIFT_TO_EVEN) return mslite_rescale_even(value, factor.value);
  return mslite_rescale_twice(value, factor);
}

/* The same for sums of 64 bits (int16 activations): |value| < 2^47, a multiplier of 16 bits, one rounding, half up. A
 * factor to even is as exact as ever. */
static inline int32_t mslite_rescale_wide(int64_t value, mslite_multiplier factor) {
  if (factor.shift == MSLITE_SHIFT_TO_EVEN)
    return mslite_round_even((float)value * mslite_float_of_bits((uint32_t)factor.value));
  const int64_t narrow = factor.value < 0x7FFF0000 ? (factor.value + (1 << 15)) >> 16 : 0x7FFF;
  const int32_t total = factor.shift < 15 ? 15 - factor.shift : 1; /* no larger factor has a meaning */
  return (int32_t)((value * narrow + ((int64_t)1 << (total - 1))) >> total);
}

/* sum * factor in float64, rounded half away from zero: what fully connected layers do. */
static inline int32_t mslite_rescale_real(int64_t sum, double factor) {
  const double steps = round((double)sum * factor);
  return steps > INT32_MAX ? INT32_MAX : steps < INT32_MIN ? INT32_MIN : (int32_t)steps;
}

/* `value` limited to [low, high]. */
static inline int32_t mslite_limit(int32_t value, int32_t low, int32_t high) {
  return value < low ? low : value > high ? high : value;
}

#endif
