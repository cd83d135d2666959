/* Mean and variance of adjacent elements. Include it in `_vector.c` files only. */
#ifndef MSLITE_STATISTICS_H
#define MSLITE_STATISTICS_H

#include "math/simd_math.h"

/* Adds the lanes in double; sums of blocks of vectors are in float32. */
static inline double statistics_total(simd_f32 v) {
  float lanes[SIMD_WIDTH];
  double sum = 0;
  simd_store_f32(lanes, v);
  for (int32_t i = 0; i < SIMD_WIDTH; ++i) sum += (double)lanes[i];
  return sum;
}

/* Returns the sum of x - shift, or of its squares, over n elements. */
static inline double statistics_sum(const simd_real *x, int64_t n, float shift, bool squares) {
  enum { BLOCK = 4096 };
  const simd_f32 zero = simd_set(0.0F), offset = simd_set(shift);
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += BLOCK) {
    const int64_t end = n - begin < BLOCK ? n : begin + BLOCK;
    simd_f32 sums[4] = {zero, zero, zero, zero};
    int64_t i = begin;
    for (; i + 4 * SIMD_WIDTH <= end; i += 4 * SIMD_WIDTH)
      for (int32_t k = 0; k < 4; ++k) {
        const simd_f32 v = simd_load(x + i + k * SIMD_WIDTH) - offset;
        sums[k] = squares ? simd_fma(v, v, sums[k]) : sums[k] + v;
      }
    for (; i < end; i += SIMD_WIDTH) {
      const int32_t lanes = end - i < SIMD_WIDTH ? (int32_t)(end - i) : SIMD_WIDTH;
      const simd_f32 v = simd_load_lanes(x + i, lanes) - offset;
      float kept[SIMD_WIDTH] = {0};
      simd_store_f32(kept, squares ? v * v : v);
      sums[0] += simd_load_partial_f32(kept, lanes);
    }
    total += statistics_total((sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
  return total;
}

#endif
