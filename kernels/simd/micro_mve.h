/* Vector operations of Helium: 16 integers of 8 bits, or 4 of 32. Without Helium, instructions are replaced by
 * equivalent C. */
#ifndef MSLITE_MICRO_MVE_H
#define MSLITE_MICRO_MVE_H

#include "simd/micro.h"

#if defined(__ARM_FEATURE_MVE)
#include <arm_mve.h>

typedef int8x16_t micro_i8x16;
typedef int32x4_t micro_i32x4;

MICRO_INLINE micro_i8x16 micro_load_i8x16(const int8_t *from) { return vldrbq_s8(from); }
MICRO_INLINE void micro_store_i8x16(int8_t *to, micro_i8x16 v) { vstrbq_s8(to, v); }
/* Loads the first `count` lanes; the others are zero. */
MICRO_INLINE micro_i8x16 micro_load_first_i8x16(const int8_t *from, int32_t count) {
  return vldrbq_z_s8(from, vctp8q((uint32_t)count));
}
MICRO_INLINE void micro_store_first_i8x16(int8_t *to, micro_i8x16 v, int32_t count) {
  vstrbq_p_s8(to, v, vctp8q((uint32_t)count));
}
MICRO_INLINE micro_i8x16 micro_set_i8x16(int32_t value) { return vdupq_n_s8((int8_t)value); }
/* sum + the products of all lanes, with wraparound. */
MICRO_INLINE int32_t micro_add_products(int32_t sum, micro_i8x16 a, micro_i8x16 b) { return vmladavaq_s8(sum, a, b); }

MICRO_INLINE micro_i8x16 micro_min_i8x16(micro_i8x16 a, micro_i8x16 b) { return vminq_s8(a, b); }
MICRO_INLINE micro_i8x16 micro_max_i8x16(micro_i8x16 a, micro_i8x16 b) { return vmaxq_s8(a, b); }

MICRO_INLINE micro_i32x4 micro_load_i32x4(const int32_t *from) { return vldrwq_s32(from); }
MICRO_INLINE micro_i32x4 micro_load_first_i32x4(const int32_t *from, int32_t count) {
  return vldrwq_z_s32(from, vctp32q((uint32_t)count));
}
/* Load four bytes, or the first `count` of them, sign-extended; the others are zero. */
MICRO_INLINE micro_i32x4 micro_load_bytes(const int8_t *from) { return vldrbq_s32(from); }
MICRO_INLINE micro_i32x4 micro_load_first_bytes(const int8_t *from, int32_t count) {
  return vldrbq_z_s32(from, vctp32q((uint32_t)count));
}
/* Store the low bytes of the lanes, or of the first `count` of them. */
MICRO_INLINE void micro_store_bytes(int8_t *to, micro_i32x4 v) { vstrbq_s32(to, v); }
MICRO_INLINE void micro_store_first_bytes(int8_t *to, micro_i32x4 v, int32_t count) {
  vstrbq_p_s32(to, v, vctp32q((uint32_t)count));
}
MICRO_INLINE micro_i32x4 micro_make_i32x4(int32_t a, int32_t b, int32_t c, int32_t d) {
  int32x4_t v;
  __asm__(
      "vmov %q0[2], %q0[0], %1, %3\n\t"
      "vmov %q0[3], %q0[1], %2, %4"
      : "=w"(v)
      : "r"(a), "r"(b), "r"(c), "r"(d));
  return v;
}
MICRO_INLINE micro_i32x4 micro_add_i32x4(micro_i32x4 a, micro_i32x4 b) { return vaddq_s32(a, b); }
MICRO_INLINE micro_i32x4 micro_multiply_i32x4(micro_i32x4 a, micro_i32x4 b) { return vmulq_s32(a, b); }
MICRO_INLINE micro_i32x4 micro_subtract_i32x4(micro_i32x4 a, micro_i32x4 b) { return vsubq_s32(a, b); }
/* Operations of all lanes with one scalar, with wraparound. */
MICRO_INLINE micro_i32x4 micro_add_number(micro_i32x4 a, int32_t b) { return vaddq_n_s32(a, b); }
MICRO_INLINE micro_i32x4 micro_multiply_number(micro_i32x4 a, int32_t b) { return vmulq_n_s32(a, b); }
MICRO_INLINE micro_i32x4 micro_set_i32x4(int32_t value) { return vdupq_n_s32(value); }
MICRO_INLINE micro_i32x4 micro_min_i32x4(micro_i32x4 a, micro_i32x4 b) { return vminq_s32(a, b); }
MICRO_INLINE micro_i32x4 micro_max_i32x4(micro_i32x4 a, micro_i32x4 b) { return vmaxq_s32(a, b); }

