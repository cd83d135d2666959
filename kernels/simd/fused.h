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

#endif
