/* Conversions of float16 by its bits; they round to nearest, ties to even. */
#ifndef MSLITE_HALF_H
#define MSLITE_HALF_H

#include "math/float_bits.h"

static inline float mslite_float_of_half(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000U) << 16, rest = half & 0x7fffU;
  if (rest >= 0x7c00U) return mslite_float_of_bits(sign | 0x7f800000U | (rest & 0x3ffU) << 13);
  /* The bits as a float are too small by 2^112; the multiplication also handles subnormal numbers. */
  return mslite_float_of_bits(sign | mslite_bits_of_float(mslite_float_of_bits(rest << 13) * 5.192296858534828e33F));
}

static inline uint16_t mslite_half_of_float(float value) {
  const uint32_t bits = mslite_bits_of_float(value), sign = bits >> 16 & 0x8000U, rest = bits & 0x7fffffffU;
  if (rest > 0x7f800000U) return (uint16_t)(sign | 0x7e00U | (rest >> 13 & 0x3ffU));
  if (rest >= 0x477ff000U) return (uint16_t)(sign | 0x7c00U);
  if (rest < 0x38800000U) {
    /* Below 2^-14: adding 0.5 leaves the rounded result in the low bits of the sum. */
    const float shifted = mslite_float_of_bits(rest) + 0.5F;
    return (uint16_t)(sign | (mslite_bits_of_float(shifted) - 0x3f000000U));
  }
  return (uint16_t)(sign | (rest - 0x38000000U + 0xfffU + (rest >> 13 & 1U)) >> 13);
}

static inline float mslite_float_of_bfloat(uint16_t value) { return mslite_float_of_bits((uint32_t)value << 16); }

static inline uint16_t mslite_bfloat_of_float(float value) {
  const uint32_t bits = mslite_bits_of_float(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return (uint16_t)(bits >> 16 | 0x40U);
  return (uint16_t)((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

#endif
