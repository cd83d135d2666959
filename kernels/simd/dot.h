/* Dot products of 8-bit integers: one interface over all instruction sets, for operations that vector extensions do
 * not have.
 *
 * k runs in units of DOT_DEPTH adjacent elements. A unit of the left matrix is DOT_DEPTH `dot_element`s of one row,
 * broadcast; a unit of the right matrix is SIMD_WIDTH columns of DOT_DEPTH `dot_weight`s each, column by column, or
 * the first halves of DOT_WOVEN columns before their second ones. Sums are exact with 32-bit wraparound; no
 * intermediate result saturates. dot_load_stored reads weights as they are packed.
 *
 *   AVX2, AVX-512   vpmaddwd: pairs, both sides widened to 16 bits
 *   AVX-512 VNNI    vpdpbusd: fours, the left side unsigned: DOT_OFFSET is added to it
 *   NEON            smull, smlal and sadalp: fours, the left side arranged
 *   NEON dot        sdot: fours
 *   NEON i8mm       smmla: eights, two rows and two columns at a time, the left side arranged
 *
 * With DOT_ARRANGES, dot_arrange converts staged rows once to the form in which they are multiplied, instead of each
 * time that they are read.
 *
 * Files that include this end in `_dot.c` and are compiled only for these instruction sets. SIMD_EMULATED replaces
 * each instruction by equivalent C, for tests on machines that do not have it. */
#ifndef MSLITE_DOT_H
#define MSLITE_DOT_H

#include "simd/simd.h"

#if SIMD_WIDTH >= 8 && !SIMD_DOT
enum { DOT_DEPTH = 2, DOT_OFFSET = 0 };
typedef int16_t dot_element;
typedef int16_t dot_weight;
#elif SIMD_WIDTH >= 8
enum { DOT_DEPTH = 4, DOT_OFFSET = 128 };
typedef uint8_t dot_element;
typedef int8_t dot_weight;
#else
enum { DOT_DEPTH = SIMD_MATRIX ? 8 : 4, DOT_OFFSET = 0 };
typedef int8_t dot_element;
typedef int8_t dot_weight;
#endif

#if SIMD_DOT && !SIMD_MATRIX && SIMD_WIDTH == 4 && !SIMD_EMULATED
#define DOT_LANES 4 /* units of a row per load, for dot_add_lane */
#else
#define DOT_LANES 1
#endif

#if SIMD_WIDTH == 4 && (!SIMD_DOT || SIMD_MATRIX)
#define DOT_ARRANGES 1
#else
#define DOT_ARRANGES 0
#endif

#if SIMD_WIDTH == 4 && !SIMD_DOT && !SIMD_EMULATED
#define DOT_OVERFLOWS 1 /* dot_add may overflow; dot_add_apart does not */
#else
#define DOT_OVERFLOWS 0
#endif

enum {
  DOT_WIDENS = sizeof(dot_weight) > 1, /* weights are packed as int8 and widened for use */
  /* Elements that dot_load_elements and dot_arrange read and write at a time. */
  DOT_CHUNK = 16,
  DOT_WOVEN = SIMD_WIDTH == 4 && !SIMD_DOT ? 4 : 1,  /* columns */
  DOT_SPREAD = SIMD_WIDTH == 4 && !SIMD_DOT ? 4 : 1, /* elements that dot_arrange writes for each one that it reads */
  DOT_JOINED = SIMD_MATRIX ? 2 : 1,                  /* rows that dot_arrange interleaves */
  /* Elements between units of a row in the form in which it is multiplied. */
  DOT_STEP = DOT_DEPTH * DOT_SPREAD * DOT_JOINED
};

#if SIMD_EMULATED
typedef struct {
  dot_element at[DOT_STEP];
} dot_left;
typedef struct {
  dot_weight at[SIMD_WIDTH * DOT_DEPTH];
} dot_right;

SIMD_INLINE dot_left dot_broadcast(const dot_element *a) {
  dot_left v;
  memcpy(&v, a, sizeof v);
  return v;
}

