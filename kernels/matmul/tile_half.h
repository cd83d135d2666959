/* The register tile of the float16 GEMM: products and their sums over one step of k in float16, twice as many per
 * instruction; the sums of the steps, bias and residual in float32. */
#ifndef MSLITE_MATMUL_TILE_HALF_H
#define MSLITE_MATMUL_TILE_HALF_H

#include "matmul/gemm.h"

enum { GEMM_DEPTH = 8 }; /* steps of k at once: one load of a */

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

/* One tile at the beginning of `g`: `rows` x `vectors` sums, where GEMM_VECTORS are a panel, and half of that its first
 * half; both are constants where this is inlined. */
SIMD_INLINE void gemm_tile(const gemm_block *g, const int32_t rows, const int32_t vectors) {
  float16x8_t sum[GEMM_SUMS];
  SIMD_UNROLL for (int32_t i = 0; i < rows * vectors; ++i) sum[i] = vdupq_n_f16(0);
  const float16_t *b = g->b;
  const int64_t b_step = g->b_step, count = g->k;
  for (int64_t piece = 0; piece < g->pieces; ++piece) {
    const float16_t *a[GEMM_ROWS];
    SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) a[r] = g->a[r] + g->offsets[piece];
    int64_t k = 0;
    for (; k + GEMM_DEPTH <= count; k += GEMM_DEPTH) {
      float16x8_t left[GEMM_ROWS];
      SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) left[r] = vld1q_f16(a[r] + k);
      SIMD_UNROLL for (int32_t step = 0; step < GEMM_DEPTH; ++step, b += GEMM_COLUMNS) {
        SIMD_UNROLL for (int32_t v = 0; v < vectors; v += SIMD_LOADS) {
          const float16_t *at = b + v / GEMM_VECTORS * b_step + v % GEMM_VECTORS * GEMM_LANES;
          float16x8_t right[SIMD_LOADS];
          SIMD_UNROLL for (int32_t i = 0; i < SIMD_LOADS; ++i) right[i] = vld1q_f16(at + i * GEMM_LANES);
          SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
            SIMD_UNROLL for (int32_t i = 0; i < SIMD_LOADS; ++i) {
              float16x8_t *to = &sum[r * vectors + v + i];
              *to = gemm_add_lane(*to, left[r], step, right[i]);
            }
          }
        }
      }
    }
    for (; k < count; ++k, b += GEMM_COLUMNS) {
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
  /* From here in float32, a row at a time: what the sums are added to, and their limits. */
  const simd_f32 low = simd_set(g->low), high = simd_set(g->high);
  const float *bias = g->accumulate ? NULL : g->bias, *residual = g->residual;
  float *c = g->c;
  SIMD_UNROLL for (int32_t r = 0; r < rows; ++r, c += g->c_step) {
    simd_f32 row[2 * GEMM_SUMS];
    SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
      row[2 * v] = (simd_f32)vcvt_f32_f16(vget_low_f16(sum[r * vectors + v]));
      row[2 * v + 1] = (simd_f32)vcvt_high_f32_f16(sum[r * vectors + v]);
    }
    if (g->accumulate) {
      SIMD_UNROLL for (int32_t v = 0; v < 2 * vectors; ++v) row[v] += simd_load(c + v * SIMD_WIDTH);
    } else if (bias != NULL) {
      SIMD_UNROLL for (int32_t v = 0; v < 2 * vectors; ++v) row[v] += simd_load(bias + v * SIMD_WIDTH);
    }
    if (residual != NULL) {
      SIMD_UNROLL for (int32_t v = 0; v < 2 * vectors; ++v) row[v] += simd_load(residual + v * SIMD_WIDTH);
      residual += g->c_step;
    }
    SIMD_UNROLL for (int32_t v = 0; v < 2 * vectors; ++v) {
      simd_store(c + v * SIMD_WIDTH, simd_min(simd_max(row[v], low), high));
    }
  }
}

#endif
