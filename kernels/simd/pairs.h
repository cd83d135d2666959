/* Sums of pairs of 16-bit products, of as many channels as two vectors of 32-bit sums have. */
#ifndef MSLITE_SIMD_PAIRS_H
#define MSLITE_SIMD_PAIRS_H

#include <string.h>

#include "math/fixed_point_simd.h"
#include "simd/simd.h"

#if SIMD_WIDTH == 4 && !SIMD_EMULATED
#include <arm_neon.h>
#endif

enum { SIMD_PAIRS = 2 * SIMD_WIDTH };

/* 2 * SIMD_WIDTH channels as 16 bits (`simd_words`), two such channel by channel (`simd_pair`), and what a pair and its
 * weights add to the sums of these channels. */
#if SIMD_WIDTH == 8
typedef __m256i simd_words;
typedef struct {
  __m256i low, high;
} simd_pair;
SIMD_INLINE simd_words simd_load_words(const int8_t *x) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)x));
}
SIMD_INLINE simd_pair simd_make_pair(simd_words a, simd_words b) {
  const simd_pair both = {_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)};
  return both;
}
SIMD_INLINE void simd_add_products(simd_i32 *sum, const simd_pair *x, const int32_t *w) {
  sum[0] += (simd_i32)_mm256_madd_epi16(x->low, (__m256i)simd_load_i32(w));
  sum[1] += (simd_i32)_mm256_madd_epi16(x->high, (__m256i)simd_load_i32(w + SIMD_WIDTH));
}
#elif SIMD_WIDTH == 16 && !SIMD_EMULATED
typedef __m512i simd_words;
typedef struct {
  __m512i low, high;
} simd_pair;
SIMD_INLINE simd_words simd_load_words(const int8_t *x) {
  return _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)(const void *)x));
}
SIMD_INLINE simd_pair simd_make_pair(simd_words a, simd_words b) {
  const simd_pair both = {_mm512_unpacklo_epi16(a, b), _mm512_unpackhi_epi16(a, b)};
  return both;
}
SIMD_INLINE void simd_add_products(simd_i32 *sum, const simd_pair *x, const int32_t *w) {
  sum[0] += (simd_i32)_mm512_madd_epi16(x->low, (__m512i)simd_load_i32(w));
  sum[1] += (simd_i32)_mm512_madd_epi16(x->high, (__m512i)simd_load_i32(w + SIMD_WIDTH));
}
#elif SIMD_WIDTH == 4 && !SIMD_EMULATED
typedef int16x8_t simd_words;
typedef struct {
  int16x8_t a, b;
} simd_pair;
SIMD_INLINE simd_words simd_load_words(const int8_t *x) { return vmovl_s8(vld1_s8(x)); }
SIMD_INLINE simd_pair simd_make_pair(simd_words a, simd_words b) {
  const simd_pair both = {a, b};
  return both;
}
SIMD_INLINE void simd_add_products(simd_i32 *sum, const simd_pair *x, const int32_t *w) {
  const int32x4_t first = vld1q_s32(w), second = vld1q_s32(w + SIMD_WIDTH);
  const int32x4_t low = vmlal_s16((int32x4_t)sum[0], vget_low_s16(x->a), vmovn_s32(first));
  sum[0] = (simd_i32)vmlal_s16(low, vget_low_s16(x->b), vshrn_n_s32(first, 16));
  const int32x4_t high = vmlal_s16((int32x4_t)sum[1], vget_high_s16(x->a), vmovn_s32(second));
  sum[1] = (simd_i32)vmlal_s16(high, vget_high_s16(x->b), vshrn_n_s32(second, 16));
}
#else
typedef struct {
  simd_i32 half[2];
} simd_words;
typedef struct {
  simd_words a, b;
} simd_pair;
SIMD_INLINE simd_words simd_load_words(const int8_t *x) {
  int32_t lanes[SIMD_PAIRS];
  simd_words v;
  for (int i = 0; i < SIMD_PAIRS; ++i) lanes[i] = x[i];
  memcpy(&v, lanes, sizeof v);
  return v;
}
SIMD_INLINE simd_pair simd_make_pair(simd_words a, simd_words b) {
  const simd_pair both = {a, b};
  return both;
}
SIMD_INLINE void simd_add_products(simd_i32 *sum, const simd_pair *x, const int32_t *w) {
  for (int v = 0; v < 2; ++v) {
    const simd_i32 weights = simd_load_i32(w + v * SIMD_WIDTH);
    sum[v] += x->a.half[v] * (SIMD_SHIFT_LEFT(weights, 16) >> 16) + x->b.half[v] * (weights >> 16);
  }
}
#endif

/* Where slot c of a row of numbers is: x86 unpacks 16 bits within 16 bytes. */
SIMD_INLINE int64_t simd_lane_of(int64_t c) {
#if SIMD_WIDTH >= 8 && !SIMD_EMULATED
  const int64_t at = c % SIMD_PAIRS;
  return c - at + at / 4 % 2 * SIMD_WIDTH + at / 8 * 4 + at % 4;
#else
  return c;
#endif
}

#endif
