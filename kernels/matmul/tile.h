/* The register tile of the float32 GEMM. */
#ifndef MSLITE_MATMUL_TILE_H
#define MSLITE_MATMUL_TILE_H

#include "matmul/gemm.h"

/* Tells the compiler that memory may have changed, so that general registers are kept for the row pointers of the
 * inner loop. */
#define GEMM_FORGET() __asm__ volatile("" ::: "memory")

/* Steps of k per iteration if a lane can be multiplied by a vector: one load of a for all of them. */
enum { GEMM_DEPTH = SIMD_FACTORS };

/* Prefetches b this many steps of k before its use, because hardware prefetching stops at page boundaries.
 * Microcontrollers, which have one lane, do not prefetch. */
enum { GEMM_AHEAD = 16 * GEMM_COLUMNS };
SIMD_INLINE void gemm_fetch(const float *b) {
  if (SIMD_WIDTH > 1) __builtin_prefetch(b + GEMM_AHEAD);
}

/* Computes one tile at the beginning of `g`: `rows` x `vectors` sums. GEMM_VECTORS vectors are a whole panel, half
 * of them its first half. Both parameters are constants when this is inlined. */
SIMD_INLINE void gemm_tile(const gemm_block *g, const int32_t rows, const int32_t vectors) {
  simd_f32 sum[GEMM_SUMS];
  float *c = g->c;
  int64_t c_step = g->c_step;
  SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
    SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) sum[r * vectors + v] = simd_set(0.0f);
  }
  if (g->accumulate) {
    SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
      SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
        sum[r * vectors + v] = simd_load(c + r * c_step + v * SIMD_WIDTH);
      }
    }
  } else if (g->bias != NULL) {
    SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
      const simd_f32 start = simd_load(g->bias + v * SIMD_WIDTH);
      SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) sum[r * vectors + v] = start;
    }
  }
  GEMM_FORGET();
  const float *b = g->b;
  const int64_t b_step = g->b_step;
  const ptrdiff_t count = (ptrdiff_t)g->k; /* one register on every processor */
  for (int64_t piece = 0; piece < g->pieces; ++piece) {
    const float *a[GEMM_ROWS];
    SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) a[r] = g->a[r] + g->offsets[piece];
    ptrdiff_t k = 0;
    for (; GEMM_DEPTH > 1 && k + GEMM_DEPTH <= count; k += GEMM_DEPTH) {
      simd_factors left[GEMM_ROWS];
      SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) left[r] = simd_load_factors(a[r] + k);
      SIMD_UNROLL for (int32_t step = 0; step < GEMM_DEPTH; ++step, b += GEMM_COLUMNS) {
        gemm_fetch(b);
        SIMD_UNROLL for (int32_t v = 0; v < vectors; v += SIMD_LOADS) {
          const float *at = b + v / GEMM_VECTORS * b_step + v % GEMM_VECTORS * SIMD_WIDTH;
          simd_f32 right[SIMD_LOADS];
          simd_load_several(at, right);
          SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
            SIMD_UNROLL for (int32_t i = 0; i < SIMD_LOADS; ++i) {
              simd_f32 *to = &sum[r * vectors + v + i];
              *to = simd_fma_lane(left[r], step, right[i], *to);
            }
          }
        }
      }
    }
    for (; k < count; ++k, b += GEMM_COLUMNS) {
      gemm_fetch(b);
      simd_f32 right[GEMM_SUMS];
      SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
        right[v] = simd_load(b + v / GEMM_VECTORS * b_step + v % GEMM_VECTORS * SIMD_WIDTH);
      }
      SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
        const simd_f32 left = simd_set(a[r][k]);
        SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
          sum[r * vectors + v] = simd_fma(left, right[v], sum[r * vectors + v]);
        }
      }
    }
  }
  GEMM_FORGET();
  c = g->c;
  c_step = g->c_step;
  if (g->residual != NULL) {
    SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
      SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
        sum[r * vectors + v] += simd_load(g->residual + r * c_step + v * SIMD_WIDTH);
      }
    }
  }
  const simd_f32 low = simd_set(g->low), high = simd_set(g->high);
  SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
    SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
      simd_store(c + r * c_step + v * SIMD_WIDTH, simd_min(simd_max(sum[r * vectors + v], low), high));
    }
  }
}

#endif
