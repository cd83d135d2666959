/* Conversions from quantized int8 to 32 bits, and from 32-bit results to quantized int8. */
#ifndef MSLITE_NARROW_H
#define MSLITE_NARROW_H

#include "math/fixed_point.h"
#include "simd/simd.h"

enum { SIMD_MOST_STORED = 4 }; /* vectors at a time */

/* Loads SIMD_WIDTH 8-bit integers. */
SIMD_INLINE simd_i32 simd_widen(const int8_t *x) {
#if SIMD_WIDTH == 1
  return *x;
#elif SIMD_WIDTH == 4 && !SIMD_EMULATED
  int32_t four;
  memcpy(&four, x, sizeof four);
  const int8x8_t bytes = vreinterpret_s8_s32(vdup_n_s32(four));
  return (simd_i32)vmovl_s16(vget_low_s16(vmovl_s8(bytes)));
#elif SIMD_WIDTH == 8
  return (simd_i32)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)x));
#elif SIMD_EMULATED
  simd_i32 v;
  for (int i = 0; i < SIMD_WIDTH; ++i) v[i] = x[i];
  return v;
#else
  return (simd_i32)_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)x));
#endif
}

#if SIMD_WIDTH > 1
/* A vector of 8-bit integers. */
typedef int8_t simd_bytes __attribute__((vector_size(4 * SIMD_WIDTH)));

SIMD_INLINE simd_bytes simd_set_bytes(int32_t x) { return (int8_t)x - (simd_bytes){0}; }

SIMD_INLINE simd_bytes simd_max_bytes(simd_bytes a, simd_bytes b) {
#if SIMD_WIDTH == 8
  return (simd_bytes)_mm256_max_epi8((__m256i)a, (__m256i)b);
#elif SIMD_WIDTH == 16 && !SIMD_EMULATED
  return (simd_bytes)_mm512_max_epi8((__m512i)a, (__m512i)b);
#else
  const simd_bytes larger = a > b;
  return (a & larger) | (b & ~larger);
#endif
}

SIMD_INLINE simd_bytes simd_min_bytes(simd_bytes a, simd_bytes b) { return ~simd_max_bytes(~a, ~b); }
#endif

/* y = zero + result, with 32-bit wraparound, clamped to [low, high]. */
typedef struct {
  simd_i32 zero, low, high; /* the limits in 32 bits; in 8 bits on AVX2 and NEON, where that is faster */
} simd_narrow_limits;

SIMD_INLINE simd_narrow_limits simd_make_narrow_limits(int32_t zero, int32_t low, int32_t high) {
#if SIMD_WIDTH == 8 || (SIMD_WIDTH == 4 && !SIMD_EMULATED)
  low = (int32_t)((uint32_t)(uint8_t)low * 0x01010101U);
  high = (int32_t)((uint32_t)(uint8_t)high * 0x01010101U);
#endif
  const simd_narrow_limits limits = {simd_set_i32(zero), simd_set_i32(low), simd_set_i32(high)};
  return limits;
}

#if SIMD_WIDTH == 8
/* Joins two vectors, saturated to 8 bits. */
SIMD_INLINE __m128i simd_pack_bytes(simd_i32 a, simd_i32 b) {
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32((__m256i)a, (__m256i)b), 0xD8);
  return _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}
#elif SIMD_WIDTH == 4 && !SIMD_EMULATED
/* Joins two vectors, saturated to 16 bits. */
SIMD_INLINE int16x8_t simd_pack_words(simd_i32 a, simd_i32 b) {
  return vcombine_s16(vqmovn_s32((int32x4_t)a), vqmovn_s32((int32x4_t)b));
}

/* Stores `count` * SIMD_WIDTH words, saturated to 8 bits and clamped to [low, high] in bytes; `count` is a constant,
 * 2 or 4. */
