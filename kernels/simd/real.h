/* Vectors in the type that activations are stored in, with the lanes of one instruction: float16 if SIMD_HALF,
 * otherwise float32. For short sums; simd/simd.h always computes in float32. */
#ifndef MSLITE_SIMD_REAL_H
#define MSLITE_SIMD_REAL_H

#include "simd/simd.h"

#if SIMD_HALF
typedef float16x8_t real_vector;
enum { REAL_LANES = 8 };
SIMD_INLINE real_vector real_load(const simd_real *p) { return vld1q_f16(p); }
SIMD_INLINE void real_store(simd_real *p, real_vector v) { vst1q_f16(p, v); }
SIMD_INLINE real_vector real_set(float x) { return vdupq_n_f16((simd_real)x); }
SIMD_INLINE real_vector real_fma(real_vector a, real_vector b, real_vector c) { return vfmaq_f16(c, a, b); }
SIMD_INLINE real_vector real_max(real_vector a, real_vector b) { return vmaxq_f16(a, b); }
SIMD_INLINE real_vector real_min(real_vector a, real_vector b) { return vminq_f16(a, b); }

SIMD_INLINE real_vector real_load_partial(const simd_real *p, int32_t count) {
  real_vector v = {0};
  memcpy(&v, p, (size_t)count * sizeof *p);
  return v;
}

SIMD_INLINE void real_store_partial(simd_real *p, real_vector v, int32_t count) {
  memcpy(p, &v, (size_t)count * sizeof *p);
}
#else
typedef simd_f32 real_vector;
enum { REAL_LANES = SIMD_WIDTH };
SIMD_INLINE real_vector real_load(const simd_real *p) { return simd_load(p); }
SIMD_INLINE void real_store(simd_real *p, real_vector v) { simd_store(p, v); }
SIMD_INLINE real_vector real_set(float x) { return simd_set(x); }
SIMD_INLINE real_vector real_fma(real_vector a, real_vector b, real_vector c) { return simd_fma(a, b, c); }
SIMD_INLINE real_vector real_max(real_vector a, real_vector b) { return simd_max(a, b); }
SIMD_INLINE real_vector real_min(real_vector a, real_vector b) { return simd_min(a, b); }
SIMD_INLINE real_vector real_load_partial(const simd_real *p, int32_t count) { return simd_load_partial(p, count); }
SIMD_INLINE void real_store_partial(simd_real *p, real_vector v, int32_t count) { simd_store_partial(p, v, count); }
#endif

SIMD_INLINE real_vector real_load_lanes(const simd_real *p, int32_t count) {
  return count == REAL_LANES ? real_load(p) : real_load_partial(p, count);
}

SIMD_INLINE void real_store_lanes(simd_real *p, real_vector v, int32_t count) {
  if (count == REAL_LANES)
    real_store(p, v);
  else
    real_store_partial(p, v, count);
}

#endif
