/* Activations that convolutions, matrix products and pooling apply to their result. */
#ifndef MSLITE_FUSED_H
#define MSLITE_FUSED_H

#include "kernel.h"

/* True for the activations that need neither a parameter nor a transcendental function. */
static inline bool mslite_is_fused_activation(int32_t type) {
  switch (type) {
    case MSLITE_ACTIVATION_TYPE_NO_ACTIVATION:
    case MSLITE_ACTIVATION_TYPE_RELU:
    case MSLITE_ACTIVATION_TYPE_RELU6:
    case MSLITE_ACTIVATION_TYPE_RELU1:
    case MSLITE_ACTIVATION_TYPE_HSWISH:
    case MSLITE_ACTIVATION_TYPE_HSIGMOID:
      return true;
    default:
      return false;
  }
}

/* As the vector form in simd/fused.h: a NaN stays a NaN. */
static inline float mslite_fused_activation(int32_t type, float x) {
  const float low = x < 0.0f ? 0.0f : x;
  switch (type) {
    case MSLITE_ACTIVATION_TYPE_RELU:
      return low;
    case MSLITE_ACTIVATION_TYPE_RELU6:
      return 6.0f < low ? 6.0f : low;
    case MSLITE_ACTIVATION_TYPE_RELU1:
      return x < -1.0f ? -1.0f : 1.0f < x ? 1.0f : x;
    case MSLITE_ACTIVATION_TYPE_HSWISH:
    case MSLITE_ACTIVATION_TYPE_HSIGMOID: {
      const float shifted = x + 3.0f;
      const float gate = (shifted < 0.0f ? 0.0f : 6.0f < shifted ? 6.0f : shifted) * (1.0f / 6.0f);
      return type == MSLITE_ACTIVATION_TYPE_HSWISH ? x * gate : gate;
    }
    default:
      return x;
  }
}

#endif
