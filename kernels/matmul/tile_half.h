/* The register tile of the float16 GEMM: products and their sums over one step of k in float16, twice as many per
 * instruction; the sums of the steps, bias and residual in float32. */
#ifndef MSLITE_MATMUL_TILE_HALF_H
#define MSLITE_MATMUL_TILE_HALF_H

#include "matmul/gemm.h"

/* What a sum begins with, is added to at the end, and is limited by: four columns of row `r` at column `column`. */
SIMD_INLINE void gemm_finish(const gemm_block *g, int64_t r, int64_t column, simd_f32 sum) {
  float *c = g->c + r * g->c_step + column;
  if (g->accumulate) {
    sum += simd_load(c);
  } else if (g->bias != NULL) {
    sum += simd_load(g->bias + column);
  }
  if (g->residual != NULL) sum += simd_load(g->residual + r * g->c_step + column);
  simd_store(c, simd_min(simd_max(sum, simd_set(g->low)), simd_set(g->high)));
}

/* One tile at the beginning of `g`: `rows` x `panels` * GEMM_COLUMNS sums; both are constants where this is inlined. */
SIMD_INLINE void gemm_tile(const gemm_block *g, const int32_t rows, const int32_t panels) {
  float16x8_t sum[GEMM_SUMS];
  const int32_t vectors = panels * GEMM_VECTORS;
  SIMD_UNROLL for (int32_t i = 0; i < rows * vectors; ++i) sum[i] = vdupq_n_f16(0);
  const float16_t *b = g->b;
  const int64_t b_step = g->b_step, count = g->k;
  for (int64_t piece = 0; piece < g->pieces; ++piece) {
    const float16_t *a[GEMM_ROWS];
    SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) a[r] = g->a[r] + g->offsets[piece];
    for (int64_t k = 0; k < count; ++k, b += GEMM_COLUMNS) {
      float16x8_t right[GEMM_SUMS];
      SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
        right[v] = vld1q_f16(b + v / GEMM_VECTORS * b_step + v % GEMM_VECTORS * GEMM_LANES);
      }
      SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
        const float16x8_t left = vdupq_n_f16(a[r][k]);
        SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
          sum[r * vectors + v] = vfmaq_f16(sum[r * vectors + v], left, right[v]);
        }
      }
    }
  }
  SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
    SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
      const float16x8_t eight = sum[r * vectors + v];
      gemm_finish(g, r, v * GEMM_LANES, (simd_f32)vcvt_f32_f16(vget_low_f16(eight)));
      gemm_finish(g, r, v * GEMM_LANES + SIMD_WIDTH, (simd_f32)vcvt_f32_f16(vget_high_f16(eight)));
    }
  }
}

#endif
