/* Matmuls that sum over the rows of both operands: c[row][column] = sum over i of left[i][row] * right[i][column],
 * with both in their original layout. Nothing is transposed or packed: a register tile reads one row of each at a
 * time. For `_vector.c` files. */
#ifndef MSLITE_MATMUL_OUTER_H
#define MSLITE_MATMUL_OUTER_H

#include "kernel.h"
#include "simd/simd.h"

enum {
  OUTER_VECTORS = 2,
  OUTER_COLUMNS = OUTER_VECTORS * SIMD_WIDTH, /* per panel */
  OUTER_ROWS = SIMD_REGISTERS == 16 ? 4 : 12, /* of the largest tile */
  OUTER_STEP = 256, /* rows of left and right that are summed in registers: a panel of 32 KB stays in the L1 cache */
  OUTER_BLOCK = (SIMD_WIDTH == 4 ? 8 : 32) * OUTER_ROWS, /* rows of c: a step of them stays in the L2 cache */
  OUTER_TOGETHER = 4,            /* tiles whose left is copied together: whole cache lines of a row */
  OUTER_COPIED = 4 * OUTER_ROWS, /* rows of c from which on copying a panel pays off */
  OUTER_NEAR = 8 * OUTER_ROWS    /* floats between rows of left up to which copying does not pay off */
};

typedef struct {
  const float *left;
  int64_t left_step;         /* between rows */
  int64_t left_tile;         /* between the columns of adjacent tiles */
  const float *const *right; /* pointers to `count` rows, of which whole vectors can be read */
  int64_t count;
  float *c;
  int64_t c_step;
  int64_t columns; /* at most OUTER_COLUMNS */
  bool adds;       /* to the contents of c */
} outer_block;

/* Computes `rows` rows of c of one panel. */
void MSLITE_ISA_NAME(mslite_outer_run)(const outer_block *block, int64_t rows);

/* Returns the rows of c that are computed with one copy of left, of `rows` rows. */
static inline int64_t outer_block_rows(int64_t rows) { return rows < OUTER_BLOCK ? rows : OUTER_BLOCK; }

/* Returns the floats of the workspace for `rows` rows of c: a panel, and a step of a block of left in whole tiles. */
static inline int64_t outer_scratch(int64_t rows) {
  return OUTER_STEP * (OUTER_COLUMNS + (outer_block_rows(rows) + OUTER_ROWS - 1) / OUTER_ROWS * OUTER_ROWS);
}

/* Rows with a large distance compete for few cache sets, so the parts that a tile reads are copied together. */
static inline void outer_copy_left(outer_block *block, int64_t rows, float *copy) {
  block->left_tile = OUTER_ROWS;
  if (block->left_step <= OUTER_NEAR) return;
  const int64_t tile = block->count * OUTER_ROWS;
  for (int64_t row = 0; row < rows; row += OUTER_TOGETHER * OUTER_ROWS) {
    const float *from = block->left + row;
    float *to = copy + row * block->count;
    const int64_t width = rows - row;
    for (int64_t i = 0; i < block->count; ++i, from += block->left_step, to += OUTER_ROWS) {
      if (width >= OUTER_TOGETHER * OUTER_ROWS) {
        SIMD_UNROLL for (int32_t t = 0; t < OUTER_TOGETHER; ++t) {
          memcpy(to + t * tile, from + t * OUTER_ROWS, OUTER_ROWS * sizeof *to);
        }
        continue;
      }
      for (int64_t first = 0, t = 0; first < width; first += OUTER_ROWS, t += tile) {
        if (width - first >= OUTER_ROWS) {
          memcpy(to + t, from + first, OUTER_ROWS * sizeof *to);
        } else {
          memcpy(to + t, from + first, (size_t)(width - first) * sizeof *to);
        }
      }
    }
  }
  block->left = copy;
  block->left_step = OUTER_ROWS;
  block->left_tile = block->count * OUTER_ROWS;
}

/* Returns one row of a panel: in place, or a copy if c has enough rows, or if whole vectors would extend beyond
 * `end`. */
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
