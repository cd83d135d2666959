/* Quantizes floats to 8 bits with the scale and zero point of the values themselves. */
#include "quantization/dynamic_range.h"

#include <math.h>

/* The zero point is computed from the end of the range that gives the smaller error. */
static int32_t zero_of(double low, double high, double scale) {
  const double from_low = INT8_MIN - low / scale, from_high = INT8_MAX - high / scale;
  const double zero = round(fabs(low / scale) - INT8_MIN < fabs(high / scale) + INT8_MAX ? from_low : from_high);
  if (!(zero > INT8_MIN)) return INT8_MIN; /* an infinite scale gives NaN */
  return zero > INT8_MAX ? INT8_MAX : (int32_t)zero;
}

mslite_dynamic_range mslite_dynamic_range_of(float low, float high, bool symmetric) {
  mslite_dynamic_range range = {1.0F, 0.0F, 0, symmetric ? -INT8_MAX : INT8_MIN};
  if (low == high) return range; /* all are 0 */
  if (symmetric) {
    const float most = -low > high ? -low : high;
    range.scale = most / (float)INT8_MAX;
    range.steps = (float)INT8_MAX / most;
  } else {
    const double scale = ((double)high - (double)low) / (INT8_MAX - INT8_MIN);
    range.scale = (float)scale;
    range.steps = 1.0F / range.scale;
    range.zero = zero_of((double)low, (double)high, scale);
  }
  return range;
}

int32_t mslite_dynamic_integer(const mslite_dynamic_range *range, float v) {
  const float q = roundf((float)range->zero + v * range->steps);
  if (q != q) return range->zero;
  return q < (float)range->low ? range->low : q > (float)INT8_MAX ? INT8_MAX : (int32_t)q;
}

/* ONNX's DynamicQuantizeLinear: rounds half to even, and computes the zero point from the low end. */
static void round_to_even(float low, float high, const float *x, int64_t count, float *y) {
  const float scale = low == high ? 1.0F : (high - low) / 255.0F;
  const float nearest = rintf(-low / scale);
  const float zero = nearest > 255.0F ? 255.0F : nearest > 0.0F ? nearest : 0.0F;
  for (int64_t i = 0; i < count; ++i) {
    const float q = rintf(x[i] / scale) + zero;
    y[i] = scale * ((q < 0.0F ? 0.0F : q > 255.0F ? 255.0F : q) - zero);
  }
}

void mslite_fake_quantize(const float *x, int64_t count, int32_t rounding, float *y) {
  float low = 0.0F, high = 0.0F;
  for (int64_t i = 0; i < count; ++i) {
    low = x[i] < low ? x[i] : low;
    high = x[i] > high ? x[i] : high;
  }
  if (rounding == MSLITE_ROUNDS_TO_EVEN) {
    round_to_even(low, high, x, count, y);
    return;
  }
  const mslite_dynamic_range range = mslite_dynamic_range_of(low, high, rounding == MSLITE_ROUNDS_SYMMETRIC);
  for (int64_t i = 0; i < count; ++i) y[i] = range.scale * (float)(mslite_dynamic_integer(&range, x[i]) - range.zero);
}