SIMD_INLINE dot_right dot_load(const dot_weight *b) {
  dot_right v;
  memcpy(&v, b, sizeof v);
  return v;
}

SIMD_INLINE dot_right dot_load_stored(const int8_t *b) {
  dot_right v;
  for (int i = 0; i < SIMD_WIDTH * DOT_DEPTH; ++i) v.at[i] = b[i];
  return v;
}

SIMD_INLINE simd_i32 dot_add(simd_i32 sum, dot_left a, dot_right b) {
  for (int i = 0; i < SIMD_WIDTH * DOT_DEPTH; ++i) {
    const int32_t product = a.at[i % DOT_STEP] * b.at[i], lane = DOT_WOVEN > 1 ? i / 2 % SIMD_WIDTH : i / DOT_DEPTH;
    sum[lane] = (int32_t)((uint32_t)sum[lane] + (uint32_t)product);
  }
  return sum;
}

SIMD_INLINE void dot_load_elements(const int8_t *from, dot_element *to) {
  for (int i = 0; i < DOT_CHUNK; ++i) to[i] = (dot_element)(from[i] + DOT_OFFSET);
}

#elif SIMD_WIDTH == 4
#include <arm_neon.h>

typedef int8x16_t dot_left, dot_right;

SIMD_INLINE dot_right dot_load(const dot_weight *b) { return vld1q_s8(b); }

#if SIMD_MATRIX
SIMD_INLINE dot_left dot_broadcast(const dot_element *a) { return vld1q_s8(a); }

/* For rows x and x' and columns y and z: x0 y0 + ..., x0 z0 + ..., x'0 y0 + ..., x'0 z0 + ... */
SIMD_INLINE simd_i32 dot_add(simd_i32 sum, dot_left a, dot_right b) {
#ifdef __clang__
  return (simd_i32)vmmlaq_s32((int32x4_t)sum, a, b);
#else
  /* gcc copies the sums in loops with two units of k. */
  __asm__("smmla %0.4s, %1.16b, %2.16b" : "+w"(sum) : "w"(a), "w"(b));
  return sum;
#endif
}
#elif SIMD_DOT
SIMD_INLINE dot_left dot_broadcast(const dot_element *a) {
  int32_t unit;
  memcpy(&unit, a, sizeof unit);
  return vreinterpretq_s8_s32(vdupq_n_s32(unit));
}

SIMD_INLINE simd_i32 dot_add(simd_i32 sum, dot_left a, dot_right b) {
  return (simd_i32)vdotq_s32((int32x4_t)sum, b, a);
}

/* DOT_LANES adjacent units of a row. */
typedef int8x16_t dot_units;

SIMD_INLINE dot_units dot_load_units(const dot_element *a) { return vld1q_s8(a); }

/* dot_add with one of them; `lane` is a constant when this is inlined. */
SIMD_INLINE simd_i32 dot_add_lane(simd_i32 sum, dot_units a, const int lane, dot_right b) {
#ifdef __clang__
  return dot_add(sum, vreinterpretq_s8_s32(vdupq_n_s32(((int32x4_t)a)[lane])), b);
#else
  /* gcc copies a lane that several products share to another register. */
  __asm__("sdot %0.4s, %1.16b, %2.4b[%3]" : "+w"(sum) : "w"(b), "w"(a), "i"(lane));
  return sum;
#endif
}
#else
SIMD_INLINE dot_left dot_broadcast(const dot_element *a) { return vld1q_s8(a); }

#ifdef __aarch64__
#define DOT_HIGH_PRODUCTS(a, b) vmull_high_s8(a, b)
#define DOT_ADD_HIGH_PRODUCTS(sum, a, b) vmlal_high_s8(sum, a, b)
#else
#define DOT_HIGH_PRODUCTS(a, b) vmull_s8(vget_high_s8(a), vget_high_s8(b))
#define DOT_ADD_HIGH_PRODUCTS(sum, a, b) vmlal_s8(sum, vget_high_s8(a), vget_high_s8(b))
#endif

