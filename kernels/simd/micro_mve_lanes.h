/* Helium's 16-bit products of bytes, and their conversion to bytes. Without Helium, instructions are replaced by
 * equivalent C. */
#ifndef MSLITE_MICRO_MVE_LANES_H
#define MSLITE_MICRO_MVE_LANES_H

#include "simd/micro_mve_memory.h"

#if defined(__ARM_FEATURE_MVE)

typedef int16x8_t micro_i16x8;

/* Multiply the lanes 0, 2, 4 ..., or 1, 3, 5 ... */
MICRO_INLINE micro_i16x8 micro_multiply_even(micro_i8x16 a, micro_i8x16 b) { return vmullbq_int_s8(a, b); }
MICRO_INLINE micro_i16x8 micro_multiply_odd(micro_i8x16 a, micro_i8x16 b) { return vmulltq_int_s8(a, b); }
MICRO_INLINE micro_i16x8 micro_add_i16x8(micro_i16x8 a, micro_i16x8 b) { return vaddq_s16(a, b); }
/* sum + the lanes 0, 2, 4, 6, or 1, 3, 5, 7. */
MICRO_INLINE micro_i32x4 micro_add_even(micro_i32x4 sum, micro_i16x8 v) { return vaddq_s32(sum, vmovlbq_s16(v)); }
MICRO_INLINE micro_i32x4 micro_add_odd(micro_i32x4 sum, micro_i16x8 v) { return vaddq_s32(sum, vmovltq_s16(v)); }

/* Saturate values to 16 bits, from alternating lanes of two vectors; to 8 bits, likewise. */
MICRO_INLINE micro_i16x8 micro_interleave_i32x4(micro_i32x4 even, micro_i32x4 odd) {
  return vqmovntq_s32(vqmovnbq_s32(vdupq_n_s16(0), even), odd);
}
MICRO_INLINE micro_i8x16 micro_interleave_i16x8(micro_i16x8 even, micro_i16x8 odd) {
  return vqmovntq_s16(vqmovnbq_s16(vdupq_n_s8(0), even), odd);
}
/* v + value, saturated to 16 bits. */
MICRO_INLINE micro_i16x8 micro_add_limited(micro_i16x8 v, int32_t value) { return vqaddq_n_s16(v, (int16_t)value); }
MICRO_INLINE micro_i8x16 micro_limit_i8x16(micro_i8x16 v, micro_i8x16 low, micro_i8x16 high) {
  return vminq_s8(vmaxq_s8(v, low), high);
}

#else

typedef struct {
  int16_t at[8];
} micro_i16x8;

MICRO_INLINE micro_i16x8 micro_multiply_from(micro_i8x16 a, micro_i8x16 b, int32_t first) {
  micro_i16x8 v;
  for (int32_t i = 0; i < 8; ++i) v.at[i] = (int16_t)(a.at[2 * i + first] * b.at[2 * i + first]);
  return v;
}
MICRO_INLINE micro_i16x8 micro_multiply_even(micro_i8x16 a, micro_i8x16 b) { return micro_multiply_from(a, b, 0); }
MICRO_INLINE micro_i16x8 micro_multiply_odd(micro_i8x16 a, micro_i8x16 b) { return micro_multiply_from(a, b, 1); }
MICRO_INLINE micro_i16x8 micro_add_i16x8(micro_i16x8 a, micro_i16x8 b) {
  for (int32_t i = 0; i < 8; ++i) a.at[i] = (int16_t)(uint16_t)(uint32_t)(a.at[i] + b.at[i]);
  return a;
}
MICRO_INLINE micro_i32x4 micro_add_from(micro_i32x4 sum, micro_i16x8 v, int32_t first) {
  for (int32_t i = 0; i < 4; ++i) sum.at[i] = micro_add(sum.at[i], v.at[2 * i + first]);
  return sum;
}
MICRO_INLINE micro_i32x4 micro_add_even(micro_i32x4 sum, micro_i16x8 v) { return micro_add_from(sum, v, 0); }
MICRO_INLINE micro_i32x4 micro_add_odd(micro_i32x4 sum, micro_i16x8 v) { return micro_add_from(sum, v, 1); }

MICRO_INLINE micro_i16x8 micro_interleave_i32x4(micro_i32x4 even, micro_i32x4 odd) {
  micro_i16x8 v;
  for (int32_t i = 0; i < 8; ++i) {
    v.at[i] = (int16_t)mslite_clamp(i % 2 == 0 ? even.at[i / 2] : odd.at[i / 2], INT16_MIN, INT16_MAX);
  }
  return v;
}
MICRO_INLINE micro_i8x16 micro_interleave_i16x8(micro_i16x8 even, micro_i16x8 odd) {
  micro_i8x16 v;
  for (int32_t i = 0; i < 16; ++i) {
    v.at[i] = (int8_t)mslite_clamp(i % 2 == 0 ? even.at[i / 2] : odd.at[i / 2], INT8_MIN, INT8_MAX);
  }
  return v;
}
MICRO_INLINE micro_i16x8 micro_add_limited(micro_i16x8 v, int32_t value) {
  for (int32_t i = 0; i < 8; ++i) v.at[i] = (int16_t)mslite_clamp(v.at[i] + value, INT16_MIN, INT16_MAX);
  return v;
}
MICRO_INLINE micro_i8x16 micro_limit_i8x16(micro_i8x16 v, micro_i8x16 low, micro_i8x16 high) {
  for (int32_t i = 0; i < 16; ++i) v.at[i] = (int8_t)mslite_clamp(v.at[i], low.at[i], high.at[i]);
  return v;
}

#endif

#endif
