/* float32 operations on microcontrollers, four at a time: a Helium vector, or four scalars. */
#ifndef MSLITE_MICRO_FLOAT_H
#define MSLITE_MICRO_FLOAT_H

#include <math.h>

#include "simd/micro.h"

/* sum + a * b, rounded once if the processor has an instruction for it. */
#if defined(__ARM_FEATURE_FMA)
MICRO_INLINE float micro_fma(float a, float b, float sum) { return __builtin_fmaf(a, b, sum); }
#else
MICRO_INLINE float micro_fma(float a, float b, float sum) { return sum + a * b; }
#endif

/* Clamps x to [low, high]; NaN stays NaN. */
MICRO_INLINE float micro_clamp(float x, float low, float high) { return x < low ? low : x > high ? high : x; }

#if MICRO_MVE && defined(__ARM_FEATURE_MVE)
#include <arm_mve.h>

typedef float32x4_t micro_f32x4;

MICRO_INLINE micro_f32x4 micro_set_f32x4(float value) { return vdupq_n_f32(value); }
MICRO_INLINE micro_f32x4 micro_load_f32x4(const float *from) { return vldrwq_f32(from); }
/* Loads the first `count` values; the others are zero. */
MICRO_INLINE micro_f32x4 micro_load_first_f32x4(const float *from, int32_t count) {
  return vldrwq_z_f32(from, vctp32q((uint32_t)count));
}
MICRO_INLINE void micro_store_f32x4(float *to, micro_f32x4 v) { vstrwq_f32(to, v); }
MICRO_INLINE void micro_store_first_f32x4(float *to, micro_f32x4 v, int32_t count) {
  vstrwq_p_f32(to, v, vctp32q((uint32_t)count));
}
MICRO_INLINE micro_f32x4 micro_add_f32x4(micro_f32x4 a, micro_f32x4 b) { return vaddq_f32(a, b); }
MICRO_INLINE micro_f32x4 micro_multiply_f32x4(micro_f32x4 a, micro_f32x4 b) { return vmulq_f32(a, b); }
MICRO_INLINE micro_f32x4 micro_fma_f32x4(micro_f32x4 a, micro_f32x4 b, micro_f32x4 sum) { return vfmaq_f32(sum, a, b); }
MICRO_INLINE micro_f32x4 micro_fma_n_f32x4(micro_f32x4 a, float b, micro_f32x4 sum) { return vfmaq_n_f32(sum, a, b); }
MICRO_INLINE micro_f32x4 micro_clamp_f32x4(micro_f32x4 x, float low, float high) {
  x = vpselq_f32(vdupq_n_f32(low), x, vcmpltq_n_f32(x, low));
  return vpselq_f32(vdupq_n_f32(high), x, vcmpgtq_n_f32(x, high));
}
/* Returns the maximum; NaN if `x` is NaN. */
MICRO_INLINE micro_f32x4 micro_max_f32x4(micro_f32x4 x, micro_f32x4 best) {
  return vpselq_f32(best, x, vcmpltq_f32(x, best));
}

#else

typedef struct {
  float a, b, c, d;
} micro_f32x4;

MICRO_INLINE micro_f32x4 micro_make_f32x4(float a, float b, float c, float d) {
  const micro_f32x4 v = {a, b, c, d};
  return v;
}
MICRO_INLINE micro_f32x4 micro_set_f32x4(float value) { return micro_make_f32x4(value, value, value, value); }
MICRO_INLINE micro_f32x4 micro_load_f32x4(const float *from) {
  return micro_make_f32x4(from[0], from[1], from[2], from[3]);
}
/* Loads the first `count` values; the others are zero. */
MICRO_INLINE micro_f32x4 micro_load_first_f32x4(const float *from, int32_t count) {
  if (count >= 4) return micro_load_f32x4(from);
  return micro_make_f32x4(from[0], count > 1 ? from[1] : 0.0F, count > 2 ? from[2] : 0.0F, 0.0F);
}
MICRO_INLINE void micro_store_f32x4(float *to, micro_f32x4 v) {
  to[0] = v.a;
  to[1] = v.b;
  to[2] = v.c;
  to[3] = v.d;
}
MICRO_INLINE void micro_store_first_f32x4(float *to, micro_f32x4 v, int32_t count) {
  to[0] = v.a;
  if (count > 1) to[1] = v.b;
  if (count > 2) to[2] = v.c;
  if (count > 3) to[3] = v.d;
}
#define MICRO_EACH_F32(name, expression)                                                                           \
  MICRO_INLINE micro_f32x4 name(micro_f32x4 left, micro_f32x4 right) {                                             \
    return micro_make_f32x4(expression(left.a, right.a), expression(left.b, right.b), expression(left.c, right.c), \
                            expression(left.d, right.d));                                                          \
  }
#define MICRO_SUM(p, q) (p) + (q)
#define MICRO_PRODUCT(p, q) (p) * (q)
#define MICRO_LARGER(p, q) (p) < (q) ? (q) : (p)
MICRO_EACH_F32(micro_add_f32x4, MICRO_SUM)
MICRO_EACH_F32(micro_multiply_f32x4, MICRO_PRODUCT)
/* Returns the maximum; NaN if the first operand is NaN. */
MICRO_EACH_F32(micro_max_f32x4, MICRO_LARGER)
MICRO_INLINE micro_f32x4 micro_fma_f32x4(micro_f32x4 p, micro_f32x4 q, micro_f32x4 sum) {
  return micro_make_f32x4(micro_fma(p.a, q.a, sum.a), micro_fma(p.b, q.b, sum.b), micro_fma(p.c, q.c, sum.c),
                          micro_fma(p.d, q.d, sum.d));
}
MICRO_INLINE micro_f32x4 micro_fma_n_f32x4(micro_f32x4 p, float q, micro_f32x4 sum) {
  return micro_make_f32x4(micro_fma(p.a, q, sum.a), micro_fma(p.b, q, sum.b), micro_fma(p.c, q, sum.c),
                          micro_fma(p.d, q, sum.d));
}
MICRO_INLINE micro_f32x4 micro_clamp_f32x4(micro_f32x4 x, float low, float high) {
  return micro_make_f32x4(micro_clamp(x.a, low, high), micro_clamp(x.b, low, high), micro_clamp(x.c, low, high),
                          micro_clamp(x.d, low, high));
}

#endif

#endif