/* Two products are added in 16 bits, which can only overflow for -128 * -128 twice. */
SIMD_INLINE simd_i32 dot_add(simd_i32 sum, dot_left a, dot_right b) {
  const int16x8_t first = vmull_s8(vget_low_s8(a), vget_low_s8(b));
  return (simd_i32)vpadalq_s16((int32x4_t)sum, DOT_ADD_HIGH_PRODUCTS(first, a, b));
}

/* As dot_add, for any values. */
SIMD_INLINE simd_i32 dot_add_apart(simd_i32 sum, dot_left a, dot_right b) {
  const int32x4_t first = vpadalq_s16((int32x4_t)sum, vmull_s8(vget_low_s8(a), vget_low_s8(b)));
  return (simd_i32)vpadalq_s16(first, DOT_HIGH_PRODUCTS(a, b));
}
#endif

SIMD_INLINE void dot_load_elements(const int8_t *from, dot_element *to) { memcpy(to, from, DOT_CHUNK); }

SIMD_INLINE dot_right dot_load_stored(const int8_t *b) { return dot_load(b); }

#else
typedef simd_i32 dot_left, dot_right;

SIMD_INLINE dot_left dot_broadcast(const dot_element *a) {
  int32_t unit;
  memcpy(&unit, a, sizeof unit);
  return simd_set_i32(unit);
}

SIMD_INLINE dot_right dot_load(const dot_weight *b) {
  dot_right v;
  memcpy(&v, b, sizeof v);
  return v;
}

#if SIMD_DOT
SIMD_INLINE dot_right dot_load_stored(const int8_t *b) { return dot_load(b); }

SIMD_INLINE simd_i32 dot_add(simd_i32 sum, dot_left a, dot_right b) {
  return (simd_i32)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
}
#elif SIMD_WIDTH == 16
SIMD_INLINE dot_right dot_load_stored(const int8_t *b) {
  return (simd_i32)_mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)(const void *)b));
}

SIMD_INLINE simd_i32 dot_add(simd_i32 sum, dot_left a, dot_right b) {
  return sum + (simd_i32)_mm512_madd_epi16((__m512i)a, (__m512i)b);
}
#else
SIMD_INLINE dot_right dot_load_stored(const int8_t *b) {
  return (simd_i32)_mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)b));
}

SIMD_INLINE simd_i32 dot_add(simd_i32 sum, dot_left a, dot_right b) {
  return sum + (simd_i32)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}
#endif

/* Converts DOT_CHUNK quantized activations to elements. */
SIMD_INLINE void dot_load_elements(const int8_t *from, dot_element *to) {
#if SIMD_DOT
  const __m128i flipped = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)from), _mm_set1_epi8(INT8_MIN));
  _mm_storeu_si128((__m128i *)(void *)to, flipped);
#else
  _mm256_storeu_si256((__m256i *)(void *)to,
                      _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)from)));
#endif
}
#endif

/* Converts `count` quantized activations to elements. `spare`: up to DOT_CHUNK more may be read from `from` and
 * written to `to`. */
SIMD_INLINE void dot_stage(const int8_t *from, int64_t count, bool spare, dot_element *to) {
  int64_t i = 0;
#if SIMD_DOT && SIMD_WIDTH == 16 && !SIMD_EMULATED
  (void)spare;
  const __m512i flip = _mm512_set1_epi8(INT8_MIN);
  for (; i + 64 <= count; i += 64) {
    _mm512_storeu_si512(to + i, _mm512_xor_si512(_mm512_loadu_si512(from + i), flip));
  }
  if (i == count) return;
  const __mmask64 rest = UINT64_MAX >> (64 - (count - i));
  _mm512_mask_storeu_epi8(to + i, rest, _mm512_xor_si512(_mm512_maskz_loadu_epi8(rest, from + i), flip));
#else
  for (; i + DOT_CHUNK <= count; i += DOT_CHUNK) dot_load_elements(from + i, to + i);
  if (i < count && spare) {
    dot_load_elements(from + i, to + i);
  } else {
    for (; i < count; ++i) to[i] = (dot_element)(from[i] + DOT_OFFSET);
  }
#endif
}

