/* Functions of float32 vectors, based on simd/simd.h. Without library calls and tables, the same source is compiled
 * for scalar code and all vector instruction sets, with errors within 2.5 ulp (also in scalar code without fused
 * multiply-add). Polynomials are minimax fits (Lawson's weighting) on the given interval. NaN stays NaN. */
#ifndef MSLITE_SIMD_MATH_H
#define MSLITE_SIMD_MATH_H

#include <math.h>

#include "simd/simd.h"

#if SIMD_WIDTH == 1
SIMD_INLINE simd_f32 math_sqrt(simd_f32 x) { return sqrtf(x); }
SIMD_INLINE simd_f32 math_floor(simd_f32 x) { return floorf(x); }
SIMD_INLINE simd_f32 math_ceil(simd_f32 x) { return ceilf(x); }
SIMD_INLINE simd_f32 math_round(simd_f32 x) { return rintf(x); }
SIMD_INLINE simd_i32 math_to_exponent(simd_i32 x) { return (int32_t)((uint32_t)x << 23); }
#else
#define MATH_BY_LANE(name, function)                            \
  SIMD_INLINE simd_f32 name(simd_f32 x) {                       \
    for (int i = 0; i < SIMD_WIDTH; ++i) x[i] = function(x[i]); \
    return x;                                                   \
  }
MATH_BY_LANE(math_sqrt, __builtin_sqrtf)
MATH_BY_LANE(math_floor, __builtin_floorf)
MATH_BY_LANE(math_ceil, __builtin_ceilf)
MATH_BY_LANE(math_round, __builtin_rintf) /* half to even */
#undef MATH_BY_LANE
SIMD_INLINE simd_i32 math_to_exponent(simd_i32 x) { return x << 23; }
#endif

SIMD_INLINE simd_f32 math_abs(simd_f32 x) { return simd_as_f32(simd_as_i32(x) & simd_set_i32(0x7fffffff)); }

/* Returns the magnitude of `x` with the sign of `sign`. */
SIMD_INLINE simd_f32 math_copysign(simd_f32 x, simd_f32 sign) {
  const simd_i32 bit = simd_set_i32(INT32_MIN);
  return simd_as_f32((simd_as_i32(x) & ~bit) | (simd_as_i32(sign) & bit));
}

/* Maximum and minimum; NaN if either operand is NaN. */
SIMD_INLINE simd_f32 math_max(simd_f32 a, simd_f32 b) {
  return simd_select(simd_equal(a, a), simd_select(simd_less(b, a), a, b), a);
}
SIMD_INLINE simd_f32 math_min(simd_f32 a, simd_f32 b) {
  return simd_select(simd_equal(a, a), simd_select(simd_less(a, b), a, b), a);
}

/* Clamps x to [low, high]; NaN stays NaN. */
SIMD_INLINE simd_f32 math_clamp(simd_f32 x, simd_f32 low, simd_f32 high) { return simd_min(simd_max(x, low), high); }

/* Reduces x to n ln2 + r with |r| <= ln2 / 2. Returns exp(r) - 1 in *rest, and 2^n as the product of *low and *high,
 * so that subnormal and overflowing results are correct. */
SIMD_INLINE void math_exp_parts(simd_f32 x, simd_f32 *rest, simd_f32 *low, simd_f32 *high) {
  /* Adding 1.5 * 2^23 rounds to an integer; 254 more leaves n + 254, twice the exponent bias, in the lowest bits. */
  const simd_f32 magic = simd_set(12582912.0F + 254.0F);
  const simd_f32 shifted = simd_fma(x, simd_set(1.44269504F), magic);
  const simd_f32 n = shifted - magic;
  /* ln2 in two parts; n times the first one is exact. */
  const simd_f32 r = simd_fma(n, simd_set(2.12194440e-4F), simd_fma(n, simd_set(-0.693359375F), x));
  /* (exp(r) - 1 - r) / r^2 on |r| <= 0.35 */
  simd_f32 p = simd_set(0.000197892616F);
  p = simd_fma(p, r, simd_set(0.00139457523F));
  p = simd_fma(p, r, simd_set(0.0083335042F));
  p = simd_fma(p, r, simd_set(0.0416662805F));
  p = simd_fma(p, r, simd_set(0.166666657F));
  p = simd_fma(p, r, simd_set(0.5F));
  *rest = simd_fma(p, r * r, r);
  /* The biased exponents n / 2 and n - n / 2; the bits above them are shifted out. */
  const simd_i32 both = simd_as_i32(shifted), half = both >> 1;
  *low = simd_as_f32(math_to_exponent(half));
  *high = simd_as_f32(math_to_exponent(both - half));
}

