/* Integer operations for the kernels of generated C on microcontrollers: one interface over three kinds of
 * processors:
 *
 *   micro  plain C: any 32-bit processor (Cortex-M0+, M3)
 *   dsp    two 16-bit products at a time: SMLAD, SXTB16 (Cortex-M4, M7, M33)
 *   mve    Helium: sixteen 8-bit products at a time (Cortex-M55, M85); see simd/micro_mve.h
 *
 * A file that includes this ends in `_micro.c` and is compiled once per kind, given by MSLITE_ISA: on the host,
 * where instructions are replaced by equivalent C, and in the generated project. Every external name is defined with
 * MSLITE_ISA_NAME.
 *
 * Conventions of these kernels:
 * - Packed weights begin with a table of the channels' parameters (math/channels_micro.h): biases, which include the
 *   contribution of x's zero point, so that kernels multiply stored integers directly and padding is the zero point;
 *   multipliers; shifts. Weights follow.
 * - A sum is converted to a quantized result by micro_rescale_twice (as in TensorFlow Lite's convolutions),
 *   micro_rescale_once (as in its fully connected layers), or micro_rescale_other, according to the table's
 *   micro_rounding, and then micro_requantized.
 * - Staging buffers are in the run's scratch memory, which is RAM on the target: a few pixels, not an image. */
#ifndef MSLITE_MICRO_H
#define MSLITE_MICRO_H

#include <stdint.h>
#include <string.h>

#include "math/fixed_point.h"
#include "simd/names.h"

#define micro 16
#define dsp 17
#define mve 18
enum { MSLITE_THIS_ISA = MSLITE_ISA };
#if MSLITE_ISA == 16
#define MICRO_DSP 0
#define MICRO_MVE 0
#elif MSLITE_ISA == 17
#define MICRO_DSP 1
#define MICRO_MVE 0
#else
#define MICRO_DSP 1
#define MICRO_MVE 1
#endif
#undef micro
#undef dsp
#undef mve

#if MICRO_DSP && defined(__ARM_FEATURE_DSP)
#define MICRO_DSP_INSTRUCTIONS 1
#include <arm_acle.h>
#else
#define MICRO_DSP_INSTRUCTIONS 0
#endif

#define MICRO_INLINE static inline __attribute__((always_inline, unused))
/* A function that several callers share. It is not inlined, to keep the code small. */
#define MICRO_SHARED static __attribute__((noinline, unused))

/* ---- scalars ---- */

/* Loads four integers of any alignment, the first in the lowest byte. */
MICRO_INLINE uint32_t micro_load(const int8_t *from) {
  uint32_t word;
  memcpy(&word, from, sizeof word);
  return word;
}