/* Converts `lines` times `count` activations, from_step and `count` apart; up to DOT_CHUNK more may be read and
 * written. */
SIMD_INLINE void dot_stage_lines(const int8_t *from, int64_t from_step, int64_t lines, int64_t count, dot_element *to) {
#if SIMD_DOT && SIMD_WIDTH == 16 && !SIMD_EMULATED
  if (count > 0 && count <= 64) {
    const __mmask64 line = UINT64_MAX >> (64 - count);
    for (; lines > 0; --lines, from += from_step, to += count) {
      const __m512i x = _mm512_maskz_loadu_epi8(line, from);
      _mm512_mask_storeu_epi8(to, line, _mm512_xor_si512(x, _mm512_set1_epi8(INT8_MIN)));
    }
    return;
  }
#endif
  for (; lines > 0; --lines, from += from_step, to += count) dot_stage(from, count, true, to);
}

/* Fills `to` with `count` times the quantized activation `value`. */
SIMD_INLINE void dot_fill(int32_t value, int64_t count, dot_element *to) {
  for (int64_t i = 0; i < count; ++i) to[i] = (dot_element)(value + DOT_OFFSET);
}

/* Arranges DOT_JOINED rows of `count` elements, padded to a multiple of DOT_CHUNK, for multiplication, with
 * `to_step` between units: plain NEON repeats the first two elements of a unit four times, then the others; i8mm
 * alternates units of two rows. */
SIMD_INLINE void dot_arrange(const dot_element *a, int64_t a_step, int64_t count, dot_element *to, int64_t to_step) {
#if SIMD_MATRIX
  const dot_element *next = a + a_step;
  for (int64_t i = 0; i < count; i += DOT_CHUNK, to += 2 * to_step) {
    const int64x2_t first = vreinterpretq_s64_s8(vld1q_s8(a + i)), second = vreinterpretq_s64_s8(vld1q_s8(next + i));
    vst1q_s8(to, vreinterpretq_s8_s64(vzip1q_s64(first, second)));
    vst1q_s8(to + to_step, vreinterpretq_s8_s64(vzip2q_s64(first, second)));
  }
#elif SIMD_WIDTH == 4 && !SIMD_DOT && !SIMD_EMULATED
  (void)a_step;
  for (int64_t i = 0; i < count; i += DOT_CHUNK) {
    const int16x8_t pairs = vreinterpretq_s16_s8(vld1q_s8(a + i));
    const int16x8x2_t twice = vzipq_s16(pairs, pairs);
    SIMD_UNROLL for (int32_t half = 0; half < 2; ++half, to += 2 * to_step) {
      const int32x4_t four = vreinterpretq_s32_s16(twice.val[half]);
      const int32x4x2_t units = vzipq_s32(four, four);
      vst1q_s8(to, vreinterpretq_s8_s32(units.val[0]));
      vst1q_s8(to + to_step, vreinterpretq_s8_s32(units.val[1]));
    }
  }
#elif SIMD_WIDTH == 4 && !SIMD_DOT
  (void)a_step;
  for (int64_t i = 0; i < (count + DOT_CHUNK - 1) / DOT_CHUNK * DOT_CHUNK; i += DOT_DEPTH, to += to_step) {
    for (int32_t j = 0; j < DOT_STEP; ++j) to[j] = a[i + j / 8 * 2 + j % 2];
  }
#else
  (void)a, (void)a_step, (void)count, (void)to, (void)to_step; /* multiplied without arranging */
#endif
}

/* Returns packed weights, `units` of `vectors` vectors each, in the form that dot_load reads: b itself or a copy in
 * `room`. */
SIMD_INLINE const dot_weight *dot_weights(const int8_t *b, int64_t units, int32_t vectors, dot_weight *room) {
  if (!DOT_WIDENS) return (const dot_weight *)b;
  const int64_t count = units * vectors * (SIMD_WIDTH * DOT_DEPTH);
  for (int64_t i = 0; i < count; i += DOT_CHUNK) dot_load_elements(b + i, (dot_element *)room + i);
  return room;
}

#endif