SIMD_INLINE void simd_store_words(const int16x8_t *words, int32_t count, simd_i32 low, simd_i32 high, int8_t *y) {
  const int8x16_t bytes = vcombine_s8(vqmovn_s16(words[0]), vqmovn_s16(words[count / 2 - 1]));
  const int8x16_t limited = vminq_s8(vmaxq_s8(bytes, (int8x16_t)low), (int8x16_t)high);
  memcpy(y, &limited, (size_t)(count * SIMD_WIDTH));
}
#else
SIMD_INLINE simd_i32 simd_limit(simd_i32 result, const simd_narrow_limits *limits) {
  simd_i32 q = result + limits->zero;
#if SIMD_WIDTH == 1
  q = mslite_clamp(q, limits->low, limits->high);
#elif SIMD_EMULATED
  for (int i = 0; i < SIMD_WIDTH; ++i) q[i] = mslite_clamp(q[i], limits->low[i], limits->high[i]);
#else
  q = (simd_i32)_mm512_min_epi32(_mm512_max_epi32((__m512i)q, (__m512i)limits->low), (__m512i)limits->high);
#endif
  return q;
}
#endif

#if SIMD_WIDTH == 16 && !SIMD_EMULATED
/* Joins two vectors of 8-bit values. */
SIMD_INLINE __m256i simd_pack_bytes(simd_i32 a, simd_i32 b) {
  const __m256i low = _mm256_castsi128_si256(_mm512_cvtepi32_epi8((__m512i)a));
  return _mm256_inserti128_si256(low, _mm512_cvtepi32_epi8((__m512i)b), 1);
}
#endif

/* Stores `count` * SIMD_WIDTH 8-bit values; `count` is a constant, on NEON 2 or 4. */
SIMD_INLINE void simd_store_bytes(const simd_i32 *q, int32_t count, int8_t *y) {
#if SIMD_WIDTH == 8
  SIMD_UNROLL for (int32_t v = 0; v + 1 < count; v += 2, y += 2 * SIMD_WIDTH) {
    _mm_storeu_si128((__m128i *)(void *)y, simd_pack_bytes(q[v], q[v + 1]));
  }
  if (count % 2 != 0) _mm_storel_epi64((__m128i *)(void *)y, simd_pack_bytes(q[count - 1], q[count - 1]));
#elif SIMD_WIDTH == 4 && !SIMD_EMULATED
  const int16x8_t words[2] = {simd_pack_words(q[0], q[1]), simd_pack_words(q[count - 2], q[count - 1])};
  simd_store_words(words, count, simd_set_i32((int32_t)0x80808080), simd_set_i32(0x7F7F7F7F), y);
#else
  SIMD_UNROLL for (int32_t v = 0; v < count; ++v, y += SIMD_WIDTH) {
#if SIMD_WIDTH == 1
    *y = (int8_t)q[v];
#elif SIMD_EMULATED
    for (int i = 0; i < SIMD_WIDTH; ++i) y[i] = (int8_t)q[v][i];
#else
    _mm_storeu_si128((__m128i *)(void *)y, _mm512_cvtepi32_epi8((__m512i)q[v]));
#endif
  }
#endif
}

/* Stores `count` * SIMD_WIDTH results; `count` is a constant, on NEON 2 or 4. */
SIMD_INLINE void simd_narrow(const simd_i32 *result, int32_t count, const simd_narrow_limits *limits, int8_t *y) {
#if SIMD_WIDTH == 8
  const __m128i low = _mm256_castsi256_si128((__m256i)limits->low);
  const __m128i high = _mm256_castsi256_si128((__m256i)limits->high);
  SIMD_UNROLL for (int32_t v = 0; v < count; v += 2, y += 2 * SIMD_WIDTH) {
    const simd_i32 a = result[v] + limits->zero, b = v + 1 < count ? result[v + 1] + limits->zero : a;
    const __m128i bytes = _mm_min_epi8(_mm_max_epi8(simd_pack_bytes(a, b), low), high);
    if (v + 1 < count) {
      _mm_storeu_si128((__m128i *)(void *)y, bytes);
    } else {
      _mm_storel_epi64((__m128i *)(void *)y, bytes);
    }
  }
#elif SIMD_WIDTH == 4 && !SIMD_EMULATED
  const simd_i32 zero = limits->zero;
  const int16x8_t words[2] = {simd_pack_words(result[0] + zero, result[1] + zero),
                              simd_pack_words(result[count - 2] + zero, result[count - 1] + zero)};
  simd_store_words(words, count, limits->low, limits->high, y);
#else
  SIMD_UNROLL for (int32_t v = 0; v < count; ++v, y += SIMD_WIDTH) {
    const simd_i32 q = simd_limit(result[v], limits);
    simd_store_bytes(&q, 1, y);
  }
#endif
}

#endif
