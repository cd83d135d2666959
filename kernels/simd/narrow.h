/* Results of 32 bits to stored int8. */
#ifndef MSLITE_NARROW_H
#define MSLITE_NARROW_H

#include "math/fixed_point.h"
#include "simd/simd.h"

#if SIMD_WIDTH == 4
#include <arm_neon.h>
#endif

/* y = zero + result, in 32 bits that wrap, limited to [low, high]. */
typedef struct {
  simd_i32 zero, low, high;
} simd_narrow_limits;

SIMD_INLINE simd_narrow_limits simd_make_narrow_limits(int32_t zero, int32_t low, int32_t high) {
  const simd_narrow_limits limits = {simd_set_i32(zero), simd_set_i32(low), simd_set_i32(high)};
  return limits;
}

/* Stores `count` * SIMD_WIDTH results; `count` is a constant. */
SIMD_INLINE void simd_narrow(const simd_i32 *result, int32_t count, const simd_narrow_limits *limits, int8_t *y) {
  SIMD_UNROLL for (int32_t v = 0; v < count; ++v, y += SIMD_WIDTH) {
    const simd_i32 sum = result[v] + limits->zero;
#if SIMD_WIDTH == 4
    const int32x4_t q = vminq_s32(vmaxq_s32((int32x4_t)sum, (int32x4_t)limits->low), (int32x4_t)limits->high);
    const int8x8_t bytes = vmovn_s16(vcombine_s16(vmovn_s32(q), vdup_n_s16(0)));
    memcpy(y, &bytes, SIMD_WIDTH);
#elif SIMD_WIDTH == 8
    const __m256i low = _mm256_max_epi32((__m256i)sum, (__m256i)limits->low);
    const __m256i q = _mm256_min_epi32(low, (__m256i)limits->high);
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1));
    _mm_storel_epi64((__m128i *)(void *)y, _mm_packs_epi16(words, words));
#elif SIMD_EMULATED
    for (int i = 0; i < SIMD_WIDTH; ++i) y[i] = (int8_t)mslite_limit(sum[i], limits->low[i], limits->high[i]);
#else
    const __m512i low = _mm512_max_epi32((__m512i)sum, (__m512i)limits->low);
    const __m512i q = _mm512_min_epi32(low, (__m512i)limits->high);
    _mm_storeu_si128((__m128i *)(void *)y, _mm512_cvtepi32_epi8(q));
#endif
  }
}

#endif
