/* Quantizes floats to 8 bits with the scale and zero point of the values themselves. In float32, in TensorFlow
 * Lite's order, with the same bits:
 *   symmetric    range = max|x|, scale = range / 127, q = nearest(x * (127 / range))
 *   otherwise    [low, high] contains the values and 0, scale = (high - low) / 255, zero point = nearest(-128 - low
 * / scale) or nearest(127 - high / scale), whichever is nearer to its end, q = nearest(zero point + x / scale)
 * nearest rounds half away from zero. */
#ifndef MSLITE_DYNAMIC_RANGE_H
#define MSLITE_DYNAMIC_RANGE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  float scale, steps; /* steps: per unit of x */
  int32_t zero, low;
} mslite_dynamic_range;

/* Returns the range for values between `low` <= 0 and `high` >= 0. */
mslite_dynamic_range mslite_dynamic_range_of(float low, float high, bool symmetric);

int32_t mslite_dynamic_integer(const mslite_dynamic_range *range, float v);

/* How recurrent layers quantize the values that weights multiply: their attribute `rounding`. */
enum { MSLITE_ROUNDS_NOT, MSLITE_ROUNDS_SYMMETRIC, MSLITE_ROUNDS_ASYMMETRIC, MSLITE_ROUNDS_TO_EVEN };

/* Quantizes and dequantizes a vector of `count` values. */
void mslite_fake_quantize(const float *x, int64_t count, int32_t rounding, float *y);

#endif
