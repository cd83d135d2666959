/* Converts any float32 to an integer. */
#ifndef MSLITE_WHOLE_H
#define MSLITE_WHOLE_H

#include <stdint.h>

/* Truncates the value; beyond 2^40 returns 2^40 with its sign, for NaN 0, because their conversions are undefined in
 * C. */
static inline int64_t mslite_truncate(float value) {
  const float most = 1099511627776.0f;
  if (value >= most) return (int64_t)1 << 40;
  if (value <= -most) return -((int64_t)1 << 40);
  return value > -most && value < most ? (int64_t)value : 0;
}

#endif
