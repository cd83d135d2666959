/* mslite_rescale for vectors, bit-identical to the portable version. For files that are compiled per instruction
 * set. */
#ifndef MSLITE_FIXED_POINT_SIMD_H
#define MSLITE_FIXED_POINT_SIMD_H

#include "math/fixed_point.h"
#include "simd/narrow.h"
#include "simd/simd.h"

/* The multiplier of each lane, in separate vectors. */
typedef struct {
  simd_i32 value;
  simd_i32 left, right; /* shifts */
  simd_i32 mask;        /* the bits that `right` shifts out */
} simd_multiplier;

SIMD_INLINE simd_multiplier simd_make_multiplier(simd_i32 value, simd_i32 shift) {
  const simd_i32 negative = shift >> 31;
  simd_multiplier m;
  m.value = value;
  m.left = shift & ~negative;
  m.right = -(shift & negative);
  m.mask = (simd_set_i32(1) << m.right) - 1;
  return m;
}

/* (a * b + 2^30) / 2^31, rounded down: mslite_doubling_high_product for b >= 0.
 * v << bits, also for negative values, for which a shift is undefined in C but not for vectors. */
#if SIMD_WIDTH == 1
#define SIMD_SHIFT_LEFT(v, bits) ((int32_t)((uint32_t)(v) << (bits)))
#else
#define SIMD_SHIFT_LEFT(v, bits) ((v) << (bits))
#endif

#if SIMD_WIDTH == 4 && !SIMD_EMULATED
SIMD_INLINE simd_i32 simd_doubling_high_product(simd_i32 a, simd_i32 b) {
  return (simd_i32)vqrdmulhq_s32((int32x4_t)a, (int32x4_t)b);
}
#elif SIMD_WIDTH == 8
SIMD_INLINE simd_i32 simd_doubling_high_product(simd_i32 a, simd_i32 b) {
  const __m256i nudge = _mm256_set1_epi64x((int64_t)1 << 30), x = (__m256i)a, y = (__m256i)b;
  const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(x, y), nudge);
  const __m256i odd = _mm256_add_epi64(_mm256_mul_epi32(_mm256_srli_epi64(x, 32), _mm256_srli_epi64(y, 32)), nudge);
  return (simd_i32)_mm256_blend_epi32(_mm256_srli_epi64(even, 31), _mm256_slli_epi64(odd, 1), 0xAA);
}
#elif SIMD_WIDTH == 16 && !SIMD_EMULATED
SIMD_INLINE simd_i32 simd_doubling_high_product(simd_i32 a, simd_i32 b) {
  const __m512i nudge = _mm512_set1_epi64((int64_t)1 << 30), x = (__m512i)a, y = (__m512i)b;
  const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(x, y), nudge);
  const __m512i odd = _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(x, 32), _mm512_srli_epi64(y, 32)), nudge);
  return (simd_i32)_mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 31), _mm512_slli_epi64(odd, 1));
}
#elif SIMD_EMULATED && SIMD_WIDTH > 1
SIMD_INLINE simd_i32 simd_doubling_high_product(simd_i32 a, simd_i32 b) {
  for (int i = 0; i < SIMD_WIDTH; ++i) a[i] = (int32_t)(((int64_t)a[i] * b[i] + ((int64_t)1 << 30)) >> 31);
  return a;
}
#else
SIMD_INLINE simd_i32 simd_doubling_high_product(simd_i32 a, simd_i32 b) { return mslite_doubling_high_product(a, b); }
#endif

/* mslite_round_even. */
SIMD_INLINE simd_i32 simd_round_even(simd_f32 steps) {
  const simd_f32 cut = simd_min(simd_max(steps, simd_set(-MSLITE_EVEN_LIMIT)), simd_set(MSLITE_EVEN_LIMIT));
  return simd_as_i32(cut + simd_set(MSLITE_EVEN_MAGIC)) - simd_set_i32(MSLITE_EVEN_BITS);
}

/* Returns x * factor, rounded once, half to even: mslite_rescale_even. */
SIMD_INLINE simd_i32 simd_rescale_even(simd_i32 x, simd_i32 factor_bits) {
  return simd_round_even(simd_from_i32(x) * simd_as_f32(factor_bits));
}

