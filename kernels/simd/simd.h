/* Vectors of float and int32: one interface over all instruction sets, written in GCC/Clang vector extensions.
 *
 * A file that includes this ends in `_vector.c` (or, with simd/dot.h, in `_dot.c`) and is compiled once per
 * instruction set, given by MSLITE_ISA. SIMD_WIDTH is the number of lanes (1 in the scalar build, where a vector is
 * a scalar). Every external name in such a file is defined with MSLITE_ISA_NAME. */
#ifndef MSLITE_SIMD_H
#define MSLITE_SIMD_H

#include <stdint.h>
#include <string.h>

#include "simd/names.h"

#define scalar 0
#define avx2 1
#define avx512 2
#define vnni 3
#define avx512_emulated 2
#define vnni_emulated 3
#define neon 8
#define neon_dot 9
#define neon_fp16 10
#define neon_i8mm 11
#define micro 16
#define dsp 17
#define mve 18
enum { MSLITE_THIS_ISA = MSLITE_ISA };
#if MSLITE_ISA == 0 || MSLITE_ISA >= micro /* float functions on microcontrollers use one lane */
#define SIMD_WIDTH 1
#elif MSLITE_ISA == 1
#define SIMD_WIDTH 8
#elif MSLITE_ISA == 2 || MSLITE_ISA == 3
#define SIMD_WIDTH 16
#else
#define SIMD_WIDTH 4
#endif
#if MSLITE_ISA == vnni || MSLITE_ISA == neon_dot || MSLITE_ISA == neon_i8mm
#define SIMD_DOT 1 /* sums of four 8-bit products in one instruction */
#else
#define SIMD_DOT 0
#endif
#ifndef SIMD_ASSEMBLY
#define SIMD_ASSEMBLY 0 /* 1: use assembly for inner loops on 64-bit ARM if available */
#endif
#if MSLITE_ISA == neon_i8mm
#define SIMD_MATRIX 1 /* products of two rows of eight with two columns in one instruction */
#else
#define SIMD_MATRIX 0
#endif
#ifndef SIMD_EMULATED
#define SIMD_EMULATED 0 /* 1: no x86 intrinsics; for tests of instruction sets that the machine does not have */
#endif
#undef scalar
#undef avx2
#undef avx512
#undef vnni
#undef avx512_emulated
#undef vnni_emulated
#undef neon_dot
#if MSLITE_ISA == neon_fp16
#define SIMD_HALF 1 /* activations are float16 */
#else
#define SIMD_HALF 0
#endif
#undef neon
#undef neon_fp16
#undef neon_i8mm
#undef micro
#undef dsp
#undef mve

#if SIMD_WIDTH == 1
typedef float simd_f32;
typedef int32_t simd_i32;
#else
typedef float simd_f32 __attribute__((vector_size(SIMD_WIDTH * 4)));
typedef int32_t simd_i32 __attribute__((vector_size(SIMD_WIDTH * 4)));
#endif

#if SIMD_WIDTH >= 8
#include <immintrin.h>
#elif SIMD_WIDTH == 4 && defined(__ARM_NEON)
#include <arm_neon.h>
#endif

/* The number of vector registers. */
#if SIMD_WIDTH == 8 || (SIMD_WIDTH == 4 && defined(__arm__))
enum { SIMD_REGISTERS = 16 };
#else
enum { SIMD_REGISTERS = 32 };
#endif

/* Unrolls a loop with constant bounds, so that its vectors stay in registers. clang supports gcc's pragma from 19
 * on, and treats "unroll" as a hint; this pragma is applied before arrays are promoted to registers. */
#ifdef __clang__
#define SIMD_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SIMD_UNROLL _Pragma("GCC unroll 64")
#endif

/* Adjacent vectors of an operand to load together if registers are few: gcc joins only loads that are adjacent in
 * the code; clang also others, and would then need another register. */
#ifdef __clang__
enum { SIMD_LOADS = 1 };
#else
enum { SIMD_LOADS = 2 };
#endif

#define SIMD_INLINE static inline __attribute__((always_inline, unused))

/* A float in the type of stored activations, for simd_load, simd_store and related functions. Data that is always
 * float32 (constants, sums) is loaded with simd_load_f32 and related functions. */
#if SIMD_HALF
typedef float16_t simd_real;
#define SIMD_REAL_TYPE MSLITE_FLOAT16
#else
typedef float simd_real;
#define SIMD_REAL_TYPE MSLITE_FLOAT32
#endif

SIMD_INLINE simd_f32 simd_load_f32(const float *p) {
  simd_f32 v;
  memcpy(&v, p, sizeof v);
  return v;
}

