/* A float32 and its bits. */
#ifndef MSLITE_FLOAT_BITS_H
#define MSLITE_FLOAT_BITS_H

#include <stdint.h>
#include <string.h>

static inline float mslite_float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline uint32_t mslite_bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

#endif
