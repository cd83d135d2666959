/* Converts the sums of a tile in gemm_int8_dot.c to results, after the last step of k. */
#ifndef MSLITE_MATMUL_GEMM_INT8_STORE_H
#define MSLITE_MATMUL_GEMM_INT8_STORE_H

#include "math/fixed_point_simd.h"
#include "matmul/gemm_int8.h"
#include "simd/narrow.h"

/* The parameters of one panel's channels, in vectors. */
typedef struct {
  simd_multiplier factor[GEMM_INT8_VECTORS];
  simd_i32 zero[GEMM_INT8_VECTORS];
  simd_narrow_limits limits;
  simd_even_limits even;
#if SIMD_MATRIX
  simd_i32 pairs[2 * GEMM_INT8_VECTORS]; /* the factors of two columns, twice */
#endif
} panel_numbers;

static void set_numbers(const gemm_int8_block *g, panel_numbers *numbers) {
  SIMD_UNROLL for (int32_t v = 0; v < GEMM_INT8_VECTORS; ++v) {
    const int64_t at = v * SIMD_WIDTH;
    numbers->factor[v] = simd_make_multiplier(simd_load_i32(g->value + at), simd_load_i32(g->shift + at));
    numbers->zero[v] = simd_load_i32(g->zero + at);
#if SIMD_MATRIX
    const int64x2_t value = (int64x2_t)numbers->factor[v].value;
    numbers->pairs[2 * v] = (simd_i32)vzip1q_s64(value, value);
    numbers->pairs[2 * v + 1] = (simd_i32)vzip2q_s64(value, value);
#endif
  }
  numbers->limits = simd_make_narrow_limits(g->y_zero, g->low, g->high);
  numbers->even = simd_make_even_limits(g->y_zero, g->low, g->high);
}

/* Stores `columns` results of one row. */
SIMD_INLINE void store_row(const simd_i32 *result, const simd_narrow_limits *limits, int64_t columns, int8_t *y) {
#if SIMD_WIDTH == 16 && !SIMD_EMULATED
  const __m256i bytes = simd_pack_bytes(simd_limit(result[0], limits), simd_limit(result[1], limits));
  if (columns == GEMM_INT8_COLUMNS) {
    _mm256_storeu_si256((__m256i *)(void *)y, bytes);
  } else {
    _mm256_mask_storeu_epi8(y, (__mmask32)((1U << columns) - 1), bytes);
  }
#else
  int8_t whole[GEMM_INT8_COLUMNS];
  int8_t *to = columns == GEMM_INT8_COLUMNS ? y : whole;
  simd_narrow(result, GEMM_INT8_VECTORS, limits, to);
  if (to == whole) memcpy(y, whole, (size_t)columns);
#endif
}

/* Converts sums to quantized results, GEMM_INT8_VECTORS vectors of a row at a time, rounded once, half to even, or
 * twice. */
SIMD_INLINE void store_fixed(const gemm_int8_block *g, const panel_numbers *numbers, const int32_t *sums, int64_t rows,
                             int64_t columns, const bool has_zeros, const bool rounds_once) {
  const panel_numbers own = *numbers;
  const int64_t y_step = g->y_step;
  const int32_t *row_sums = g->row_sums;
  int8_t *y = g->y;
  simd_i32 value[GEMM_INT8_VECTORS];
  SIMD_UNROLL for (int32_t v = 0; v < GEMM_INT8_VECTORS; ++v) value[v] = own.factor[v].value;
  for (int64_t r = 0; r < rows; ++r, sums += GEMM_INT8_COLUMNS, y += y_step) {
    simd_i32 sum[GEMM_INT8_VECTORS];
    SIMD_UNROLL for (int32_t v = 0; v < GEMM_INT8_VECTORS; ++v) {
      sum[v] = simd_load_i32(sums + v * SIMD_WIDTH);
      if (has_zeros) sum[v] -= simd_set_i32(row_sums[r]) * own.zero[v];
    }
    if (!rounds_once) {
      SIMD_UNROLL for (int32_t v = 0; v < GEMM_INT8_VECTORS; ++v) sum[v] = simd_rescale_twice(sum[v], &own.factor[v]);
      store_row(sum, &own.limits, columns, y);
    } else if (columns == GEMM_INT8_COLUMNS) {
      simd_store_even(sum, value, GEMM_INT8_VECTORS, &own.even, y);
    } else {
      int8_t whole[GEMM_INT8_COLUMNS];
      simd_store_even(sum, value, GEMM_INT8_VECTORS, &own.even, whole);
      memcpy(y, whole, (size_t)columns);
    }
  }
}

#if SIMD_WIDTH == 16 && !SIMD_EMULATED
/* Rounds a row once, half to even, to 16 bits: four columns of the first vector alternate with those of the second.
 * Values that are too low saturate. Values beyond 32 bits would not, so they are clamped before rounding. */