/* Returns exp(x) for x in [-104, 89]: 0 at the lower end, infinity at the upper. */
SIMD_INLINE simd_f32 math_exp_inside(simd_f32 x) {
  simd_f32 rest, low, high;
  math_exp_parts(x, &rest, &low, &high);
  return (rest + simd_set(1.0F)) * low * high;
}

SIMD_INLINE simd_f32 math_exp(simd_f32 x) { return math_exp_inside(math_clamp(x, simd_set(-104.0F), simd_set(89.0F))); }

/* exp(-|x|) */
SIMD_INLINE simd_f32 math_exp_negative(simd_f32 x) {
  const simd_f32 negative = simd_as_f32(simd_as_i32(x) | simd_set_i32(INT32_MIN));
  return math_exp_inside(simd_max(negative, simd_set(-104.0F)));
}

/* Returns exp(x) - 1 without cancellation near 0. */
SIMD_INLINE simd_f32 math_expm1(simd_f32 x) {
  simd_f32 rest, low, high;
  math_exp_parts(math_clamp(x, simd_set(-40.0F), simd_set(89.0F)), &rest, &low, &high);
  const simd_f32 small = simd_fma(rest, low * high, low * high - simd_set(1.0F));
  /* 2^128 overflows, but 2^128 * 0.9 does not. */
  return simd_select(simd_less(x, simd_set(88.0F)), small, (rest + simd_set(1.0F)) * low * high);
}

SIMD_INLINE simd_f32 math_log(simd_f32 x) {
  /* The value of a subnormal number is its bits times 2^-149; Armv7 vectors would treat it as zero. */
  const simd_i32 tiny = simd_less(x, simd_set(1.17549435e-38F));
  const simd_f32 scaled = simd_select(tiny, simd_from_i32(simd_as_i32(math_abs(x))), x);
  /* m = scaled / 2^n is in [sqrt(1/2), sqrt(2)) */
  const simd_i32 bits = simd_as_i32(math_abs(scaled)); /* negative numbers are handled below */
  const simd_i32 negative = simd_as_i32(x) >> 31;
  const simd_i32 exponent = (bits - simd_set_i32(0x3f3504f3)) >> 23;
  const simd_f32 f = simd_as_f32(bits - math_to_exponent(exponent)) - simd_set(1.0F);
  const simd_f32 n = simd_from_i32(exponent - (simd_set_i32(149) & tiny));
  /* (log(1 + f) - f + f^2 / 2) / f^3 on [sqrt(1/2) - 1, sqrt(2) - 1] */
  simd_f32 p = simd_set(0.0691514686F);
  p = simd_fma(p, f, simd_set(-0.117896959F));
  p = simd_fma(p, f, simd_set(0.118730165F));
  p = simd_fma(p, f, simd_set(-0.1238437F));
  p = simd_fma(p, f, simd_set(0.142186552F));
  p = simd_fma(p, f, simd_set(-0.166692495F));
  p = simd_fma(p, f, simd_set(0.200022265F));
  p = simd_fma(p, f, simd_set(-0.249999866F));
  p = simd_fma(p, f, simd_set(0.333333105F));
  const simd_f32 square = f * f;
  p = simd_fma(p * f, square, n * simd_set(-2.12194440e-4F));
  p = simd_fma(square, simd_set(-0.5F), p);
  simd_f32 y = simd_fma(n, simd_set(0.693359375F), p + f);
  const simd_f32 infinity = simd_set(INFINITY);
  y = simd_select(simd_equal(x, infinity), infinity, y);
  y = simd_select(negative, simd_set(NAN), y);
  y = simd_select(simd_equal(scaled, simd_set(0.0F)), -infinity, y);
  return simd_select(simd_equal(x, x), y, x);
}

