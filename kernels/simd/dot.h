/* Sums of products of 8-bit integers, one vocabulary over every instruction set: what vector extensions cannot say.
 *
 * k runs in units of DOT_DEPTH neighbours. A unit of the left matrix is one row's DOT_DEPTH `dot_element`s, broadcast;
 * a unit of the right matrix is SIMD_WIDTH columns of DOT_DEPTH `dot_weight`s each, column by column. Sums are exact
 * and wrap in 32 bits. Nothing saturates on the way. dot_load_stored reads weights as they are packed.
 *
 *   AVX2, AVX-512   vpmaddwd: pairs, both sides widened to 16 bits
 *   AVX-512 VNNI    vpdpbusd: fours, the left side unsigned: DOT_OFFSET is added to it
 *   NEON            smull and sadalp: pairs
 *   NEON dot        sdot: fours
 *
 * Files that include this end in `_dot.c` and are compiled for these instruction sets only. SIMD_EMULATED replaces each
 * instruction by its definition, for tests on machines that do not have it. */
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
#elif SIMD_DOT
enum { DOT_DEPTH = 4, DOT_OFFSET = 0 };
typedef int8_t dot_element;
typedef int8_t dot_weight;
#else
enum { DOT_DEPTH = 2, DOT_OFFSET = 0 };
typedef int8_t dot_element;
typedef int8_t dot_weight;
#endif

#if SIMD_DOT && SIMD_WIDTH == 4 && !SIMD_EMULATED
#define DOT_LANES 4 /* units of a row that one load brings, for dot_add_lane */
#else
#define DOT_LANES 1
#endif

enum {
  DOT_WIDENS = sizeof(dot_weight) > 1, /* weights are packed as int8 and widened for use */
  DOT_CHUNK = 16                       /* dot_load_elements reads and writes so many */
};

#if SIMD_EMULATED
typedef struct {
  dot_element at[DOT_DEPTH];
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
    const int32_t product = a.at[i % DOT_DEPTH] * b.at[i];
    sum[i / DOT_DEPTH] = (int32_t)((uint32_t)sum[i / DOT_DEPTH] + (uint32_t)product);
  }
  return sum;
}

SIMD_INLINE void dot_load_elements(const int8_t *from, dot_element *to) {
  for (int i = 0; i < DOT_CHUNK; ++i) to[i] = (dot_element)(from[i] + DOT_OFFSET);
}

#elif SIMD_WIDTH == 4
#include <arm_neon.h>

#if SIMD_DOT
typedef int8x16_t dot_left, dot_right;

SIMD_INLINE dot_left dot_broadcast(const dot_element *a) {
  int32_t unit;
  memcpy(&unit, a, sizeof unit);
  return vreinterpretq_s8_s32(vdupq_n_s32(unit));
}

SIMD_INLINE dot_right dot_load(const dot_weight *b) { return vld1q_s8(b); }

SIMD_INLINE simd_i32 dot_add(simd_i32 sum, dot_left a, dot_right b) {
  return (simd_i32)vdotq_s32((int32x4_t)sum, b, a);
}

/* DOT_LANES neighbouring units of a row. */
typedef int8x16_t dot_units;

SIMD_INLINE dot_units dot_load_units(const dot_element *a) { return vld1q_s8(a); }

/* dot_add with one of them; `lane` is a constant where this is inlined. */
SIMD_INLINE simd_i32 dot_add_lane(simd_i32 sum, dot_units a, const int lane, dot_right b) {
#ifdef __clang__
  return dot_add(sum, vreinterpretq_s8_s32(vdupq_n_s32(((int32x4_t)a)[lane])), b);
#else
  /* gcc copies a lane that several products share into a register of its own. */
  __asm__("sdot %0.4s, %1.16b, %2.4b[%3]" : "+w"(sum) : "w"(b), "w"(a), "i"(lane));
  return sum;
#endif
}
#else
typedef int8x8_t dot_left, dot_right;

SIMD_INLINE dot_left dot_broadcast(const dot_element *a) {
  return vreinterpret_s8_s16(vld1_dup_s16((const int16_t *)(const void *)a));
}

SIMD_INLINE dot_right dot_load(const dot_weight *b) { return vld1_s8(b); }

SIMD_INLINE simd_i32 dot_add(simd_i32 sum, dot_left a, dot_right b) {
  return (simd_i32)vpadalq_s16((int32x4_t)sum, vmull_s8(a, b));
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

/* DOT_CHUNK stored activations as elements. */
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

/* `count` stored activations as elements. `spare`: up to DOT_CHUNK more may be read from `from` and written to `to`. */
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

/* `lines` times `count` such, from_step and `count` apart; up to DOT_CHUNK more may be read and written. */
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

/* `count` times the stored activation `value`. */
SIMD_INLINE void dot_fill(int32_t value, int64_t count, dot_element *to) {
  for (int64_t i = 0; i < count; ++i) to[i] = (dot_element)(value + DOT_OFFSET);
}

/* Packed weights, `units` of `vectors` vectors each, in the form that dot_load reads: b itself or a copy in `room`. */
SIMD_INLINE const dot_weight *dot_weights(const int8_t *b, int64_t units, int32_t vectors, dot_weight *room) {
  if (!DOT_WIDENS) return (const dot_weight *)b;
  const int64_t count = units * vectors * (SIMD_WIDTH * DOT_DEPTH);
  for (int64_t i = 0; i < count; i += DOT_CHUNK) dot_load_elements(b + i, (dot_element *)room + i);
  return room;
}

#endif