SIMD_INLINE __m512i even_words(const panel_numbers *numbers, const int32_t *sums, __m512i zero) {
  __m512i whole[GEMM_INT8_VECTORS];
  SIMD_UNROLL for (int32_t v = 0; v < GEMM_INT8_VECTORS; ++v) {
    const simd_f32 sum = simd_from_i32(simd_load_i32(sums + v * SIMD_WIDTH));
    const simd_f32 steps = sum * simd_as_f32(numbers->factor[v].value);
    whole[v] = _mm512_cvtps_epi32((__m512)simd_min(steps, numbers->even.high));
  }
  return _mm512_adds_epi16(_mm512_packs_epi32(whole[0], whole[1]), zero);
}

/* store_fixed without row_sums, rounded once: two rows at a time. */
static void store_even(const gemm_int8_block *g, const panel_numbers *numbers, const int32_t *sums, int64_t rows,
                       int64_t columns) {
  const panel_numbers own = *numbers;
  const __m512i zero = _mm512_set1_epi16((int16_t)g->y_zero), low = _mm512_set1_epi8((int8_t)g->low);
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __mmask32 mask = (__mmask32)(0xFFFFFFFFU >> (GEMM_INT8_COLUMNS - columns));
  const int64_t y_step = g->y_step;
  int8_t *y = g->y;
  for (; rows > 0; rows -= 2, sums += 2 * GEMM_INT8_COLUMNS, y += 2 * y_step) {
    const __m512i first = even_words(&own, sums, zero), second = even_words(&own, sums + GEMM_INT8_COLUMNS, zero);
    const __m512i mixed = _mm512_max_epi8(_mm512_packs_epi16(first, second), low);
    const __m512i both = _mm512_permutexvar_epi32(order, mixed);
    _mm256_mask_storeu_epi8(y, mask, _mm512_castsi512_si256(both));
    if (rows > 1) _mm256_mask_storeu_epi8(y + y_step, mask, _mm512_extracti64x4_epi64(both, 1));
  }
}
#endif

#if SIMD_MATRIX
/* Rounds two rows once, half to even, from sums of two columns each. They are separated as bytes, which takes a
 * fraction of the instructions. */
SIMD_INLINE void store_even_rows(const simd_i32 *sum, const simd_i32 *pairs, const simd_even_limits *limits, int8_t *y,
                                 int64_t y_step) {
  int8x16_t bytes[2];
  SIMD_UNROLL for (int32_t i = 0; i < 2; ++i) {
    int16x8_t words[2];
    SIMD_UNROLL for (int32_t j = 0; j < 2; ++j) {
      const simd_i32 *from = sum + 4 * i + 2 * j, *by = pairs + 4 * i + 2 * j;
      const simd_f32 first = simd_from_i32(from[0]) * simd_as_f32(by[0]);
      const simd_f32 second = simd_from_i32(from[1]) * simd_as_f32(by[1]);
      const simd_i32 low = (simd_i32)vcvtnq_s32_f32((float32x4_t)first);
      words[j] = vqaddq_s16(simd_pack_words(low, (simd_i32)vcvtnq_s32_f32((float32x4_t)second)), limits->zero);
    }
    const int8x16_t whole = vcombine_s8(vqmovn_s16(words[0]), vqmovn_s16(words[1]));
    bytes[i] = vminq_s8(vmaxq_s8(whole, (int8x16_t)limits->lowest), (int8x16_t)limits->highest);
  }
  const int16x8_t low = vreinterpretq_s16_s8(bytes[0]), high = vreinterpretq_s16_s8(bytes[1]);
  vst1q_s8(y, vreinterpretq_s8_s16(vuzp1q_s16(low, high)));
  vst1q_s8(y + y_step, vreinterpretq_s8_s16(vuzp2q_s16(low, high)));
}
#endif

/* As store_fixed, for results that are rounded once, half away from zero, in float64. Twice the fraction that
 * truncation drops, truncated, is the missing step. */
static void store_real(const gemm_int8_block *g, const panel_numbers *numbers, const int32_t *sums, int64_t rows,
                       int64_t columns) {
  typedef double reals __attribute__((vector_size(SIMD_WIDTH * 8)));
  for (int64_t r = 0; r < rows; ++r, sums += GEMM_INT8_COLUMNS) {
    simd_i32 result[GEMM_INT8_VECTORS];
    const simd_i32 row_sum = simd_set_i32(g->row_sums == NULL ? 0 : g->row_sums[r]);
    SIMD_UNROLL for (int32_t v = 0; v < GEMM_INT8_VECTORS; ++v) {
      const simd_i32 most = simd_load_i32(g->value + v * SIMD_WIDTH);
      simd_i32 sum = simd_load_i32(sums + v * SIMD_WIDTH);
      if (g->row_sums != NULL) sum -= row_sum * numbers->zero[v];
      simd_i32 beyond = sum > most;
      sum = (sum & ~beyond) | (most & beyond);
      beyond = sum < -most;
      sum = (sum & ~beyond) | (-most & beyond);
      reals scale;
      memcpy(&scale, g->scale + v * SIMD_WIDTH, sizeof scale);
      const reals exact = __builtin_convertvector(sum, reals) * scale;
      const simd_i32 steps = __builtin_convertvector(exact, simd_i32);
      const reals rest = exact - __builtin_convertvector(steps, reals);
      result[v] = steps + __builtin_convertvector(rest + rest, simd_i32);
    }
    store_row(result, &numbers->limits, columns, g->y + r * g->y_step);
  }
}