/* Addition and subtraction with wraparound. */
MICRO_INLINE int32_t micro_add(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
MICRO_INLINE int32_t micro_subtract(int32_t a, int32_t b) { return (int32_t)((uint32_t)a - (uint32_t)b); }

/* Returns a * b / 2^32, rounded down. */
MICRO_INLINE int32_t micro_high_product(int32_t a, int32_t b) { return (int32_t)(((int64_t)a * b) >> 32); }

/* Return a * b / 2^32, rounded half up; and value / 2, rounded down and saturated to int8. */
#if MICRO_DSP_INSTRUCTIONS
MICRO_INLINE int32_t micro_rounded_high_product(int32_t a, int32_t b) {
  int32_t result;
  __asm__("smmulr %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
MICRO_INLINE int32_t micro_limited_half(int32_t value) {
  int32_t result;
  __asm__("ssat %0, #8, %1, asr #1" : "=r"(result) : "r"(value));
  return result;
}
#else
MICRO_INLINE int32_t micro_rounded_high_product(int32_t a, int32_t b) {
  const int64_t product = (int64_t)a * b;
  return (int32_t)(product >> 32) + (int32_t)((uint32_t)product >> 31);
}
MICRO_INLINE int32_t micro_limited_half(int32_t value) { return mslite_clamp(value >> 1, -128, 127); }
#endif

MICRO_INLINE int32_t micro_limit_i8(int32_t value) { return value < -128 ? -128 : value > 127 ? 127 : value; }

#if MICRO_DSP
/* Two 16-bit integers in a word: bytes 0 and 2, and 1 and 3, of four 8-bit integers. */
#if MICRO_DSP_INSTRUCTIONS
MICRO_INLINE int32_t micro_even_pair(uint32_t four) { return __sxtb16((int32_t)four); }
MICRO_INLINE int32_t micro_odd_pair(uint32_t four) {
  int32_t result;
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(result) : "r"(four));
  return result;
}
/* sum + the products of both halves, with wraparound. */
MICRO_INLINE int32_t micro_add_pair(int32_t a, int32_t b, int32_t sum) { return __smlad(a, b, sum); }
#else
MICRO_INLINE int32_t micro_even_pair(uint32_t four) {
  const uint32_t low = (uint32_t)(int32_t)(int8_t)four, high = (uint32_t)(int32_t)(int8_t)(four >> 16);
  return (int32_t)((low & 0xFFFFU) | high << 16);
}
MICRO_INLINE int32_t micro_odd_pair(uint32_t four) { return micro_even_pair(four >> 8); }
MICRO_INLINE int32_t micro_add_pair(int32_t a, int32_t b, int32_t sum) {
  const int32_t low = (int16_t)a * (int16_t)b, high = (a >> 16) * (b >> 16);
  return (int32_t)((uint32_t)sum + (uint32_t)low + (uint32_t)high);
}
#endif
#endif

/* ---- memory ---- */

#if MICRO_MVE && defined(__ARM_FEATURE_MVE)
#include <arm_mve.h>
#endif

/* Copies `rows` rows of `count` bytes, which are `from_step` bytes apart in the source and `to_step` in the
 * destination; the buffers must not overlap. */
MICRO_SHARED void micro_copy_rows(int8_t *to, int32_t to_step, const int8_t *from, int32_t from_step, int32_t count,
                                  int32_t rows) {
  for (; rows > 0; --rows, to += to_step, from += from_step) {
    const int8_t *source = from;
    int8_t *next = to;
#if MICRO_MVE && defined(__ARM_FEATURE_MVE)
    __asm__ volatile(
        "wlstp.8 lr, %[count], 2f\n"
        "1:\n\t"
        "vldrb.8 q0, [%[source]], #16\n\t"
        "vstrb.8 q0, [%[next]], #16\n\t"
        "letp lr, 1b\n"
        "2:"
        : [source] "+r"(source), [next] "+r"(next)
        : [count] "r"(count)
        : "lr", "q0", "memory");
#else
    const int8_t *const end = from + count;
#if MICRO_DSP
    for (; end - source >= 4; next += 4, source += 4) memcpy(next, source, 4);
#endif
    while (source != end) *next++ = *source++;
#endif
  }
}

MICRO_SHARED void micro_fill(int8_t *to, int32_t value, int32_t count) {
#if MICRO_DSP
  const uint32_t word = (uint8_t)value * 0x01010101U;
  for (; count >= 4; count -= 4, to += 4) memcpy(to, &word, sizeof word);
#endif
  while (--count >= 0) *to++ = (int8_t)value;
}

/* The taps [begin, end) of an axis that are inside of `size`, if the first tap is at `first`. */
typedef struct {
  int32_t begin, end;
} micro_span;

MICRO_INLINE micro_span micro_taps_inside(int32_t first, int32_t taps, int32_t dilation, int32_t size) {
  micro_span at = {0, taps};
  while (at.begin < taps && first + at.begin * dilation < 0) ++at.begin;
  while (at.end > at.begin && first + (at.end - 1) * dilation >= size) --at.end;
  return at;
}

/* ---- conversion of sums to quantized results ---- */

/* How the sums of a layer are rounded. */
typedef enum {
  MICRO_ROUNDS_TWICE = 0, /* micro_rescale_twice */
  MICRO_ROUNDS_ONCE = 1,  /* micro_rescale_once */
  MICRO_ROUNDS_WIDE = 2,  /* micro_rescale_other: if a factor is 1/2 or more, or a sum is very large */
  MICRO_ROUNDS_EVEN = 3   /* micro_rescale_other: half to even, in float32 */
} micro_rounding;

/* Returns 2 * mslite_rescale(sum, factor) or one more; micro_requantized completes the rounding.
 *
 * Let factor = {multiplier, -right}, right = shift + 1 >= 1 and |sum| < 2^30; channels_micro.c ensures both.
 * - The doubling high product p = floor(2 * sum * multiplier / 2^32 + 1/2): mslite_doubling_high_product adds 1 -
 *   2^30 to a negative product and truncates, which is the same as adding 2^30 and rounding down. 2 * sum does not
 *   overflow, so this is one rounded high product.
 * - mslite_divide_by_power(p, right) = floor((p + 2^(right-1)) / 2^right) for p >= 0, and the same for p - 1 if p <
 *   0, because its threshold is one larger there. p + (p >> 31) is p or p - 1.
 * - floor((q + 2^(right-1)) / 2^right) = floor((floor(q / 2^(right-1)) + 1) / 2): this function shifts,
 * micro_requantized does the rest together with the zero point. */
MICRO_INLINE int32_t micro_rescale_twice(int32_t sum, int32_t multiplier, int32_t shift) {
  const int32_t product = micro_rounded_high_product(sum + sum, multiplier);
  return (product + (product >> 31)) >> shift;
}

/* As micro_rescale_twice, for sums that are rounded once: floor(sum * multiplier / 2^(32 + shift)). channels_micro.c
 * chooses the multiplier so that micro_requantized returns mslite_rescale_real's result for all possible sums. */
MICRO_INLINE int32_t micro_rescale_once(int32_t sum, int32_t multiplier, int32_t shift) {
  return micro_high_product(sum, multiplier) >> shift;
}

/* As micro_rescale_twice, for the other kinds of rounding; `shift` is that of mslite_multiplier, `nudge` as below.
 *
 * With a multiplier >= 0 the doubling high product is floor(sum * multiplier / 2^31 + 1/2) (see micro_rescale_twice)
 * for every sum, and for shift < 0 the rest is as above. */
#define micro_rescale_other MSLITE_ISA_NAME(mslite_micro_rescale_other)
int32_t micro_rescale_other(int32_t sum, int32_t multiplier, int32_t shift, int32_t rounding, int32_t nudge);

/* Returns the quantized result, not clamped by an activation. `nudge`: 2 * zero point + 1. */
MICRO_INLINE int32_t micro_requantized(int32_t twice, int32_t nudge) { return micro_limited_half(twice + nudge); }

#endif
