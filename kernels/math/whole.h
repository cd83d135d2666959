/* Whole numbers of a float32 that may be anything. */
#ifndef MSLITE_WHOLE_H
#define MSLITE_WHOLE_H

#include <stdint.h>

/* The number without its fraction; 2^40 with its sign beyond that, 0 for NaN, whose conversions have no meaning in C.
 */
static inline int64_t mslite_whole(float value) {
  const float most = 1099511627776.0f;
  if (value >= most) return (int64_t)1 << 40;
  if (value <= -most) return -((int64_t)1 << 40);
  return value > -most && value < most ? (int64_t)value : 0;
}

#endif
