/* Sums of products of adjacent rows, per channel: pairs of rows in 16 bits, for the channels of two vectors of
 * 32-bit sums; with dot products of four, four rows in 8 bits, for the channels of four vectors. Plain NEON adds
 * single 16-bit products in 32 bits, one row at a time, for the channels of one load. */
#ifndef MSLITE_SIMD_PAIRS_H
#define MSLITE_SIMD_PAIRS_H

#include <string.h>

#include "math/fixed_point_simd.h"
#include "simd/simd.h"

#if SIMD_DOT && SIMD_WIDTH == 16 && !SIMD_EMULATED
#define SIMD_FOURS 1
enum { SIMD_ROWS = 4, SIMD_ROW_OFFSET = 128 }; /* added to the values that are read */
#elif SIMD_DOT && SIMD_WIDTH == 4
#define SIMD_FOURS 1
enum { SIMD_ROWS = 4, SIMD_ROW_OFFSET = 0 };
#else
#define SIMD_FOURS 0
enum { SIMD_ROWS = SIMD_WIDTH == 4 ? 1 : 2, SIMD_ROW_OFFSET = 0 };
#endif
/* A weight element contains SIMD_ROWS rows of a channel, or, if rows are separate, two channels. */
enum {
  SIMD_SHARED = SIMD_ROWS == 1 ? 2 : 1,
  SIMD_PAIRS = SIMD_WIDTH == 4 ? 16 : SIMD_ROWS * SIMD_WIDTH,
  SIMD_WEIGHT_BITS = 32 / (SIMD_SHARED * SIMD_ROWS)
};

/* SIMD_PAIRS channels of a row (`simd_words`), SIMD_ROWS such rows interleaved by channel (`simd_pair`), and the
 * addition of their products with weights to the sums of the channels. */
