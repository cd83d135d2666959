/* The register tile of the float16 GEMM, with eight products per instruction.
 *
 * A sum in float16 loses bits as it grows, so there are two levels: sums of GEMM_SHORT steps of k in registers, and
 * their totals in memory. For values of both signs the error of n additions grows with n, so the second level adds
 * little: an eighth of the first level's error at k = 512. float32 in the second level would take twice the
 * instructions for it. */
#ifndef MSLITE_MATMUL_TILE_HALF_H
#define MSLITE_MATMUL_TILE_HALF_H

#include "matmul/gemm.h"

/* Tells the compiler that memory may have changed, so that registers are kept for the sums. */
#define GEMM_FORGET() __asm__ volatile("" ::: "memory")

enum {
  GEMM_DEPTH = 8, /* steps of k per iteration: one load of a */
  GEMM_SHORT = 64 /* steps of k per sum in registers */
};

/* Returns sum + a[lane] * b; `lane` is a constant when this is inlined. */
SIMD_INLINE float16x8_t gemm_add_lane(float16x8_t sum, float16x8_t a, const int lane, float16x8_t b) {
#ifdef __clang__
  return vfmaq_f16(sum, b, vdupq_n_f16(a[lane]));
#else
  /* gcc copies a lane that several products share to another register. */
  __asm__("fmla %0.8h, %1.8h, %2.h[%3]" : "+w"(sum) : "w"(b), "x"(a), "i"(lane));
  return sum;
#endif
}

/* Returns the address of vector v of one step of k. */
SIMD_INLINE const float16_t *gemm_vector_at(const float16_t *b, int64_t b_step, const int32_t v) {
  return b + v / GEMM_VECTORS * b_step + v % GEMM_VECTORS * GEMM_LANES;
}

/* Adds the products of one step of k: lane `step` of `left`. */
SIMD_INLINE void gemm_add_step(const float16x8_t *left, const int32_t step, const float16_t *b, int64_t b_step,
                               float16x8_t *sum, const int32_t rows, const int32_t vectors) {
  const int32_t loads = vectors < SIMD_LOADS ? vectors : SIMD_LOADS;
  SIMD_UNROLL for (int32_t v = 0; v < vectors; v += loads) {
    float16x8_t right[SIMD_LOADS];
    SIMD_UNROLL for (int32_t i = 0; i < loads; ++i) right[i] = vld1q_f16(gemm_vector_at(b, b_step, v + i));
    SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
      SIMD_UNROLL for (int32_t i = 0; i < loads; ++i) {
        float16x8_t *to = &sum[r * vectors + v + i];
        *to = gemm_add_lane(*to, left[r], step, right[i]);
      }
    }
  }
}

/* Adds the products of steps [k, end) of a piece to the sums. Returns the next address in b. */
SIMD_INLINE const float16_t *gemm_add_steps(const float16_t *const *a, int64_t k, int64_t end, const float16_t *b,
                                            int64_t b_step, float16x8_t *sum, const int32_t rows,
                                            const int32_t vectors) {
  for (; k + GEMM_DEPTH <= end; k += GEMM_DEPTH) {
    float16x8_t left[GEMM_ROWS];
    SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) left[r] = vld1q_f16(a[r] + k);
    SIMD_UNROLL for (int32_t step = 0; step < GEMM_DEPTH; ++step, b += GEMM_COLUMNS) {
      gemm_add_step(left, step, b, b_step, sum, rows, vectors);
    }
  }
  if (k + GEMM_DEPTH / 2 <= end) {
    float16x8_t left[GEMM_ROWS];
    SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) left[r] = vcombine_f16(vld1_f16(a[r] + k), vdup_n_f16(0));
    SIMD_UNROLL for (int32_t step = 0; step < GEMM_DEPTH / 2; ++step, b += GEMM_COLUMNS) {
      gemm_add_step(left, step, b, b_step, sum, rows, vectors);
    }
    k += GEMM_DEPTH / 2;
  }
  for (; k < end; ++k, b += GEMM_COLUMNS) {
    float16x8_t right[GEMM_SUMS];
    SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) right[v] = vld1q_f16(gemm_vector_at(b, b_step, v));
    SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
      const float16x8_t left = vdupq_n_f16(a[r][k]);
      SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
        sum[r * vectors + v] = vfmaq_f16(sum[r * vectors + v], left, right[v]);
      }
    }
  }
  return b;
}

