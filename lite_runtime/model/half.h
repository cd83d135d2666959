// Conversions between float32 and IEEE 754 half precision (float16).
#ifndef MSLITE_MODEL_HALF_H
#define MSLITE_MODEL_HALF_H

#include <cstdint>
#include <cstring>

namespace mslite {
// Converts a float16 to float32, exactly.
inline float HalfToFloat(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  uint32_t exponent = (half >> 10) & 0x1fu;
  uint32_t mantissa = half & 0x3ffu;
  uint32_t bits;
  if (exponent == 0x1f) {
    bits = sign | 0x7f800000u | (mantissa << 13);
  } else if (exponent != 0) {
    bits = sign | ((exponent + 112) << 23) | (mantissa << 13);
  } else if (mantissa == 0) {
    bits = sign;
  } else {
    exponent = 113;
    while ((mantissa & 0x400u) == 0) {
      mantissa <<= 1;
      --exponent;
    }
    bits = sign | (exponent << 23) | ((mantissa & 0x3ffu) << 13);
  }
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Converts to the nearest float16, ties to even. Values that round beyond 65504 become infinite.
inline uint16_t FloatToHalf(float number) {
  uint32_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t half = 0;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u;  // NaN
  } else if (magnitude >= 0x47800000u) {
    half = 0x7c00u;  // 65536 and above
  } else if (magnitude < 0x33000000u) {
    half = 0;  // at most half of the smallest subnormal
  } else {
    const uint32_t exponent = magnitude >> 23;
    // Below 2^-14 float16 has fewer bits: values are multiples of 2^-24.
    const uint32_t lost = exponent < 113 ? 126 - exponent : 13;
    const uint32_t mantissa = exponent < 113 ? (magnitude & 0x7fffffu) | 0x800000u : magnitude - (112u << 23);
    const uint32_t rest = mantissa & ((1u << lost) - 1);
    const uint32_t middle = 1u << (lost - 1);
    half = mantissa >> lost;
    if (rest > middle || (rest == middle && (half & 1) != 0)) ++half;  // may carry into the exponent, which is correct
  }
  return static_cast<uint16_t>(sign | half);
}
}  // namespace mslite

#endif
