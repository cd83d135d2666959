/* The vector form of convolution/fused.h. */
#ifndef MSLITE_SIMD_FUSED_H
#define MSLITE_SIMD_FUSED_H

#include <math.h>

#include "simd/simd.h"

/* `type` is one of those that mslite_is_fused_activation allows. */
SIMD_INLINE simd_f32 simd_fused_activation(int32_t type, simd_f32 x) {
  const simd_f32 zero = simd_set(0.0f), six = simd_set(6.0f);
  switch (type) {
    case MSLITE_ACTIVATION_TYPE_RELU:
      return simd_max(x, zero);
    case MSLITE_ACTIVATION_TYPE_RELU6:
      return simd_min(simd_max(x, zero), six);
    case MSLITE_ACTIVATION_TYPE_RELU1:
      return simd_min(simd_max(x, simd_set(-1.0f)), simd_set(1.0f));
    case MSLITE_ACTIVATION_TYPE_HSWISH:
    case MSLITE_ACTIVATION_TYPE_HSIGMOID: {
      const simd_f32 gate = simd_min(simd_max(x + simd_set(3.0f), zero), six) * simd_set(1.0f / 6.0f);
      return type == MSLITE_ACTIVATION_TYPE_HSWISH ? x * gate : gate;
    }
    default:
      return x;
  }
}

/* True for no activation and for those that only clamp: kernels apply them while the result is in a register. */
static inline __attribute__((unused)) bool simd_is_clamp(int32_t type) {
  return type == MSLITE_ACTIVATION_TYPE_NO_ACTIVATION || type == MSLITE_ACTIVATION_TYPE_RELU ||
         type == MSLITE_ACTIVATION_TYPE_RELU6 || type == MSLITE_ACTIVATION_TYPE_RELU1;
}

/* Applies an activation to `count` numbers in place. */
static __attribute__((noinline, unused)) void simd_activate_row(int32_t type, float *x, int64_t count) {
  int64_t i = 0;
  for (; i + SIMD_WIDTH <= count; i += SIMD_WIDTH) simd_store(x + i, simd_fused_activation(type, simd_load(x + i)));
  if (i < count) {
    const int32_t rest = (int32_t)(count - i);
    simd_store_partial(x + i, simd_fused_activation(type, simd_load_partial(x + i, rest)), rest);
  }
}

#endif
