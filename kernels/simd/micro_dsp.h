/* Operations of the DSP extension on pairs of 16-bit integers in a word, in addition to simd/micro.h: select and
 * multiply single halves. */
#ifndef MSLITE_MICRO_DSP_H
#define MSLITE_MICRO_DSP_H

#include "simd/micro.h"

#if MICRO_DSP_INSTRUCTIONS

#define MICRO_INSTRUCTION2(name, text)                           \
  MICRO_INLINE int32_t name(int32_t a, int32_t b) {              \
    int32_t result;                                              \
    __asm__(text " %0, %1, %2" : "=r"(result) : "r"(a), "r"(b)); \
    return result;                                               \
  }
#define MICRO_INSTRUCTION3(name, text)                                         \
  MICRO_INLINE int32_t name(int32_t a, int32_t b, int32_t sum) {               \
    int32_t result;                                                            \
    __asm__(text " %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum)); \
    return result;                                                             \
  }

/* Join the low halves of a (lower) and b; the high halves of a (lower) and b; the low half of a (lower) and the high
 * half of b. */
MICRO_INLINE int32_t micro_join_low(int32_t a, int32_t b) {
  int32_t result;
  __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
MICRO_INLINE int32_t micro_join_high(int32_t a, int32_t b) {
  int32_t result;
  __asm__("pkhtb %0, %2, %1, asr #16" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
MICRO_INSTRUCTION2(micro_join_low_high, "pkhbt")

/* As micro_odd_pair, in one instruction. */
MICRO_INLINE int32_t micro_odd_bytes(uint32_t four) {
  int32_t result;
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(result) : "r"(four));
  return result;
}

/* sum + low a * high b + high a * low b; sum + the product of the halves in the name. All wrap around. */
MICRO_INSTRUCTION3(micro_add_crossed, "smladx")
MICRO_INSTRUCTION3(micro_add_low_low, "smlabb")
MICRO_INSTRUCTION3(micro_add_high_low, "smlatb")

/* Halves of sums + bytes 0 and 2 of four; + bytes 1 and 3. Each half wraps around. */
MICRO_INLINE int32_t micro_add_even_bytes(int32_t sums, uint32_t four) {
  int32_t result;
  __asm__("sxtab16 %0, %1, %2" : "=r"(result) : "r"(sums), "r"(four));
  return result;
}
MICRO_INLINE int32_t micro_add_odd_bytes(int32_t sums, uint32_t four) {
  int32_t result;
  __asm__("sxtab16 %0, %1, %2, ror #8" : "=r"(result) : "r"(sums), "r"(four));
  return result;
}
/* Returns the maximum of each pair of signed bytes. */
MICRO_INLINE uint32_t micro_most_bytes(uint32_t a, uint32_t b) {
  uint32_t result;
  __asm__(
      "ssub8 %0, %1, %2\n\t"
      "sel %0, %1, %2"
      : "=&r"(result)
      : "r"(a), "r"(b)
      : "cc");
  return result;
}

#undef MICRO_INSTRUCTION2
#undef MICRO_INSTRUCTION3

#else

MICRO_INLINE int32_t micro_low_half(int32_t pair) { return (int16_t)(uint16_t)((uint32_t)pair & 0xFFFFU); }
MICRO_INLINE int32_t micro_join_low(int32_t a, int32_t b) {
  return (int32_t)(((uint32_t)a & 0xFFFFU) | (uint32_t)b << 16);
}
MICRO_INLINE int32_t micro_join_high(int32_t a, int32_t b) { return micro_join_low(a >> 16, b >> 16); }
MICRO_INLINE int32_t micro_join_low_high(int32_t a, int32_t b) { return micro_join_low(a, b >> 16); }
MICRO_INLINE int32_t micro_odd_bytes(uint32_t four) { return micro_odd_pair(four); }
MICRO_INLINE int32_t micro_add_low_low(int32_t a, int32_t b, int32_t sum) {
  return micro_add(sum, micro_low_half(a) * micro_low_half(b));
}
MICRO_INLINE int32_t micro_add_high_low(int32_t a, int32_t b, int32_t sum) {
  return micro_add(sum, (a >> 16) * micro_low_half(b));
}
MICRO_INLINE int32_t micro_add_crossed(int32_t a, int32_t b, int32_t sum) {
  return micro_add_high_low(a, b, micro_add_high_low(b, a, sum));
}
MICRO_INLINE int32_t micro_add_even_bytes(int32_t sums, uint32_t four) {
  const int32_t pair = micro_even_pair(four);
  return micro_join_low(micro_add(sums, pair), micro_add(sums >> 16, pair >> 16));
}
MICRO_INLINE int32_t micro_add_odd_bytes(int32_t sums, uint32_t four) { return micro_add_even_bytes(sums, four >> 8); }
MICRO_INLINE uint32_t micro_most_bytes(uint32_t a, uint32_t b) {
  uint32_t most = 0;
  for (int32_t i = 0; i < 32; i += 8) most |= ((int8_t)(a >> i) < (int8_t)(b >> i) ? b : a) & 0xFFU << i;
  return most;
}

#endif

#endif
