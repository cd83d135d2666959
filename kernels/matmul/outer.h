/* Products of matrices that are summed over their rows: c[row][column] = sum over i of left[i][row] * right[i][column],
 * the rows of both as they lie in memory. Nothing is turned around or packed: a register tile takes one row of each
 * after the other. For `_vector.c` files. */
#ifndef MSLITE_MATMUL_OUTER_H
#define MSLITE_MATMUL_OUTER_H

#include "simd/simd.h"

enum {
  OUTER_VECTORS = 2,
  OUTER_COLUMNS = OUTER_VECTORS * SIMD_WIDTH, /* of a panel */
  OUTER_ROWS = SIMD_REGISTERS == 16 ? 4 : 12, /* of the largest tile */
  OUTER_STEP = 256, /* rows of left and right that are summed in registers: a panel of 32 KB stays in the L1 cache */
  OUTER_BLOCK = 8 * OUTER_ROWS, /* rows of c: a step of them stays in the L2 cache */
  OUTER_COPIED = 4 * OUTER_ROWS /* rows of c from which on it pays to copy a panel */
};

/* Floats of the workspace: a panel, and a step of a block of left. */
#define OUTER_SCRATCH (OUTER_STEP * (OUTER_COLUMNS + OUTER_BLOCK))

typedef struct {
  const float *left;
  int64_t left_step;
  const float *const *right; /* pointers to `count` rows, of which whole vectors can be read */
  int64_t count;
  float *c;
  int64_t c_step;
  int64_t columns; /* at most OUTER_COLUMNS */
  bool adds;       /* to what is in c */
} outer_block;

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

/* All rows of c of one panel. */
static inline void outer_run(const outer_block *block, int64_t rows) {
  if (block->columns > SIMD_WIDTH) {
    outer_tiles(block, rows, OUTER_VECTORS);
  } else {
    outer_tiles(block, rows, 1);
  }
}

/* Rows that lie far apart fall into few places of the caches: a block of them is copied next to each other. */
static inline void outer_copy_left(outer_block *block, int64_t rows, float *copy) {
  if (block->left_step <= OUTER_BLOCK) return;
  for (int64_t i = 0; i < block->count; ++i) {
    memcpy(copy + i * OUTER_BLOCK, block->left + i * block->left_step, (size_t)rows * sizeof *copy);
  }
  block->left = copy;
  block->left_step = OUTER_BLOCK;
}

/* One row of a panel: where it lies, or, for so many rows of c that it pays, and where whole vectors would reach over
 * `end`, a copy. */
SIMD_INLINE const float *outer_line(const float *line, int64_t columns, const bool copied, const float *end,
                                    float *copy) {
  if (end - line < OUTER_COLUMNS) {
    memset(copy, 0, OUTER_COLUMNS * sizeof *copy);
    memcpy(copy, line, (size_t)columns * sizeof *copy);
    return copy;
  }
  if (!copied) return line;
  SIMD_UNROLL for (int32_t v = 0; v < OUTER_COLUMNS; v += SIMD_WIDTH) {
    simd_store_f32(copy + v, simd_load_f32(line + v));
  }
  return copy;
}

#endif
