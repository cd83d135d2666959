/* Add and Mul of 8-bit integers that are rounded once, half to even (MSLITE_STORED_ADD_EVEN,
 * MSLITE_STORED_MUL_EVEN), without division.
 * A quotient is computed by multiplication with the reciprocal and a correction by the remainder. If the reciprocal
 * is rounded to nearest and both steps use fused multiply-add, the result is the correctly rounded quotient
 * (Markstein), in a fraction of the time of a division. */
#ifndef MSLITE_BINARY_EVEN_INT8_H
#define MSLITE_BINARY_EVEN_INT8_H

#include "arithmetic/binary_int8.h"
#include "math/float_bits.h"
#include "simd/narrow.h"

#if SIMD_WIDTH == 1 || SIMD_EMULATED
#define EVEN_BYTES 0
#elif SIMD_WIDTH >= 8
#define EVEN_BYTES 1
#elif defined(__aarch64__) /* fused multiply-add, and rounding half to even */
#define EVEN_BYTES 1
#else
#define EVEN_BYTES 0
#endif

#if EVEN_BYTES
enum { EVEN_VECTORS = 4, EVEN_BLOCK = EVEN_VECTORS * SIMD_WIDTH };

typedef struct {
  float scale_a, scale_b, scale_y;
  int32_t zero_a, zero_b, zero_y, low, high;
  bool is_sum;
} even_bytes;

/* Returns false for other operations, or if quotients not near 0, or their remainders, could become subnormal. */
static bool even_bytes_make(const mslite_binary_int8 *n, even_bytes *even) {
  if (n->operation != MSLITE_STORED_ADD_EVEN && n->operation != MSLITE_STORED_MUL_EVEN) return false;
  const int32_t scales[] = {n->a.value, n->b.value, n->y.value};
  for (int32_t i = 0; i < 3; ++i) {
    const int32_t exponent = (scales[i] >> 23 & 255) - 127;
    if (exponent < -30 || exponent > 30) return false;
  }
  even->scale_a = mslite_float_of_bits((uint32_t)n->a.value);
  even->scale_b = mslite_float_of_bits((uint32_t)n->b.value);
  even->scale_y = mslite_float_of_bits((uint32_t)n->y.value);
  even->zero_a = n->zero_a;
  even->zero_b = n->zero_b;
  even->zero_y = n->zero_y;
  even->low = n->low;
  even->high = n->high;
  even->is_sum = n->operation == MSLITE_STORED_ADD_EVEN;
  return n->size == 1 && n->size_b == 1;
}

/* Dequantizes EVEN_BLOCK 8-bit integers. */
SIMD_INLINE void even_bytes_read(const int8_t *x, int32_t zero, simd_f32 scale, simd_f32 *real) {
#if SIMD_WIDTH == 4
  const int8x16_t bytes = vld1q_s8(x), zeros = vdupq_n_s8((int8_t)zero);
  const int16x8_t words[2] = {vsubl_s8(vget_low_s8(bytes), vget_low_s8(zeros)), vsubl_high_s8(bytes, zeros)};
  SIMD_UNROLL for (int32_t v = 0; v < EVEN_VECTORS; v += 2) {
    real[v] = simd_from_i32((simd_i32)vmovl_s16(vget_low_s16(words[v / 2]))) * scale;
    real[v + 1] = simd_from_i32((simd_i32)vmovl_high_s16(words[v / 2])) * scale;
  }
#else
  SIMD_UNROLL for (int32_t v = 0; v < EVEN_VECTORS; ++v) {
    real[v] = simd_from_i32(simd_widen(x + v * SIMD_WIDTH) - simd_set_i32(zero)) * scale;
  }
#endif
}