SIMD_INLINE simd_f32 math_tanh(simd_f32 x) {
  const simd_f32 a = math_abs(x), z = x * x;
  /* (tanh(x) - x) / x^3 on |x| <= 0.625 */
  simd_f32 p = simd_set(-0.0057170447F);
  p = simd_fma(p, z, simd_set(0.0206505861F));
  p = simd_fma(p, z, simd_set(-0.0537434965F));
  p = simd_fma(p, z, simd_set(0.133314908F));
  p = simd_fma(p, z, simd_set(-0.333332837F));
  const simd_f32 small = simd_fma(p * z, x, x);
  const simd_f32 large =
      simd_set(1.0F) - simd_set(2.0F) / (math_exp_inside(simd_min(a + a, simd_set(89.0F))) + simd_set(1.0F));
  return simd_select(simd_less(a, simd_set(0.625F)), small, math_copysign(large, x));
}

/* Returns 1 / (1 + exp(-x)), accurate also for the smallest results. */
SIMD_INLINE simd_f32 math_sigmoid(simd_f32 x) {
  const simd_f32 e = math_exp_negative(x), one = simd_set(1.0F);
  return simd_select(simd_less(x, simd_set(0.0F)), e, one) / (one + e);
}

/* log(1 + exp(x)) */
SIMD_INLINE simd_f32 math_softplus(simd_f32 x) {
  const simd_f32 z = math_exp_negative(x);
  /* log(1 + z) / z - 1 on [0, 1] */
  simd_f32 p = simd_set(0.00203023944F);
  p = simd_fma(p, z, simd_set(-0.0134075209F));
  p = simd_fma(p, z, simd_set(0.0414782092F));
  p = simd_fma(p, z, simd_set(-0.0824417323F));
  p = simd_fma(p, z, simd_set(0.124184348F));
  p = simd_fma(p, z, simd_set(-0.161056906F));
  p = simd_fma(p, z, simd_set(0.19890748F));
  p = simd_fma(p, z, simd_set(-0.249872714F));
  p = simd_fma(p, z, simd_set(0.333325595F));
  p = simd_fma(p, z, simd_set(-0.499999821F));
  const simd_f32 positive = simd_select(simd_less(x, simd_set(0.0F)), simd_set(0.0F), x);
  return positive + simd_fma(p * z, z, z);
}

SIMD_INLINE simd_f32 math_erf(simd_f32 x) {
  const simd_f32 z = x * x;
  /* erf(x) / x - 1 on |x| <= 0.85 */
  simd_f32 p = simd_set(8.83625689e-05F);
  p = simd_fma(p, z, simd_set(-0.000824429153F));
  p = simd_fma(p, z, simd_set(0.0052092988F));
  p = simd_fma(p, z, simd_set(-0.0268624816F));
  p = simd_fma(p, z, simd_set(0.112837471F));
  p = simd_fma(p, z, simd_set(-0.376126379F));
  p = simd_fma(p, z, simd_set(0.128379166F));
  const simd_f32 small = simd_fma(p, x, x);
  /* log(1 - erf(a)) on [0.85, 4]; beyond 4 erf is 1 */
  const simd_f32 a = simd_min(math_abs(x), simd_set(4.0F));
  simd_f32 q = simd_set(-2.01478942e-05F);
  q = simd_fma(q, a, simd_set(0.000423611433F));
  q = simd_fma(q, a, simd_set(-0.00411903672F));
  q = simd_fma(q, a, simd_set(0.0249840561F));
  q = simd_fma(q, a, simd_set(-0.10807354F));
  q = simd_fma(q, a, simd_set(-0.633531809F));
  q = simd_fma(q, a, simd_set(-1.12942493F));
  q = simd_fma(q, a, simd_set(0.000156294176F));
  const simd_f32 large = simd_set(1.0F) - math_exp_inside(q);
  return simd_select(simd_less(math_abs(x), simd_set(0.85F)), small, math_copysign(large, x));
}

#endif