#define MICRO_DOUBLING(a, b) vqrdmulhq_s32(a, b)
#define MICRO_HIGH(a, b) vmulhq_s32(a, b)
#define MICRO_ROUNDING_SHIFT(a, b) vrshlq_s32(a, b)
#define MICRO_NOT(a) vmvnq_s32(a)
#define MICRO_AND(a, b) vandq_s32(a, b)
#define MICRO_SHIFT(a, b) vshlq_s32(a, b)
#define MICRO_SIGN(a) vshrq_n_s32(a, 31)
/* a + 2 * a * 1 / 2^32, rounded down: a, or a - 1 if a is negative. */
#define MICRO_LESS_IF_NEGATIVE(a) vqdmlahq_n_s32(a, a, 1)

#else

typedef struct {
  int8_t at[16];
} micro_i8x16;
typedef struct {
  int32_t at[4];
} micro_i32x4;

MICRO_INLINE micro_i8x16 micro_load_first_i8x16(const int8_t *from, int32_t count) {
  micro_i8x16 v = {{0}};
  memcpy(v.at, from, count < 16 ? (size_t)count : 16);
  return v;
}
MICRO_INLINE micro_i8x16 micro_load_i8x16(const int8_t *from) { return micro_load_first_i8x16(from, 16); }
MICRO_INLINE void micro_store_first_i8x16(int8_t *to, micro_i8x16 v, int32_t count) {
  memcpy(to, v.at, count < 16 ? (size_t)count : 16);
}
MICRO_INLINE void micro_store_i8x16(int8_t *to, micro_i8x16 v) { memcpy(to, v.at, 16); }
MICRO_INLINE micro_i8x16 micro_set_i8x16(int32_t value) {
  micro_i8x16 v;
  memset(v.at, value, 16);
  return v;
}
MICRO_INLINE int32_t micro_add_products(int32_t sum, micro_i8x16 a, micro_i8x16 b) {
  uint32_t total = (uint32_t)sum;
  for (int32_t i = 0; i < 16; ++i) total += (uint32_t)(a.at[i] * b.at[i]);
  return (int32_t)total;
}

MICRO_INLINE micro_i32x4 micro_load_first_i32x4(const int32_t *from, int32_t count) {
  micro_i32x4 v = {{0}};
  memcpy(v.at, from, (count < 4 ? (size_t)count : 4) * sizeof *from);
  return v;
}
MICRO_INLINE micro_i32x4 micro_load_i32x4(const int32_t *from) { return micro_load_first_i32x4(from, 4); }
MICRO_INLINE micro_i32x4 micro_load_first_bytes(const int8_t *from, int32_t count) {
  micro_i32x4 v = {{0}};
  for (int32_t i = 0; i < 4 && i < count; ++i) v.at[i] = from[i];
  return v;
}
MICRO_INLINE micro_i32x4 micro_load_bytes(const int8_t *from) { return micro_load_first_bytes(from, 4); }
MICRO_INLINE void micro_store_first_bytes(int8_t *to, micro_i32x4 v, int32_t count) {
  for (int32_t i = 0; i < 4 && i < count; ++i) to[i] = (int8_t)(uint8_t)(uint32_t)v.at[i];
}
MICRO_INLINE void micro_store_bytes(int8_t *to, micro_i32x4 v) { micro_store_first_bytes(to, v, 4); }
MICRO_INLINE micro_i32x4 micro_make_i32x4(int32_t a, int32_t b, int32_t c, int32_t d) {
  const micro_i32x4 v = {{a, b, c, d}};
  return v;
}

#define MICRO_EACH_I8(name, expression)                                \
  MICRO_INLINE micro_i8x16 name(micro_i8x16 left, micro_i8x16 right) { \
    for (int32_t i = 0; i < 16; ++i) {                                 \
      const int8_t a = left.at[i], b = right.at[i];                    \
      left.at[i] = expression;                                         \
    }                                                                  \
    return left;                                                       \
  }
MICRO_EACH_I8(micro_min_i8x16, a < b ? a : b)
MICRO_EACH_I8(micro_max_i8x16, a < b ? b : a)
#undef MICRO_EACH_I8
#define MICRO_EACH(name, expression)                                   \
  MICRO_INLINE micro_i32x4 name(micro_i32x4 left, micro_i32x4 right) { \
    micro_i32x4 v;                                                     \
    for (int32_t i = 0; i < 4; ++i) {                                  \
      const int32_t a = left.at[i], b = right.at[i];                   \
      v.at[i] = expression;                                            \
    }                                                                  \
    return v;                                                          \
  }
