/* The tile of pixels that depthwise_int8_vector.c computes together, and how its sums become quantized results. */
#ifndef MSLITE_DEPTHWISE_INT8_TILE_H
#define MSLITE_DEPTHWISE_INT8_TILE_H

#include "convolution/depthwise_int8_pack.h"
#include "math/fixed_point_simd.h"
#include "simd/narrow.h"

enum { DEPTHWISE_TILE = 4, MAX_ROWS = 5 };

/* The addresses that one tile reads and writes, at the part's first channel. */
typedef struct {
  const int8_t **x[MAX_ROWS]; /* [ky][column] */
  const int32_t *numbers;     /* the packed rows */
  const int32_t *w;           /* the first tap of the first ky */
  int64_t step;
  int32_t rows; /* ky that are inside */
  int8_t *y;
  int64_t y_step;
  int64_t channels; /* per part */
  int64_t width;    /* in all parts */
  bool rounds_once;
  simd_even_limits even; /* limits of results that are rounded once */
#if SIMD_WIDTH == 8
  simd_i32 zero;
  __m128i low, high;
#elif SIMD_FOURS && SIMD_WIDTH == 16
  simd_i32 zero;
  __m512i zero_words, low, high;
#elif SIMD_WIDTH == 16 && !SIMD_EMULATED
  simd_i32 zero;
  __m256i low, high;
#else
  simd_narrow_limits limits;
#endif
  const int8_t *padding; /* channels with the zero point of x */
  const int8_t *end;     /* of x */
  int8_t *room;          /* buffer for the last pixels of x if these are narrower than a group */
} depthwise_tile;

static void set_limits(depthwise_tile *t, const mslite_stored_numbers *n) {
  t->rounds_once = t->numbers[ROW_SHIFT * t->step] == MSLITE_SHIFT_TO_EVEN;
  t->even = simd_make_even_limits(n->y_zero, n->low, n->high);
#if SIMD_WIDTH == 8
  t->zero = simd_set_i32(n->y_zero);
  t->low = _mm_set1_epi8((char)n->low);
  t->high = _mm_set1_epi8((char)n->high);
#elif SIMD_FOURS && SIMD_WIDTH == 16
  t->zero = simd_set_i32(n->y_zero);
  t->zero_words = _mm512_set1_epi16((int16_t)n->y_zero);
  t->low = _mm512_set1_epi8((char)n->low);
  t->high = _mm512_set1_epi8((char)n->high);
#elif SIMD_WIDTH == 16 && !SIMD_EMULATED
  t->zero = simd_set_i32(n->y_zero);
  t->low = _mm256_set1_epi8((char)n->low);
  t->high = _mm256_set1_epi8((char)n->high);
#else
  t->limits = simd_make_narrow_limits(n->y_zero, n->low, n->high);
#endif
}

#if SIMD_FOURS && SIMD_WIDTH == 16
SIMD_INLINE void store_words(const depthwise_tile *t, __m512i low, __m512i high, int8_t *to) {
  const __m512i bytes = _mm512_min_epi8(_mm512_max_epi8(_mm512_packs_epi16(low, high), t->low), t->high);
  _mm512_storeu_si512(to, bytes);
}

SIMD_INLINE void store_twice_rounded(const depthwise_tile *t, const simd_multiplier *factor, const simd_i32 *sum,
                                     int8_t *to) {
  __m512i whole[VECTORS];
  SIMD_UNROLL for (int32_t v = 0; v < VECTORS; ++v) {
    whole[v] = (__m512i)(simd_rescale_twice(sum[v], factor + v) + t->zero);
  }
  store_words(t, _mm512_packs_epi32(whole[0], whole[1]), _mm512_packs_epi32(whole[2], whole[3]), to);
}

/* Values that are too low saturate when they are narrowed. Values beyond 32 bits would not, so they are clamped
 * before rounding. */
