/* Floats rounded to small integers, without libm. */
#ifndef MSLITE_NEAREST_MICRO_H
#define MSLITE_NEAREST_MICRO_H

#include "simd/micro.h"

/* Beyond 17 bits the result is limited anyway; NaN counts as 0. */
MICRO_INLINE float micro_bounded(float v) {
  if (!(v > -131072.0F)) v = v < 0.0F ? -131072.0F : 0.0F;
  return v < 131072.0F ? v : 131072.0F;
}

/* Half away from zero. The largest number below one half: one half itself would carry the number below it up. */
MICRO_INLINE int32_t micro_nearest(float v) { return (int32_t)(v + (v < 0.0F ? -0.49999997F : 0.49999997F)); }

#endif
