/* Products of matrices that are summed over their rows: c[row][column] = sum over i of left[i][row] * right[i][column],
 * the rows of both as they lie in memory. Nothing is turned around or packed: a register tile takes one row of each
 * after the other. For `_vector.c` files. */
#ifndef MSLITE_MATMUL_OUTER_H
#define MSLITE_MATMUL_OUTER_H

#include "kernel.h"
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

/* `rows` rows of c of one panel. */
void MSLITE_ISA_NAME(mslite_outer_run)(const outer_block *block, int64_t rows);

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