/* The limits of results that are rounded once, half to even, minus their zero point. They are integers, so results
 * can be clamped before they are rounded. */
typedef struct {
  simd_f32 low, high;
  simd_i32 back; /* converts the bits of the rounded float to the quantized result */
#if defined(__aarch64__) && SIMD_WIDTH == 4
  int16x8_t zero;
  simd_i32 lowest, highest; /* as bytes */
#endif
} simd_even_limits;

SIMD_INLINE simd_even_limits simd_make_even_limits(int32_t zero, int32_t low, int32_t high) {
  simd_even_limits limits;
  limits.low = simd_set((float)(low - zero));
  limits.high = simd_set((float)(high - zero));
  limits.back = simd_set_i32(zero - MSLITE_EVEN_BITS);
#if defined(__aarch64__) && SIMD_WIDTH == 4
  limits.zero = vdupq_n_s16((int16_t)zero);
  limits.lowest = (simd_i32)vdupq_n_s8((int8_t)low);
  limits.highest = (simd_i32)vdupq_n_s8((int8_t)high);
#endif
  return limits;
}

/* Returns zero + x * factor, rounded once, half to even, and clamped. */
SIMD_INLINE simd_i32 simd_rescale_even_within(simd_i32 x, simd_i32 factor_bits, const simd_even_limits *limits) {
  const simd_f32 steps = simd_from_i32(x) * simd_as_f32(factor_bits);
  const simd_f32 cut = simd_min(simd_max(steps, limits->low), limits->high);
  return simd_as_i32(cut + simd_set(MSLITE_EVEN_MAGIC)) + limits->back;
}

/* Stores `count` * SIMD_WIDTH results that are rounded once, half to even: zero + sum * factor; `count` is a
 * constant, on NEON 2 or 4. */
SIMD_INLINE void simd_store_even(const simd_i32 *sum, const simd_i32 *factor_bits, int32_t count,
                                 const simd_even_limits *limits, int8_t *y) {
#if defined(__aarch64__) && SIMD_WIDTH == 4
  /* Saturates to 16 bits, then to 8 bits. */
  int16x8_t words[2];
  SIMD_UNROLL for (int32_t v = 0; v < count; v += 2) {
    const simd_f32 low = simd_from_i32(sum[v]) * simd_as_f32(factor_bits[v]);
    const simd_f32 high = simd_from_i32(sum[v + 1]) * simd_as_f32(factor_bits[v + 1]);
    const simd_i32 first = (simd_i32)vcvtnq_s32_f32((float32x4_t)low);
    words[v / 2] = vqaddq_s16(simd_pack_words(first, (simd_i32)vcvtnq_s32_f32((float32x4_t)high)), limits->zero);
  }
  simd_store_words(words, count, limits->lowest, limits->highest, y);
#else
  simd_i32 result[SIMD_MOST_STORED];
  SIMD_UNROLL for (int32_t v = 0; v < count; ++v) {
    result[v] = simd_rescale_even_within(sum[v], factor_bits[v], limits);
  }
  simd_store_bytes(result, count, y);
#endif
}

/* Returns x * factor, rounded twice: after the multiplication and after the shift. */
SIMD_INLINE simd_i32 simd_rescale_twice(simd_i32 x, const simd_multiplier *m) {
  const simd_i32 high = simd_doubling_high_product(SIMD_SHIFT_LEFT(x, m->left), m->value);
  const simd_i32 threshold = (m->mask >> 1) - (high >> 31);
#if SIMD_WIDTH == 1
  return (high >> m->right) + ((high & m->mask) > threshold);
#else
  return (high >> m->right) - ((high & m->mask) > threshold);
#endif
}

/* As simd_rescale_twice, or rounded once if the factors are to round half to even; either all are, or none. */
SIMD_INLINE simd_i32 simd_rescale(simd_i32 x, const simd_multiplier *m) {
#if SIMD_WIDTH == 1
  if (m->left == MSLITE_SHIFT_TO_EVEN) return simd_rescale_even(x, m->value);
#else
  if (m->left[0] == MSLITE_SHIFT_TO_EVEN) return simd_rescale_even(x, m->value);
#endif
  return simd_rescale_twice(x, m);
}

#endif
