/* Rounds floats to small integers, without libm. */
#ifndef MSLITE_NEAREST_MICRO_H
#define MSLITE_NEAREST_MICRO_H

#include "simd/micro.h"

/* Clamps to 17 bits, because larger results saturate anyway. NaN becomes 0. */
MICRO_INLINE float micro_bounded(float v) {
  if (!(v > -131072.0F)) v = v < 0.0F ? -131072.0F : 0.0F;
  return v < 131072.0F ? v : 131072.0F;
}

/* Rounds half away from zero. Adds the largest float below one half: one half would round the float below it up. */
MICRO_INLINE int32_t micro_nearest(float v) { return (int32_t)(v + (v < 0.0F ? -0.49999997F : 0.49999997F)); }

#endif