MICRO_EACH(micro_add_i32x4, (int32_t)((uint32_t)a + (uint32_t)b))
MICRO_EACH(micro_subtract_i32x4, (int32_t)((uint32_t)a - (uint32_t)b))
MICRO_EACH(micro_multiply_i32x4, (int32_t)((uint32_t)a *(uint32_t)b))
MICRO_EACH(micro_min_i32x4, a < b ? a : b)
MICRO_EACH(micro_max_i32x4, a < b ? b : a)
/* VQRDMULH, VMULH, VRSHL (by -b: b in [-31, 0]), VMVN, VSHR by 31. */
MICRO_EACH(micro_emulated_doubling,
           a == INT32_MIN && b == INT32_MIN ? INT32_MAX : (int32_t)((2 * (int64_t)a * b + ((int64_t)1 << 31)) >> 32))
MICRO_EACH(micro_emulated_high, micro_high_product(a, b))
MICRO_EACH(micro_emulated_shift, b == 0 ? a : (int32_t)(((int64_t)a + ((int64_t)1 << (-b - 1))) >> -b))
MICRO_EACH(micro_emulated_and, a &b)
MICRO_EACH(micro_emulated_left, mslite_shift_left(a, b))
MICRO_EACH(micro_emulated_not, ~a + 0 * b)
MICRO_EACH(micro_emulated_sign, (a >> 31) + 0 * b)
#undef MICRO_EACH
MICRO_INLINE micro_i32x4 micro_set_i32x4(int32_t value) { return micro_make_i32x4(value, value, value, value); }
MICRO_INLINE micro_i32x4 micro_add_number(micro_i32x4 a, int32_t b) { return micro_add_i32x4(a, micro_set_i32x4(b)); }
MICRO_INLINE micro_i32x4 micro_multiply_number(micro_i32x4 a, int32_t b) {
  return micro_multiply_i32x4(a, micro_set_i32x4(b));
}

#define MICRO_DOUBLING(a, b) micro_emulated_doubling(a, b)
#define MICRO_HIGH(a, b) micro_emulated_high(a, b)
#define MICRO_ROUNDING_SHIFT(a, b) micro_emulated_shift(a, b)
#define MICRO_NOT(a) micro_emulated_not(a, a)
#define MICRO_AND(a, b) micro_emulated_and(a, b)
#define MICRO_SHIFT(a, b) micro_emulated_left(a, b)
#define MICRO_SIGN(a) micro_emulated_sign(a, a)
#define MICRO_LESS_IF_NEGATIVE(a) micro_add_i32x4(a, MICRO_SIGN(a))

#endif

/* Rescales four sums; shift is that of the table of channels. Bit-identical to micro_rescale_twice: VQRDMULH is the
 * doubling high product, its sign makes the rounding shift that of the reference (see there), ~shift is -(shift +
 * 1). */
MICRO_INLINE micro_i32x4 micro_steps_twice(micro_i32x4 sums, micro_i32x4 multiplier, micro_i32x4 shift) {
  const micro_i32x4 product = MICRO_DOUBLING(sums, multiplier);
  return MICRO_ROUNDING_SHIFT(MICRO_LESS_IF_NEGATIVE(product), MICRO_NOT(shift));
}

/* As micro_steps_twice, for sums with the same multiplier and shift. */
MICRO_INLINE micro_i32x4 micro_steps_by(micro_i32x4 sums, int32_t multiplier, int32_t shift) {
#if defined(__ARM_FEATURE_MVE)
  const micro_i32x4 product = vqrdmulhq_n_s32(sums, multiplier);
  return vrshlq_n_s32(MICRO_LESS_IF_NEGATIVE(product), -1 - shift);
#else
  return micro_steps_twice(sums, micro_set_i32x4(multiplier), micro_set_i32x4(shift));
#endif
}

MICRO_INLINE micro_i32x4 micro_steps_once(micro_i32x4 sums, micro_i32x4 multiplier, micro_i32x4 shift) {
  return MICRO_ROUNDING_SHIFT(MICRO_HIGH(sums, multiplier), MICRO_NOT(shift));
}

/* As micro_steps_twice, for MICRO_ROUNDS_WIDE, without clamping: shifts are those of mslite_multiplier, in both
 * directions. */
MICRO_INLINE micro_i32x4 micro_steps_wide(micro_i32x4 sums, micro_i32x4 multiplier, micro_i32x4 shift) {
  const micro_i32x4 none = micro_set_i32x4(0), right = micro_min_i32x4(shift, none);
  const micro_i32x4 product = MICRO_DOUBLING(MICRO_SHIFT(sums, micro_max_i32x4(shift, none)), multiplier);
  /* The sign is only used for shifts to the right. */
  return MICRO_ROUNDING_SHIFT(micro_add_i32x4(product, MICRO_SIGN(MICRO_AND(product, right))), right);
}

/* As micro_steps_twice, with micro_rescale_other or micro_steps_wide. */
#define micro_steps_other MSLITE_ISA_NAME(mslite_micro_steps_other)
micro_i32x4 micro_steps_other(micro_i32x4 sums, micro_i32x4 multiplier, micro_i32x4 shift, int32_t rounding,
                              int32_t nudge);

#endif
