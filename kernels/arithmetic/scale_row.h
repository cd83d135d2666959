/* y = x * scale + offset for one row. Include it in `_vector.c` files only. */
#ifndef MSLITE_SCALE_ROW_H
#define MSLITE_SCALE_ROW_H

#include "simd/simd.h"

/* The step is 1, or 0 if one scale and one offset apply to the whole row. */
static inline void scale_row(const simd_real *x, const float *scale, const float *offset, int64_t step, simd_real *y,
                             int64_t n) {
  int64_t i = 0;
  if (step == 0) {
    const simd_f32 s = simd_set(*scale), o = simd_set(*offset);
    for (; i + SIMD_WIDTH <= n; i += SIMD_WIDTH) simd_store(y + i, simd_fma(simd_load(x + i), s, o));
    const int32_t rest = (int32_t)(n - i);
    if (rest > 0) simd_store_partial(y + i, simd_fma(simd_load_partial(x + i, rest), s, o), rest);
    return;
  }
  for (; i + SIMD_WIDTH <= n; i += SIMD_WIDTH)
    simd_store(y + i, simd_fma(simd_load(x + i), simd_load_f32(scale + i), simd_load_f32(offset + i)));
  const int32_t rest = (int32_t)(n - i);
  if (rest > 0) {
    const simd_f32 s = simd_load_partial_f32(scale + i, rest), o = simd_load_partial_f32(offset + i, rest);
    simd_store_partial(y + i, simd_fma(simd_load_partial(x + i, rest), s, o), rest);
  }
}

#endif