/* Adds total to sum, for `count` sums. */
SIMD_INLINE void gemm_add_total(float16x8_t *sum, const int32_t count, const float16_t *total) {
  const int32_t pair = count % 2 == 0 ? 2 : 1; /* two adjacent vectors per load */
  SIMD_UNROLL for (int32_t i = 0; i < count; i += pair) {
    float16x8_t old[2];
    SIMD_UNROLL for (int32_t j = 0; j < pair; ++j) old[j] = vld1q_f16(total + (i + j) * GEMM_LANES);
    SIMD_UNROLL for (int32_t j = 0; j < pair; ++j) sum[i + j] += old[j];
  }
}

/* Computes one tile at the beginning of `g`: `rows` x `vectors` sums. GEMM_VECTORS vectors are a whole panel, half
 * of them its first half. Both parameters are constants when this is inlined. */
SIMD_INLINE void gemm_tile(const gemm_block *g, const int32_t rows, const int32_t vectors) {
  float16x8_t sum[GEMM_SUMS];
  bool has_total = false;
  SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
    const float16x8_t start = g->bias == NULL ? vdupq_n_f16(0) : vld1q_f16(g->bias + v * GEMM_LANES);
    SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) sum[r * vectors + v] = start;
  }
  const float16_t *b = g->b;
  int64_t room = GEMM_SHORT;
  for (int64_t piece = 0; piece < g->pieces; ++piece) {
    const float16_t *a[GEMM_ROWS];
    SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) a[r] = g->a[r] + g->offsets[piece];
    for (int64_t k = 0; k < g->k;) {
      if (room == 0) {
        if (has_total) gemm_add_total(sum, rows * vectors, g->total);
        SIMD_UNROLL for (int32_t i = 0; i < rows * vectors; ++i) vst1q_f16(g->total + i * GEMM_LANES, sum[i]);
        SIMD_UNROLL for (int32_t i = 0; i < rows * vectors; ++i) sum[i] = vdupq_n_f16(0);
        has_total = true;
        room = GEMM_SHORT;
      }
      GEMM_FORGET();
      const int64_t end = g->k - k < room ? g->k : k + room;
      b = gemm_add_steps(a, k, end, b, g->b_step, sum, rows, vectors);
      room -= end - k;
      k = end;
    }
  }
  if (has_total) gemm_add_total(sum, rows * vectors, g->total);
  if (g->residual != NULL) {
    SIMD_UNROLL for (int32_t i = 0; i < rows * vectors; ++i) {
      sum[i] += vld1q_f16(g->residual + i / vectors * g->c_step + i % vectors * GEMM_LANES);
    }
  }
  if (g->low > -INFINITY) {
    const float16x8_t low = vdupq_n_f16((float16_t)g->low);
    SIMD_UNROLL for (int32_t i = 0; i < rows * vectors; ++i) sum[i] = vmaxq_f16(sum[i], low);
  }
  if (g->high < INFINITY) {
    const float16x8_t high = vdupq_n_f16((float16_t)g->high);
    SIMD_UNROLL for (int32_t i = 0; i < rows * vectors; ++i) sum[i] = vminq_f16(sum[i], high);
  }
  float16_t *c = g->c;
  const int64_t c_step = g->c_step;
  SIMD_UNROLL for (int32_t r = 0; r < rows; ++r, c += c_step) {
    SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) { vst1q_f16(c + v * GEMM_LANES, sum[r * vectors + v]); }
  }
}

#endif