#if SIMD_FOURS && SIMD_WIDTH == 16
typedef __m512i simd_words;
typedef struct {
  __m512i part[4];
} simd_pair;
SIMD_INLINE simd_words simd_load_words(const int8_t *x) {
  return _mm512_xor_si512(_mm512_loadu_si512(x), _mm512_set1_epi8(INT8_MIN));
}
SIMD_INLINE simd_pair simd_make_pair(const simd_words *row) {
  const __m512i first_low = _mm512_unpacklo_epi8(row[0], row[1]), second_low = _mm512_unpacklo_epi8(row[2], row[3]);
  const __m512i first_high = _mm512_unpackhi_epi8(row[0], row[1]), second_high = _mm512_unpackhi_epi8(row[2], row[3]);
  const simd_pair all = {{_mm512_unpacklo_epi16(first_low, second_low), _mm512_unpackhi_epi16(first_low, second_low),
                          _mm512_unpacklo_epi16(first_high, second_high),
                          _mm512_unpackhi_epi16(first_high, second_high)}};
  return all;
}
SIMD_INLINE void simd_add_products(simd_i32 *sum, const simd_pair *x, const int32_t *w) {
  SIMD_UNROLL for (int32_t v = 0; v < SIMD_ROWS; ++v) {
    const __m512i weights = (__m512i)simd_load_i32(w + v * SIMD_WIDTH);
    sum[v] = (simd_i32)_mm512_dpbusd_epi32((__m512i)sum[v], x->part[v], weights);
  }
}
#elif SIMD_WIDTH == 8
typedef __m256i simd_words;
typedef struct {
  __m256i low, high;
} simd_pair;
SIMD_INLINE simd_words simd_load_words(const int8_t *x) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)x));
}
SIMD_INLINE simd_pair simd_make_pair(const simd_words *row) {
  const simd_pair both = {_mm256_unpacklo_epi16(row[0], row[1]), _mm256_unpackhi_epi16(row[0], row[1])};
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
SIMD_INLINE simd_pair simd_make_pair(const simd_words *row) {
  const simd_pair both = {_mm512_unpacklo_epi16(row[0], row[1]), _mm512_unpackhi_epi16(row[0], row[1])};
  return both;
}
SIMD_INLINE void simd_add_products(simd_i32 *sum, const simd_pair *x, const int32_t *w) {
  sum[0] += (simd_i32)_mm512_madd_epi16(x->low, (__m512i)simd_load_i32(w));
  sum[1] += (simd_i32)_mm512_madd_epi16(x->high, (__m512i)simd_load_i32(w + SIMD_WIDTH));
}
#elif SIMD_FOURS && !SIMD_EMULATED
typedef int8x16_t simd_words;
typedef struct {
  int8x16_t part[4];
} simd_pair;
SIMD_INLINE simd_words simd_load_words(const int8_t *x) { return vld1q_s8(x); }
SIMD_INLINE simd_pair simd_make_pair(const simd_words *row) {
  const int16x8_t first_low = vreinterpretq_s16_s8(vzip1q_s8(row[0], row[1]));
  const int16x8_t first_high = vreinterpretq_s16_s8(vzip2q_s8(row[0], row[1]));
  const int16x8_t second_low = vreinterpretq_s16_s8(vzip1q_s8(row[2], row[3]));
  const int16x8_t second_high = vreinterpretq_s16_s8(vzip2q_s8(row[2], row[3]));
  const simd_pair all = {{vreinterpretq_s8_s16(vzip1q_s16(first_low, second_low)),
                          vreinterpretq_s8_s16(vzip2q_s16(first_low, second_low)),
                          vreinterpretq_s8_s16(vzip1q_s16(first_high, second_high)),
                          vreinterpretq_s8_s16(vzip2q_s16(first_high, second_high))}};
  return all;
}
SIMD_INLINE void simd_add_products(simd_i32 *sum, const simd_pair *x, const int32_t *w) {
  SIMD_UNROLL for (int32_t v = 0; v < 4; ++v) {
    const int8x16_t weights = vreinterpretq_s8_s32(vld1q_s32(w + v * SIMD_WIDTH));
    sum[v] = (simd_i32)vdotq_s32((int32x4_t)sum[v], x->part[v], weights);
  }
}
#elif SIMD_FOURS
typedef struct {
  int8_t at[SIMD_PAIRS];
} simd_words;
typedef struct {
  simd_words row[SIMD_ROWS];
} simd_pair;
SIMD_INLINE simd_words simd_load_words(const int8_t *x) {
  simd_words v;
  memcpy(&v, x, sizeof v);
  return v;
}
SIMD_INLINE simd_pair simd_make_pair(const simd_words *row) {
  simd_pair all;
  memcpy(&all, row, sizeof all);
  return all;
}
SIMD_INLINE void simd_add_products(simd_i32 *sum, const simd_pair *x, const int32_t *w) {
  for (int i = 0; i < SIMD_PAIRS; ++i) {
    for (int r = 0; r < SIMD_ROWS; ++r) {
      const int8_t weight = (int8_t)((uint32_t)w[i] >> r * SIMD_WEIGHT_BITS);
      sum[i / SIMD_WIDTH][i % SIMD_WIDTH] += x->row[r].at[i] * weight;
    }
  }
}
#elif SIMD_WIDTH == 4 && !SIMD_EMULATED
typedef struct {
  int16x8_t half[2];
} simd_words;
typedef simd_words simd_pair;
SIMD_INLINE simd_words simd_load_words(const int8_t *x) {
  const int8x16_t bytes = vld1q_s8(x);
  const simd_words words = {{vmovl_s8(vget_low_s8(bytes)), vmovl_s8(vget_high_s8(bytes))}};
  return words;
}
SIMD_INLINE simd_pair simd_make_pair(const simd_words *row) { return *row; }
SIMD_INLINE void simd_add_products(simd_i32 *sum, const simd_pair *x, const int32_t *w) {
  SIMD_UNROLL for (int32_t h = 0; h < 2; ++h, sum += 2) {
    const int16x8_t weights = vreinterpretq_s16_s32(vld1q_s32(w + h * SIMD_WIDTH)), row = x->half[h];
    sum[0] = (simd_i32)vmlal_s16((int32x4_t)sum[0], vget_low_s16(row), vget_low_s16(weights));
#ifdef __aarch64__
    sum[1] = (simd_i32)vmlal_high_s16((int32x4_t)sum[1], row, weights);
#else
    sum[1] = (simd_i32)vmlal_s16((int32x4_t)sum[1], vget_high_s16(row), vget_high_s16(weights));
#endif
  }
}
#elif SIMD_WIDTH == 4
typedef struct {
  int16_t at[SIMD_PAIRS];
} simd_words;
typedef simd_words simd_pair;
SIMD_INLINE simd_words simd_load_words(const int8_t *x) {
  simd_words v;
  for (int i = 0; i < SIMD_PAIRS; ++i) v.at[i] = x[i];
  return v;
}
SIMD_INLINE simd_pair simd_make_pair(const simd_words *row) { return *row; }
SIMD_INLINE void simd_add_products(simd_i32 *sum, const simd_pair *x, const int32_t *w) {
  for (int i = 0; i < SIMD_PAIRS; ++i) {
    const int16_t weight = (int16_t)((uint32_t)w[i / SIMD_SHARED] >> i % SIMD_SHARED * SIMD_WEIGHT_BITS);
    sum[i / SIMD_WIDTH][i % SIMD_WIDTH] += x->at[i] * weight;
  }
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
SIMD_INLINE simd_pair simd_make_pair(const simd_words *row) {
  const simd_pair both = {row[0], row[1]};
  return both;
}
SIMD_INLINE void simd_add_products(simd_i32 *sum, const simd_pair *x, const int32_t *w) {
  for (int v = 0; v < 2; ++v) {
    const simd_i32 weights = simd_load_i32(w + v * SIMD_WIDTH);
    sum[v] += x->a.half[v] * (SIMD_SHIFT_LEFT(weights, 16) >> 16) + x->b.half[v] * (weights >> 16);
  }
}
#endif

/* Returns the position of slot c in a row of parameters: x86 unpacks within 16 bytes. */
SIMD_INLINE int64_t simd_lane_of(int64_t c) {
#if SIMD_WIDTH >= 8 && !SIMD_EMULATED
  const int64_t at = c % SIMD_PAIRS;
  return c - at + at / 4 % SIMD_ROWS * SIMD_WIDTH + at / (4 * SIMD_ROWS) * 4 + at % 4;
#else
  return c;
#endif
}

#endif
