/* The register tiles of training/outer.h. */
#include "training/outer.h"

/* Copies a tile whose vectors extend beyond the last column to its place. */
static void outer_put(const outer_block *block, int64_t row, int32_t rows, const float *part) {
  for (int32_t r = 0; r < rows; ++r) {
    float *c = block->c + (row + r) * block->c_step;
    for (int64_t i = 0; i < block->columns; ++i) {
      c[i] = block->adds ? c[i] + part[r * OUTER_COLUMNS + i] : part[r * OUTER_COLUMNS + i];
    }
  }
}

SIMD_INLINE void outer_tile(const outer_block *block, int64_t row, const int32_t rows, const int32_t vectors) {
  simd_f32 sum[OUTER_ROWS][OUTER_VECTORS];
  SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
    SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) sum[r][v] = simd_set(0.0f);
  }
  const float *left = block->left + row / OUTER_ROWS * block->left_tile + row % OUTER_ROWS;
  /* Prefetches the values that the sums are added to. */
  for (int32_t r = 0; SIMD_WIDTH > 1 && block->adds && r < rows; ++r) {
    const float *place = block->c + (row + r) * block->c_step;
    __builtin_prefetch(place, 1);
    if (vectors * SIMD_WIDTH > 16) __builtin_prefetch(place + 16, 1);
  }
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
  const bool whole = block->columns == vectors * SIMD_WIDTH;
  float part[OUTER_ROWS * OUTER_COLUMNS];
  float *to = whole ? block->c + row * block->c_step : part;
  const int64_t to_step = whole ? block->c_step : OUTER_COLUMNS;
  const bool adds = whole && block->adds;
  SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
    SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
      float *place = to + r * to_step + v * SIMD_WIDTH;
      simd_store_f32(place, adds ? simd_load_f32(place) + sum[r][v] : sum[r][v]);
    }
  }
  if (!whole) outer_put(block, row, rows, part);
}

SIMD_INLINE void outer_tiles(const outer_block *block, int64_t rows, const int32_t vectors) {
  int64_t row = 0;
  for (; row + OUTER_ROWS <= rows; row += OUTER_ROWS) outer_tile(block, row, OUTER_ROWS, vectors);
  for (; row + 4 <= rows; row += 4) outer_tile(block, row, 4, vectors);
  const int64_t left = rows - row;
  if (left == 3) {
    outer_tile(block, row, 3, vectors);
  } else if (left == 2) {
    outer_tile(block, row, 2, vectors);
  } else if (left == 1) {
    outer_tile(block, row, 1, vectors);
  }
}

void MSLITE_ISA_NAME(mslite_outer_run)(const outer_block *block, int64_t rows) {
  if (block->columns > SIMD_WIDTH) {
    outer_tiles(block, rows, OUTER_VECTORS);
  } else {
    outer_tiles(block, rows, 1);
  }
}