SIMD_INLINE void store_once_rounded(const depthwise_tile *t, const simd_i32 *factor, const simd_i32 *sum, int8_t *to) {
  __m512i whole[VECTORS];
  SIMD_UNROLL for (int32_t v = 0; v < VECTORS; ++v) {
    const simd_f32 steps = simd_from_i32(sum[v]) * simd_as_f32(factor[v]);
    whole[v] = _mm512_cvtps_epi32((__m512)simd_min(steps, t->even.high));
  }
  store_words(t, _mm512_adds_epi16(_mm512_packs_epi32(whole[0], whole[1]), t->zero_words),
              _mm512_adds_epi16(_mm512_packs_epi32(whole[2], whole[3]), t->zero_words), to);
}
#else
SIMD_INLINE void store_twice_rounded(const depthwise_tile *t, const simd_multiplier *factor, const simd_i32 *sum,
                                     int8_t *to) {
  simd_i32 result[VECTORS];
  SIMD_UNROLL for (int32_t v = 0; v < VECTORS; ++v) result[v] = simd_rescale_twice(sum[v], factor + v);
#if SIMD_WIDTH == 8
  const __m256i both = _mm256_packs_epi32((__m256i)(result[0] + t->zero), (__m256i)(result[1] + t->zero));
  const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
  _mm_storeu_si128((__m128i *)(void *)to, _mm_min_epi8(_mm_max_epi8(bytes, t->low), t->high));
#elif SIMD_WIDTH == 16 && !SIMD_EMULATED
  const __m512i both = _mm512_packs_epi32((__m512i)(result[0] + t->zero), (__m512i)(result[1] + t->zero));
  const __m256i bytes = _mm512_cvtsepi16_epi8(both);
  _mm256_storeu_si256((__m256i *)(void *)to, _mm256_min_epi8(_mm256_max_epi8(bytes, t->low), t->high));
#else
  simd_narrow(result, VECTORS, &t->limits, to);
#endif
}

SIMD_INLINE void store_once_rounded(const depthwise_tile *t, const simd_i32 *factor, const simd_i32 *sum, int8_t *to) {
#if SIMD_WIDTH >= 8 && !SIMD_EMULATED
  const simd_even_limits *limits = &t->even;
  const simd_i32 result[2] = {simd_rescale_even_within(sum[0], factor[0], limits),
                              simd_rescale_even_within(sum[1], factor[1], limits)};
#endif
#if SIMD_WIDTH == 8
  const __m256i both = _mm256_packs_epi32((__m256i)result[0], (__m256i)result[1]);
  const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
  _mm_storeu_si128((__m128i *)(void *)to, bytes);
#elif SIMD_WIDTH == 16 && !SIMD_EMULATED
  const __m512i both = _mm512_packs_epi32((__m512i)result[0], (__m512i)result[1]);
  _mm256_storeu_si256((__m256i *)(void *)to, _mm512_cvtepi16_epi8(both));
#else
  simd_store_even(sum, factor, VECTORS, &t->even, to);
#endif
}
#endif

/* Rounding four vectors twice is long code, so it is a loop. */
#if SIMD_FOURS || SIMD_WIDTH == 4
#define STORE_UNROLL _Pragma("GCC unroll 1")
#else
#define STORE_UNROLL SIMD_UNROLL
#endif

/* Stores `pixels` (a constant) times the group of slot c, y_step bytes apart, except for the first `made` channels
 * and channels that do not exist. */
SIMD_INLINE void store_group(const depthwise_tile *t, int64_t c, const simd_i32 *sum, const int32_t pixels, int8_t *y,
                             int64_t made) {
  const int32_t *numbers = t->numbers + c;
  simd_i32 value[VECTORS];
  SIMD_UNROLL for (int32_t v = 0; v < VECTORS; ++v) {
    value[v] = simd_load_i32(numbers + ROW_FACTOR * t->step + v * SIMD_WIDTH);
  }
  const int64_t y_step = t->y_step, count = (t->width < GROUP ? t->width : GROUP) - made;
  int8_t room[DEPTHWISE_TILE][GROUP];
  int8_t *to = made == 0 && t->width >= GROUP ? y : room[0];
  const int64_t step = to == y ? y_step : GROUP;
  if (t->rounds_once) {
    SIMD_UNROLL for (int32_t i = 0; i < pixels; ++i) store_once_rounded(t, value, sum + VECTORS * i, to + i * step);
  } else {
    simd_multiplier factor[VECTORS];
    SIMD_UNROLL for (int32_t v = 0; v < VECTORS; ++v) {
      const simd_i32 shift = simd_load_i32(numbers + ROW_SHIFT * t->step + v * SIMD_WIDTH);
      factor[v] = simd_make_multiplier(value[v], shift);
    }
    /* Only the values that the loop reads are in memory. */
    simd_i32 looped[VECTORS * DEPTHWISE_TILE];
    SIMD_UNROLL for (int32_t i = 0; i < VECTORS * pixels; ++i) looped[i] = sum[i];
    STORE_UNROLL for (int32_t i = 0; i < pixels; ++i) {
      store_twice_rounded(t, factor, looped + VECTORS * i, to + i * step);
    }
  }
  if (to == y) return;
  for (int32_t i = 0; i < pixels; ++i) memcpy(y + i * y_step + made, room[i] + made, (size_t)count);
}

#endif
