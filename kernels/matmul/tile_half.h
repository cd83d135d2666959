/* The register tile of the float16 GEMM: products, and their sums over GEMM_SHORT steps of k, in float16, eight to an
 * instruction; what these add up to in float32, in memory. */
#ifndef MSLITE_MATMUL_TILE_HALF_H
#define MSLITE_MATMUL_TILE_HALF_H

#include "matmul/gemm.h"

enum {
  GEMM_DEPTH = 8, /* steps of k at once: one load of a */
  GEMM_SHORT = 64 /* steps of k in one sum of float16, which loses bits as it grows */
};

/* sum + a[lane] * b; `lane` is a constant where this is inlined. */
SIMD_INLINE float16x8_t gemm_add_lane(float16x8_t sum, float16x8_t a, const int lane, float16x8_t b) {
#ifdef __clang__
  return vfmaq_f16(sum, b, vdupq_n_f16(a[lane]));
#else
  /* gcc copies a lane that several products share into a register of its own. */
  __asm__("fmla %0.8h, %1.8h, %2.h[%3]" : "+w"(sum) : "w"(b), "x"(a), "i"(lane));
  return sum;
#endif
}

/* Where `vectors` vectors of one step of k lie. */
SIMD_INLINE const float16_t *gemm_vector_at(const float16_t *b, int64_t b_step, const int32_t v) {
  return b + v / GEMM_VECTORS * b_step + v % GEMM_VECTORS * GEMM_LANES;
}

/* Adds the products of `count` steps of k to the sums; gives where b goes on. */
SIMD_INLINE const float16_t *gemm_add_steps(const float16_t *const *a, int64_t count, const float16_t *b,
                                            int64_t b_step, float16x8_t *sum, const int32_t rows,
                                            const int32_t vectors) {
  const int32_t loads = vectors < SIMD_LOADS ? vectors : SIMD_LOADS;
  int64_t k = 0;
  for (; k + GEMM_DEPTH <= count; k += GEMM_DEPTH) {
    float16x8_t left[GEMM_ROWS];
    SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) left[r] = vld1q_f16(a[r] + k);
    SIMD_UNROLL for (int32_t step = 0; step < GEMM_DEPTH; ++step, b += GEMM_COLUMNS) {
      SIMD_UNROLL for (int32_t v = 0; v < vectors; v += loads) {
        float16x8_t right[SIMD_LOADS];
        SIMD_UNROLL for (int32_t i = 0; i < loads; ++i) {
          right[i] = vld1q_f16(gemm_vector_at(b, b_step, v + i));
        }
        SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
          SIMD_UNROLL for (int32_t i = 0; i < loads; ++i) {
            float16x8_t *to = &sum[r * vectors + v + i];
            *to = gemm_add_lane(*to, left[r], step, right[i]);
          }
        }
      }
    }
  }
  for (; k < count; ++k, b += GEMM_COLUMNS) {
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

/* One tile at the beginning of `g`: `rows` x `vectors` * GEMM_LANES sums; both are constants where this is inlined. */
SIMD_INLINE void gemm_vectors(const gemm_block *g, const int32_t rows, const int32_t vectors) {
  float16x8_t sum[GEMM_SUMS];
  float total[GEMM_SUMS][GEMM_LANES]; /* of the steps of k that are over */
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
    for (int64_t left = g->k; left > 0;) {
      if (room == 0) {
        SIMD_UNROLL for (int32_t i = 0; i < rows * vectors; ++i) {
          simd_f32 low = (simd_f32)vcvt_f32_f16(vget_low_f16(sum[i])), high = (simd_f32)vcvt_high_f32_f16(sum[i]);
          if (has_total) {
            low += simd_load_f32(total[i]);
            high += simd_load_f32(total[i] + SIMD_WIDTH);
          }
          simd_store_f32(total[i], low);
          simd_store_f32(total[i] + SIMD_WIDTH, high);
          sum[i] = vdupq_n_f16(0);
        }
        has_total = true;
        room = GEMM_SHORT;
      }
      const int64_t count = left < room ? left : room;
      b = gemm_add_steps(a, count, b, g->b_step, sum, rows, vectors);
      SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) a[r] += count;
      left -= count;
      room -= count;
    }
  }
  if (has_total) {
    SIMD_UNROLL for (int32_t i = 0; i < rows * vectors; ++i) {
      const simd_f32 low = (simd_f32)vcvt_f32_f16(vget_low_f16(sum[i])) + simd_load_f32(total[i]);
      const simd_f32 high = (simd_f32)vcvt_high_f32_f16(sum[i]) + simd_load_f32(total[i] + SIMD_WIDTH);
      sum[i] = vcvt_high_f16_f32(vcvt_f16_f32((float32x4_t)low), (float32x4_t)high);
    }
  }
  if (g->residual != NULL) {
    SIMD_UNROLL for (int32_t i = 0; i < rows * vectors; ++i) {
      sum[i] += vld1q_f16(g->residual + i / vectors * g->c_step + i % vectors * GEMM_LANES);
    }
  }
  const float16x8_t lowest = vdupq_n_f16((float16_t)g->low), highest = vdupq_n_f16((float16_t)g->high);
  float16_t *c = g->c;
  const int64_t c_step = g->c_step;
  SIMD_UNROLL for (int32_t r = 0; r < rows; ++r, c += c_step) {
    SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
      vst1q_f16(c + v * GEMM_LANES, vminq_f16(vmaxq_f16(sum[r * vectors + v], lowest), highest));
    }
  }
}

SIMD_INLINE void gemm_tile(const gemm_block *g, const int32_t rows, const int32_t panels) {
  gemm_vectors(g, rows, panels * GEMM_VECTORS);
}

#endif