/* Stores four vectors of values. Clamps first, because x86 converts values beyond 32 bits to the lowest integer. */
SIMD_INLINE void even_bytes_store(simd_f32 *steps, simd_f32 high, const even_bytes *n, int8_t *y) {
  const int32_t zero = n->zero_y, low = n->low;
#if SIMD_WIDTH == 4
  (void)high;
  int16x8_t words[2];
  SIMD_UNROLL for (int32_t v = 0; v < EVEN_VECTORS; v += 2) {
    const simd_i32 first = (simd_i32)vcvtnq_s32_f32((float32x4_t)steps[v]);
    const simd_i32 second = (simd_i32)vcvtnq_s32_f32((float32x4_t)steps[v + 1]);
    words[v / 2] = vqaddq_s16(simd_pack_words(first, second), vdupq_n_s16((int16_t)zero));
  }
  simd_store_words(words, EVEN_VECTORS, (simd_i32)vdupq_n_s8((int8_t)low), (simd_i32)vdupq_n_s8((int8_t)n->high), y);
#elif SIMD_WIDTH == 16
  SIMD_UNROLL for (int32_t v = 0; v < EVEN_VECTORS; ++v) steps[v] = simd_min(steps[v], high);
  __m512i whole[EVEN_VECTORS];
  SIMD_UNROLL for (int32_t v = 0; v < EVEN_VECTORS; ++v) whole[v] = _mm512_cvtps_epi32((__m512)steps[v]);
  const __m512i zeros = _mm512_set1_epi16((int16_t)zero);
  const __m512i first = _mm512_adds_epi16(_mm512_packs_epi32(whole[0], whole[1]), zeros);
  const __m512i second = _mm512_adds_epi16(_mm512_packs_epi32(whole[2], whole[3]), zeros);
  const __m512i mixed = _mm512_max_epi8(_mm512_packs_epi16(first, second), _mm512_set1_epi8((int8_t)low));
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  _mm512_storeu_si512(y, _mm512_permutexvar_epi32(order, mixed));
#else
  SIMD_UNROLL for (int32_t v = 0; v < EVEN_VECTORS; ++v) steps[v] = simd_min(steps[v], high);
  __m256i whole[EVEN_VECTORS];
  SIMD_UNROLL for (int32_t v = 0; v < EVEN_VECTORS; ++v) whole[v] = _mm256_cvtps_epi32((__m256)steps[v]);
  const __m256i zeros = _mm256_set1_epi16((int16_t)zero);
  const __m256i first = _mm256_adds_epi16(_mm256_packs_epi32(whole[0], whole[1]), zeros);
  const __m256i second = _mm256_adds_epi16(_mm256_packs_epi32(whole[2], whole[3]), zeros);
  const __m256i mixed = _mm256_max_epi8(_mm256_packs_epi16(first, second), _mm256_set1_epi8((int8_t)low));
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  _mm256_storeu_si256((__m256i *)(void *)y, _mm256_permutevar8x32_epi32(mixed, order));
#endif
}

SIMD_INLINE int64_t even_bytes_rows(const even_bytes *n, const int8_t *a, int64_t step_a, const int8_t *b,
                                    int64_t step_b, int8_t *y, int64_t count, const bool is_sum) {
  const even_bytes own = *n;
  const simd_f32 scale_a = simd_set(n->scale_a), scale_b = simd_set(n->scale_b);
  const simd_f32 divisor = simd_set(-n->scale_y), reciprocal = simd_set(1.0F / n->scale_y);
  const simd_f32 high = simd_set((float)(n->high - n->zero_y));
  int64_t i = 0;
  for (; i + EVEN_BLOCK <= count; i += EVEN_BLOCK, a += step_a * EVEN_BLOCK, b += step_b * EVEN_BLOCK) {
    simd_f32 p[EVEN_VECTORS], q[EVEN_VECTORS];
    even_bytes_read(a, own.zero_a, scale_a, p);
    even_bytes_read(b, own.zero_b, scale_b, q);
    SIMD_UNROLL for (int32_t v = 0; v < EVEN_VECTORS; ++v) {
      const simd_f32 real = is_sum ? p[v] + q[v] : p[v] * q[v], near = real * reciprocal;
      p[v] = simd_fma(simd_fma(near, divisor, real), reciprocal, near);
    }
    even_bytes_store(p, high, &own, y + i);
  }
  return i;
}

/* Computes whole blocks and returns the number of elements. Steps are 0 or 1; EVEN_BLOCK bytes of each operand are
 * read in any case. */
static int64_t even_bytes_run(const even_bytes *n, const int8_t *a, int64_t step_a, const int8_t *b, int64_t step_b,
                              int8_t *y, int64_t count) {
  return n->is_sum ? even_bytes_rows(n, a, step_a, b, step_b, y, count, true)
                   : even_bytes_rows(n, a, step_a, b, step_b, y, count, false);
}

#else
typedef struct {
  char none;
} even_bytes;

static bool even_bytes_make(const mslite_binary_int8 *n, even_bytes *even) {
  (void)n;
  even->none = 0;
  return false;
}

static int64_t even_bytes_run(const even_bytes *n, const int8_t *a, int64_t step_a, const int8_t *b, int64_t step_b,
                              int8_t *y, int64_t count) {
  (void)n, (void)a, (void)step_a, (void)b, (void)step_b, (void)y, (void)count;
  return 0;
}
#endif

#endif
