/* The one-dimensional transforms of Winograd's F(2, 3) and F(4, 3), on vectors of channels. See convolution/winograd.h.
 */
#ifndef MSLITE_CONVOLUTION_WINOGRAD_TRANSFORM_H
#define MSLITE_CONVOLUTION_WINOGRAD_TRANSFORM_H

#include "simd/real.h"

enum { WINOGRAD_MOST_SIDE = 6 };

/* The square root of 2. */
#define WINOGRAD_ROOT 1.41421356237309505f

/* to[i * step] = B^T from[i * step]; m is a constant when this is inlined. */
SIMD_INLINE void winograd_input(const int32_t m, const real_vector *d, real_vector *t, const int32_t step) {
  if (m == 2) {
    t[0 * step] = d[0 * step] - d[2 * step];
    t[1 * step] = d[1 * step] + d[2 * step];
    t[2 * step] = d[2 * step] - d[1 * step];
    t[3 * step] = d[1 * step] - d[3 * step];
  } else {
    const real_vector half = real_set(-0.5f), two = real_set(-2.0f), both = real_set(-2.5f);
    const real_vector even = real_fma(two, d[2 * step], d[4 * step]);
    const real_vector odd = real_fma(two, d[1 * step], d[3 * step]) * real_set(WINOGRAD_ROOT / 2);
    const real_vector even_half = real_fma(half, d[2 * step], d[4 * step]);
    const real_vector odd_half = real_fma(half, d[1 * step], d[3 * step]) * real_set(WINOGRAD_ROOT);
    t[0 * step] = real_fma(both, d[2 * step], d[0 * step] + d[4 * step]);
    t[5 * step] = real_fma(both, d[3 * step], d[1 * step] + d[5 * step]);
    t[1 * step] = even + odd;
    t[2 * step] = even - odd;
    t[3 * step] = even_half + odd_half;
    t[4 * step] = even_half - odd_half;
  }
}

/* A^T: m + 2 values to m. */
SIMD_INLINE void winograd_output(const int32_t m, const real_vector *p, real_vector *y, const int32_t p_step,
                                 const int32_t y_step) {
  if (m == 2) {
    y[0 * y_step] = p[0 * p_step] + p[1 * p_step] + p[2 * p_step];
    y[1 * y_step] = p[1 * p_step] - p[2 * p_step] - p[3 * p_step];
  } else {
    const real_vector sum1 = p[1 * p_step] + p[2 * p_step], difference1 = p[1 * p_step] - p[2 * p_step];
    const real_vector sum2 = p[3 * p_step] + p[4 * p_step], difference2 = p[3 * p_step] - p[4 * p_step];
    y[0 * y_step] = p[0 * p_step] + sum1 + sum2;
    y[1 * y_step] = real_fma(difference2, real_set(WINOGRAD_ROOT), difference1 * real_set(WINOGRAD_ROOT / 2));
    y[2 * y_step] = real_fma(real_set(2.0f), sum2, sum1 * real_set(0.5f));
    y[3 * y_step] = real_fma(difference2, real_set(2 * WINOGRAD_ROOT),
                             real_fma(difference1, real_set(WINOGRAD_ROOT / 4), p[5 * p_step]));
  }
}

#endif