SIMD_INLINE void simd_store_f32(float *p, simd_f32 v) { memcpy(p, &v, sizeof v); }

#if SIMD_HALF
SIMD_INLINE simd_f32 simd_load(const simd_real *p) { return (simd_f32)vcvt_f32_f16(vld1_f16(p)); }
SIMD_INLINE void simd_store(simd_real *p, simd_f32 v) { vst1_f16(p, vcvt_f16_f32((float32x4_t)v)); }
#else
SIMD_INLINE simd_f32 simd_load(const simd_real *p) { return simd_load_f32(p); }
SIMD_INLINE void simd_store(simd_real *p, simd_f32 v) { simd_store_f32(p, v); }
#endif

/* Loads SIMD_LOADS adjacent vectors. */
SIMD_INLINE void simd_load_several(const float *p, simd_f32 *v) {
#if SIMD_WIDTH == 4 && defined(__arm__) && !defined(__clang__)
  float32x4x2_t pair; /* one instruction, which gcc does not generate */
  __asm__("vld1.32 %h0, [%1]" : "=w"(pair) : "r"(p), "m"(*(const float(*)[2 * SIMD_WIDTH])(const void *)p));
  v[0] = (simd_f32)pair.val[0];
  v[1] = (simd_f32)pair.val[1];
#else
  SIMD_UNROLL for (int32_t i = 0; i < SIMD_LOADS; ++i) v[i] = simd_load_f32(p + i * SIMD_WIDTH);
#endif
}

SIMD_INLINE simd_i32 simd_load_i32(const int32_t *p) {
  simd_i32 v;
  memcpy(&v, p, sizeof v);
  return v;
}

SIMD_INLINE void simd_store_i32(int32_t *p, simd_i32 v) { memcpy(p, &v, sizeof v); }

/* Load the first `count` lanes from memory, the others zero; and store `count` lanes. Instruction sets with masks
 * need one instruction, others a copy. */
#if SIMD_WIDTH == 16 && !SIMD_EMULATED
SIMD_INLINE __mmask16 simd_first_lanes(int32_t count) { return (__mmask16)((1U << count) - 1); }

SIMD_INLINE simd_f32 simd_load_partial_f32(const float *p, int32_t count) {
  return (simd_f32)_mm512_maskz_loadu_ps(simd_first_lanes(count), p);
}