/* The parameters of one panel's columns if results are integer sums. */
typedef struct {
  int32_t zero[GEMM_INT8_COLUMNS];
  float scale[GEMM_INT8_COLUMNS], bias[GEMM_INT8_COLUMNS];
} whole_numbers;

/* Takes little time, so it is compiled for size. */
static __attribute__((cold, noinline)) void set_whole_numbers(const gemm_int8_block *g, int64_t columns,
                                                              whole_numbers *numbers) {
  const mslite_integer_operands *operands = g->operands;
  const void *const *inputs = g->inputs;
  memset(numbers, 0, sizeof *numbers);
  for (int64_t n = 0; n < columns; ++n) {
    const int64_t at = g->column + n;
    numbers->zero[n] = mslite_flipped_at(inputs[MSLITE_B_ZERO], operands->b_zeros > 1 ? at : 0, operands->b_flip);
    if (operands->scales > 0) numbers->scale[n] = ((const float *)inputs[MSLITE_SCALE])[operands->scales > 1 ? at : 0];
    /* Adding -0 does not change the sum. */
    numbers->bias[n] = operands->has_bias != 0 ? ((const float *)inputs[MSLITE_BIAS])[at] : -0.0F;
  }
}

/* As store_fixed, for integer sums without the zero points of both sides:
 *   sum (a - a_zero)(b - b_zero) = sum a b - a_zero sum b - b_zero (sum a - k a_zero) */
static __attribute__((noinline)) void store_whole(const gemm_int8_block *g, const int32_t *sums, int64_t rows,
                                                  int64_t columns) {
  typedef uint32_t wrapping __attribute__((vector_size(sizeof(simd_i32))));
  const mslite_integer_operands *operands = g->operands;
  whole_numbers numbers;
  set_whole_numbers(g, columns, &numbers);
  for (int64_t r = 0; r < rows; ++r, sums += GEMM_INT8_COLUMNS) {
    const int64_t a_zero_at = mslite_integer_row(operands, g->row + r);
    const int32_t a_zero = mslite_flipped_at(g->inputs[MSLITE_A_ZERO], a_zero_at, operands->a_flip) + DOT_OFFSET;
    float row_scale = 1.0F;
    if (operands->has_row_scale != 0) row_scale = ((const float *)g->inputs[MSLITE_ROW_SCALE])[a_zero_at];
    const simd_f32 of_row = simd_set(row_scale);
    uint32_t rest = 0;
    if (g->row_sums != NULL) rest = (uint32_t)g->row_sums[r] - (uint32_t)g->k * (uint32_t)a_zero;
    simd_i32 result[GEMM_INT8_VECTORS];
    for (int32_t v = 0; v < GEMM_INT8_VECTORS; ++v) {
      const int32_t at = v * SIMD_WIDTH;
      wrapping whole = (wrapping)simd_load_i32(sums + at);
      whole -= (wrapping)simd_set_i32(a_zero) * (wrapping)simd_load_i32(g->column_sums + at);
      whole -= (wrapping)simd_set_i32((int32_t)rest) * (wrapping)simd_load_i32(numbers.zero + at);
      simd_i32 sum = (simd_i32)whole;
      if (operands->scales > 0) {
        const simd_f32 scale = simd_load(numbers.scale + at), whole_sum = simd_from_i32(sum);
        const simd_f32 real = operands->scales_apart != 0 ? whole_sum * scale * of_row : whole_sum * (scale * of_row);
        sum = simd_as_i32(real + simd_load(numbers.bias + at));
      }
      result[v] = sum;
    }
    memcpy(g->y + r * g->y_step, result, (size_t)columns * sizeof(int32_t));
  }
}

/* Returns whether results are rounded once, half to even, and nothing is subtracted from their sums. */
static bool rounds_even(const gemm_int8_block *g) {
  return g->operands == NULL && g->scale == NULL && g->row_sums == NULL && g->shift[0] == MSLITE_SHIFT_TO_EVEN;
}

static __attribute__((noinline)) void store(const gemm_int8_block *g, const panel_numbers *numbers, const int32_t *sums,
                                            int64_t rows, int64_t columns) {
  if (g->operands != NULL) {
    store_whole(g, sums, rows, columns);
  } else if (g->scale != NULL) {
    store_real(g, numbers, sums, rows, columns);
  } else if (g->shift[0] == MSLITE_SHIFT_TO_EVEN) {
    if (g->row_sums != NULL) {
      store_fixed(g, numbers, sums, rows, columns, true, true);
    } else {
#if SIMD_WIDTH == 16 && !SIMD_EMULATED
      store_even(g, numbers, sums, rows, columns);
#else
      store_fixed(g, numbers, sums, rows, columns, false, true);
#endif
    }
  } else if (g->row_sums != NULL) {
    store_fixed(g, numbers, sums, rows, columns, true, false);
  } else {
    store_fixed(g, numbers, sums, rows, columns, false, false);
  }
}

#endif
