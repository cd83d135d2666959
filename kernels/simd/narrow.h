/* Stored int8 to 32 bits, and results of 32 bits to stored int8. */
#ifndef MSLITE_NARROW_H
#define MSLITE_NARROW_H

#include "math/fixed_point.h"
#include "simd/simd.h"

#if SIMD_WIDTH == 4 && !SIMD_EMULATED
#include <arm_neon.h>
#endif

/* SIMD_WIDTH stored integers. */
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

/* y = zero + result, in 32 bits that wrap, limited to [low, high]. */
typedef struct {
  simd_i32 zero, low, high; /* the limits in 32 bits; in 8 bits on AVX2, which has no other short way to 8 bits */
} simd_narrow_limits;

SIMD_INLINE simd_narrow_limits simd_make_narrow_limits(int32_t zero, int32_t low, int32_t high) {
#if SIMD_WIDTH == 8
  low = (int32_t)((uint32_t)(uint8_t)low * 0x01010101U);
  high = (int32_t)((uint32_t)(uint8_t)high * 0x01010101U);
#endif
  const simd_narrow_limits limits = {simd_set_i32(zero), simd_set_i32(low), simd_set_i32(high)};
  return limits;
}

/* Stores `count` * SIMD_WIDTH results; `count` is a constant. */
SIMD_INLINE void simd_narrow(const simd_i32 *result, int32_t count, const simd_narrow_limits *limits, int8_t *y) {
#if SIMD_WIDTH == 8
  const __m128i low = _mm256_castsi256_si128((__m256i)limits->low);
  const __m128i high = _mm256_castsi256_si128((__m256i)limits->high);
  SIMD_UNROLL for (int32_t v = 0; v + 1 < count; v += 2, y += 2 * SIMD_WIDTH) {
    const __m256i words =
        _mm256_packs_epi32((__m256i)(result[v] + limits->zero), (__m256i)(result[v + 1] + limits->zero));
    const __m256i ordered = _mm256_permute4x64_epi64(words, 0xD8);
    const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1));
    _mm_storeu_si128((__m128i *)(void *)y, _mm_min_epi8(_mm_max_epi8(bytes, low), high));
  }
  if (count % 2 != 0) {
    const __m256i last = (__m256i)(result[count - 1] + limits->zero);
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(last), _mm256_extracti128_si256(last, 1));
    const __m128i bytes = _mm_packs_epi16(words, words);
    _mm_storel_epi64((__m128i *)(void *)y, _mm_min_epi8(_mm_max_epi8(bytes, low), high));
  }
#else
  SIMD_UNROLL for (int32_t v = 0; v < count; ++v, y += SIMD_WIDTH) {
    const simd_i32 sum = result[v] + limits->zero;
#if SIMD_WIDTH == 4 && !SIMD_EMULATED
    const int32x4_t q = vminq_s32(vmaxq_s32((int32x4_t)sum, (int32x4_t)limits->low), (int32x4_t)limits->high);
    const int8x8_t bytes = vmovn_s16(vcombine_s16(vmovn_s32(q), vdup_n_s16(0)));
    memcpy(y, &bytes, SIMD_WIDTH);
#elif SIMD_WIDTH == 1
    *y = (int8_t)mslite_limit(sum, limits->low, limits->high);
#elif SIMD_EMULATED
    for (int i = 0; i < SIMD_WIDTH; ++i) y[i] = (int8_t)mslite_limit(sum[i], limits->low[i], limits->high[i]);
#else
    const __m512i low = _mm512_max_epi32((__m512i)sum, (__m512i)limits->low);
    const __m512i q = _mm512_min_epi32(low, (__m512i)limits->high);
    _mm_storeu_si128((__m128i *)(void *)y, _mm512_cvtepi32_epi8(q));
#endif
  }
#endif
}

#endif