SIMD_INLINE void simd_store_partial_f32(float *p, simd_f32 v, int32_t count) {
  _mm512_mask_storeu_ps(p, simd_first_lanes(count), (__m512)v);
}
#elif SIMD_WIDTH == 8 && !SIMD_EMULATED
SIMD_INLINE __m256i simd_first_lanes(int32_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

SIMD_INLINE simd_f32 simd_load_partial_f32(const float *p, int32_t count) {
  return (simd_f32)_mm256_maskload_ps(p, simd_first_lanes(count));
}

SIMD_INLINE void simd_store_partial_f32(float *p, simd_f32 v, int32_t count) {
  _mm256_maskstore_ps(p, simd_first_lanes(count), (__m256)v);
}
#elif SIMD_WIDTH == 4
SIMD_INLINE simd_f32 simd_load_partial_f32(const float *p, int32_t count) {
  simd_f32 v = {0};
  if (count & 4) return simd_load_f32(p);
  if (count & 2) {
    memcpy(&v, p, 2 * sizeof *p);
    if (count & 1) v[2] = p[2];
  } else if (count & 1) {
    v[0] = p[0];
  }
  return v;
}

SIMD_INLINE void simd_store_partial_f32(float *p, simd_f32 v, int32_t count) {
  if (count & 4) {
    simd_store_f32(p, v);
  } else if (count & 2) {
    memcpy(p, &v, 2 * sizeof *p);
    if (count & 1) p[2] = v[2];
  } else if (count & 1) {
    p[0] = v[0];
  }
}
#else
SIMD_INLINE simd_f32 simd_load_partial_f32(const float *p, int32_t count) {
  simd_f32 v = {0};
  memcpy(&v, p, (size_t)count * sizeof *p);
  return v;
}

SIMD_INLINE void simd_store_partial_f32(float *p, simd_f32 v, int32_t count) {
  memcpy(p, &v, (size_t)count * sizeof *p);
}
#endif

#if SIMD_HALF
SIMD_INLINE simd_f32 simd_load_partial(const simd_real *p, int32_t count) {
  simd_real lanes[SIMD_WIDTH] = {0};
  memcpy(lanes, p, (size_t)count * sizeof *p);
  return simd_load(lanes);
}

SIMD_INLINE void simd_store_partial(simd_real *p, simd_f32 v, int32_t count) {
  simd_real lanes[SIMD_WIDTH];
  simd_store(lanes, v);
  memcpy(p, lanes, (size_t)count * sizeof *p);
}
#else
SIMD_INLINE simd_f32 simd_load_partial(const simd_real *p, int32_t count) { return simd_load_partial_f32(p, count); }
SIMD_INLINE void simd_store_partial(simd_real *p, simd_f32 v, int32_t count) { simd_store_partial_f32(p, v, count); }
#endif

/* As simd_load_partial, if `count` is mostly SIMD_WIDTH: a whole vector then needs one instruction. */
SIMD_INLINE simd_f32 simd_load_lanes(const simd_real *p, int32_t count) {
  return count == SIMD_WIDTH ? simd_load(p) : simd_load_partial(p, count);
}

SIMD_INLINE simd_f32 simd_load_lanes_f32(const float *p, int32_t count) {
  return count == SIMD_WIDTH ? simd_load_f32(p) : simd_load_partial_f32(p, count);
}

SIMD_INLINE void simd_store_lanes_f32(float *p, simd_f32 v, int32_t count) {
  if (count == SIMD_WIDTH)
    simd_store_f32(p, v);
  else
    simd_store_partial_f32(p, v, count);
}

SIMD_INLINE void simd_store_lanes(simd_real *p, simd_f32 v, int32_t count) {
  if (count == SIMD_WIDTH)
    simd_store(p, v);
  else
    simd_store_partial(p, v, count);
}

#if SIMD_WIDTH == 1
SIMD_INLINE simd_f32 simd_set(float x) { return x; }
SIMD_INLINE simd_i32 simd_set_i32(int32_t x) { return x; }
/* Compares a < b per lane: all bits set or none. */
SIMD_INLINE simd_i32 simd_less(simd_f32 a, simd_f32 b) { return -(int32_t)(a < b); }
SIMD_INLINE simd_i32 simd_less_equal(simd_f32 a, simd_f32 b) { return -(int32_t)(a <= b); }
SIMD_INLINE simd_i32 simd_equal(simd_f32 a, simd_f32 b) { return -(int32_t)(a == b); }
SIMD_INLINE simd_i32 simd_equal_i32(simd_i32 a, simd_i32 b) { return -(int32_t)(a == b); }
SIMD_INLINE simd_i32 simd_round_to_i32(simd_f32 x) { return (int32_t)(x + (x < 0 ? -0.5f : 0.5f)); }
SIMD_INLINE simd_f32 simd_from_i32(simd_i32 x) { return (float)x; }
SIMD_INLINE simd_f32 simd_fma(simd_f32 a, simd_f32 b, simd_f32 c) { return a * b + c; }
#else
SIMD_INLINE simd_f32 simd_set(float x) { return x - (simd_f32){0}; }
SIMD_INLINE simd_i32 simd_set_i32(int32_t x) { return x - (simd_i32){0}; }
SIMD_INLINE simd_i32 simd_less(simd_f32 a, simd_f32 b) { return a < b; }
SIMD_INLINE simd_i32 simd_less_equal(simd_f32 a, simd_f32 b) { return a <= b; }
SIMD_INLINE simd_i32 simd_equal(simd_f32 a, simd_f32 b) { return a == b; }
SIMD_INLINE simd_i32 simd_equal_i32(simd_i32 a, simd_i32 b) { return a == b; }
SIMD_INLINE simd_f32 simd_from_i32(simd_i32 x) { return __builtin_convertvector(x, simd_f32); }
SIMD_INLINE simd_f32 simd_fma(simd_f32 a, simd_f32 b, simd_f32 c) {
#if SIMD_WIDTH == 8 && !SIMD_EMULATED
  return (simd_f32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif SIMD_WIDTH == 16 && !SIMD_EMULATED
  return (simd_f32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif SIMD_WIDTH == 4 && defined(__arm__)
  /* Rounded twice: Armv7's fused instruction does not support lanes, and older processors do not have it. */
  return (simd_f32)vmlaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#elif SIMD_WIDTH == 4 && defined(__ARM_NEON)
  return (simd_f32)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
  for (int i = 0; i < SIMD_WIDTH; ++i) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return c;
#endif
}
#endif

/* Adjacent elements per load, limited so that a lane of each row fits in a register: Armv7 has half as many
 * registers. */
#if SIMD_WIDTH == 4 && defined(__arm__)
enum { SIMD_FACTORS = 2 };
typedef float32x2_t simd_factors;
SIMD_INLINE simd_factors simd_load_factors(const float *p) { return vld1_f32(p); }
#else
enum { SIMD_FACTORS = SIMD_WIDTH == 4 ? 4 : 1 };
typedef simd_f32 simd_factors;
SIMD_INLINE simd_factors simd_load_factors(const float *p) { return simd_load_f32(p); }
#endif

/* simd_fma with one lane of `a` for all of b; `lane` is a constant when this is inlined. */
SIMD_INLINE simd_f32 simd_fma_lane(simd_factors a, const int lane, simd_f32 b, simd_f32 c) {
#if SIMD_WIDTH == 1
  (void)lane;
  return simd_fma(a, b, c);
#elif SIMD_WIDTH == 4 && defined(__aarch64__) && !defined(__clang__)
  /* gcc copies a lane that several products share to another register. */
  __asm__("fmla %0.4s, %1.4s, %2.s[%3]" : "+w"(c) : "w"(b), "w"(a), "i"(lane));
  return c;
#elif SIMD_WIDTH == 4 && defined(__arm__) && !defined(__clang__)
  return (simd_f32)vmlaq_lane_f32((float32x4_t)c, (float32x4_t)b, a, lane);
#else
  return simd_fma(simd_set(a[lane]), b, c);
#endif
}

SIMD_INLINE simd_i32 simd_as_i32(simd_f32 x) {
  simd_i32 r;
  memcpy(&r, &x, sizeof r);
  return r;
}

SIMD_INLINE simd_f32 simd_as_f32(simd_i32 x) {
  simd_f32 r;
  memcpy(&r, &x, sizeof r);
  return r;
}

/* mask ? a : b, with all ones or zeros in each lane of the mask. */
#if SIMD_WIDTH == 8 && !SIMD_EMULATED
SIMD_INLINE simd_f32 simd_select(simd_i32 mask, simd_f32 a, simd_f32 b) {
  return (simd_f32)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)mask);
}
#elif SIMD_WIDTH == 16 && !SIMD_EMULATED
SIMD_INLINE simd_f32 simd_select(simd_i32 mask, simd_f32 a, simd_f32 b) {
  return (simd_f32)_mm512_mask_blend_ps(_mm512_movepi32_mask((__m512i)mask), (__m512)b, (__m512)a);
}
#elif SIMD_WIDTH == 4 && defined(__ARM_NEON)
SIMD_INLINE simd_f32 simd_select(simd_i32 mask, simd_f32 a, simd_f32 b) {
  return (simd_f32)vbslq_f32((uint32x4_t)mask, (float32x4_t)a, (float32x4_t)b);
}
#else
SIMD_INLINE simd_f32 simd_select(simd_i32 mask, simd_f32 a, simd_f32 b) {
  return simd_as_f32((simd_as_i32(a) & mask) | (simd_as_i32(b) & ~mask));
}
#endif

/* a < b ? b : a and b < a ? b : a, so that a NaN in `a` is kept. One instruction each; ARM's also keeps a NaN in
 * `b`, and treats +0 as larger than -0. */
#if SIMD_WIDTH == 8 && !SIMD_EMULATED
SIMD_INLINE simd_f32 simd_max(simd_f32 a, simd_f32 b) { return (simd_f32)_mm256_max_ps((__m256)b, (__m256)a); }
SIMD_INLINE simd_f32 simd_min(simd_f32 a, simd_f32 b) { return (simd_f32)_mm256_min_ps((__m256)b, (__m256)a); }
#elif SIMD_WIDTH == 16 && !SIMD_EMULATED
SIMD_INLINE simd_f32 simd_max(simd_f32 a, simd_f32 b) { return (simd_f32)_mm512_max_ps((__m512)b, (__m512)a); }
SIMD_INLINE simd_f32 simd_min(simd_f32 a, simd_f32 b) { return (simd_f32)_mm512_min_ps((__m512)b, (__m512)a); }
#elif SIMD_WIDTH == 4 && defined(__ARM_NEON)
SIMD_INLINE simd_f32 simd_max(simd_f32 a, simd_f32 b) { return (simd_f32)vmaxq_f32((float32x4_t)a, (float32x4_t)b); }
SIMD_INLINE simd_f32 simd_min(simd_f32 a, simd_f32 b) { return (simd_f32)vminq_f32((float32x4_t)a, (float32x4_t)b); }
#else
SIMD_INLINE simd_f32 simd_max(simd_f32 a, simd_f32 b) { return simd_select(simd_less(a, b), b, a); }
SIMD_INLINE simd_f32 simd_min(simd_f32 a, simd_f32 b) { return simd_select(simd_less(b, a), b, a); }
#endif

#endif
