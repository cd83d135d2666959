/* The register tiles of matmul/outer.h. */
#include "matmul/outer.h"

SIMD_INLINE void outer_tile(const outer_block *block, int64_t row, const int32_t rows, const int32_t vectors) {
  simd_f32 sum[OUTER_ROWS][OUTER_VECTORS];
  SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
    SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) sum[r][v] = simd_set(0.0f);
  }
  const float *left = block->left + row;
  for (int64_t i = 0; i < block->count; ++i, left += block->left_step) {
    simd_f32 x[OUTER_VECTORS];
    SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) x[v] = simd_load_f32(block->right[i] + v * SIMD_WIDTH);
    if (SIMD_FACTORS > 1 && rows % SIMD_FACTORS == 0) {
      SIMD_UNROLL for (int32_t first = 0; first < rows; first += SIMD_FACTORS) {
        const simd_factors factors = simd_load_factors(left + first);
        SIMD_UNROLL for (int32_t lane = 0; lane < SIMD_FACTORS; ++lane) {
          SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
            sum[first + lane][v] = simd_fma_lane(factors, lane, x[v], sum[first + lane][v]);
          }
        }
      }
    } else {
      SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
        SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) sum[r][v] = simd_fma(simd_set(left[r]), x[v], sum[r][v]);
      }
    }
  }
  SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
    float *c = block->c + (row + r) * block->c_step;
    SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
      const int64_t left_over = block->columns - v * SIMD_WIDTH;
      const int32_t lanes = left_over < SIMD_WIDTH ? (int32_t)left_over : SIMD_WIDTH;
      float *to = c + v * SIMD_WIDTH;
      const simd_f32 total = block->adds ? simd_load_lanes_f32(to, lanes) + sum[r][v] : sum[r][v];
      if (lanes == SIMD_WIDTH) {
        simd_store_f32(to, total);
      } else {
        memcpy(to, &total, (size_t)lanes * sizeof *to);
      }
    }
  }
}

SIMD_INLINE void outer_tiles(const outer_block *block, int64_t rows, const int32_t vectors) {
  int64_t row = 0;
  for (; row + OUTER_ROWS <= rows; row += OUTER_ROWS) outer_tile(block, row, OUTER_ROWS, vectors);
  for (; row + 4 <= rows; row += 4) outer_tile(block, row, 4, vectors);
  for (; row < rows; ++row) outer_tile(block, row, 1, vectors);
}

void MSLITE_ISA_NAME(mslite_outer_run)(const outer_block *block, int64_t rows) {
  if (block->columns > SIMD_WIDTH) {
    outer_tiles(block, rows, OUTER_VECTORS);
  } else {
    outer_tiles(block, rows, 1);
  }
}
