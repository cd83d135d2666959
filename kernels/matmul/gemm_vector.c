/* The inner loops of gemm.h, once for all kernels that multiply matrices. */
#include "matmul/gemm.h"
#if SIMD_HALF
#include "matmul/tile_half.h"
#else
#include "matmul/tile.h"
#endif

#define GEMM_CASE(rows, panels)                        \
  case rows:                                           \
    if (rows <= GEMM_ROWS) gemm_tile(g, rows, panels); \
    break;

/* One panel: 1 to GEMM_ROWS rows. */
static __attribute__((noinline)) void gemm_one_panel(const gemm_block *g, int32_t rows) {
  switch (rows) {
    GEMM_CASE(1, 1)
    GEMM_CASE(2, 1)
    GEMM_CASE(3, 1)
    GEMM_CASE(4, 1)
#if SIMD_WIDTH >= 4
    GEMM_CASE(5, 1)
    GEMM_CASE(6, 1)
#endif
#if SIMD_WIDTH == 16 || SIMD_HALF
    GEMM_CASE(7, 1)
    GEMM_CASE(8, 1)
#endif
#if SIMD_WIDTH == 16
    GEMM_CASE(9, 1)
    GEMM_CASE(10, 1)
    GEMM_CASE(11, 1)
    GEMM_CASE(12, 1)
    GEMM_CASE(13, 1)
    GEMM_CASE(14, 1)
#endif
    default:
      break;
  }
}
#undef GEMM_CASE

#if SIMD_HALF
#define GEMM_HALF_CASE(rows)  \
  case rows:                  \
    gemm_vectors(g, rows, 1); \
    break;

/* The first vector of a panel. */
static __attribute__((noinline)) void gemm_half_panel(const gemm_block *g, int32_t rows) {
  switch (rows) {
    GEMM_HALF_CASE(1)
    GEMM_HALF_CASE(2)
    GEMM_HALF_CASE(3)
    GEMM_HALF_CASE(4)
    GEMM_HALF_CASE(5)
    GEMM_HALF_CASE(6)
    GEMM_HALF_CASE(7)
    GEMM_HALF_CASE(8)
    default:
      break;
  }
}
#undef GEMM_HALF_CASE
#endif

/* The vectors of a panel that hold `columns` columns. */
static void gemm_panel(const gemm_block *g, int32_t rows, int64_t columns) {
#if SIMD_HALF
  if (columns <= GEMM_LANES) {
    gemm_half_panel(g, rows);
    return;
  }
#endif
  (void)columns;
  gemm_one_panel(g, rows);
}

/* One or two rows are too few sums to hide the latency of a multiply-add, so they take several panels at once. */
static __attribute__((noinline)) void gemm_four_panels(const gemm_block *g) { gemm_tile(g, 1, 4); }
static __attribute__((noinline)) void gemm_two_panels(const gemm_block *g) { gemm_tile(g, 2, 2); }

/* The last panel where columns are missing: computed whole in a padded copy. */
static __attribute__((noinline)) void gemm_edge_panel(const gemm_block *g, int32_t rows) {
  simd_real c[GEMM_ROWS * GEMM_COLUMNS], residual[GEMM_ROWS * GEMM_COLUMNS], bias[GEMM_COLUMNS];
  const size_t bytes = (size_t)g->columns * sizeof *c;
  gemm_block padded = *g;
  memset(c, 0, sizeof c);
  if (g->bias != NULL) {
    memset(bias, 0, sizeof bias);
    memcpy(bias, g->bias, bytes);
    padded.bias = bias;
  }
  if (g->residual != NULL) {
    memset(residual, 0, sizeof residual);
    for (int32_t r = 0; r < rows; ++r) memcpy(residual + r * GEMM_COLUMNS, g->residual + r * g->c_step, bytes);
    padded.residual = residual;
  }
  for (int32_t r = 0; r < rows && g->accumulate; ++r) memcpy(c + r * GEMM_COLUMNS, g->c + r * g->c_step, bytes);
  padded.c = c;
  padded.c_step = GEMM_COLUMNS;
  gemm_panel(&padded, rows, g->columns);
  for (int32_t r = 0; r < rows; ++r) memcpy(g->c + r * g->c_step, c + r * GEMM_COLUMNS, bytes);
}

static inline void gemm_next_column(gemm_block *g, int64_t columns) {
  g->b += columns / GEMM_COLUMNS * g->b_step;
  g->c += columns;
  if (g->bias != NULL) g->bias += columns;
  if (g->residual != NULL) g->residual += columns;
  g->columns -= columns;
}

static inline void gemm_next_row(gemm_block *g, int64_t rows) {
  g->a += rows;
  g->c += rows * g->c_step;
  if (g->residual != NULL) g->residual += rows * g->c_step;
  g->rows -= rows;
}

/* Panel by panel, each used for all rows while it is in the L1 cache. */
void gemm_run(const gemm_block *block) {
  gemm_block left = *block;
#if SIMD_HALF
  simd_real
      total[GEMM_SUMS * GEMM_LANES]; /* here, and not in each tile's own frame, which would have a guard to check */
  left.total = total;
#endif
  while (left.columns > 0) {
    int64_t columns = left.columns < GEMM_COLUMNS ? left.columns : GEMM_COLUMNS;
    if (block->rows == 1 && left.columns >= 4 * GEMM_COLUMNS && GEMM_ROWS >= 4) {
      columns = 4 * GEMM_COLUMNS;
      gemm_four_panels(&left);
    } else if (block->rows == 2 && left.columns >= 2 * GEMM_COLUMNS) {
      columns = 2 * GEMM_COLUMNS;
      gemm_two_panels(&left);
    } else {
      gemm_block tile = left;
      /* Tiles of nearly equal height: a last tile of one row would run at a third of the speed. */
      for (int64_t tiles = (block->rows + GEMM_ROWS - 1) / GEMM_ROWS; tiles > 0; --tiles) {
        const int32_t rows = (int32_t)((tile.rows + tiles - 1) / tiles);
        if (columns == GEMM_COLUMNS || (SIMD_HALF && columns == GEMM_LANES)) {
          gemm_panel(&tile, rows, columns);
        } else {
          gemm_edge_panel(&tile, rows);
        }
        gemm_next_row(&tile, rows);
      }
    }
    gemm_next_column(&left, columns);
  }
}
