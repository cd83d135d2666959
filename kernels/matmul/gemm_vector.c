/* The inner loops of gemm.h, shared by all kernels that multiply matrices. */
#include "matmul/gemm.h"
#if SIMD_HALF
#include "matmul/tile_half.h"
#if SIMD_ASSEMBLY
#include "matmul/tile_half_arm64.h"
#endif
#else
#include "matmul/tile.h"
#if SIMD_ASSEMBLY
#include "matmul/tile_arm64.h"
#endif
#endif

/* The fewest vectors of a tile: if the last panel has few columns, only half of it is computed. */
enum { GEMM_FEWEST = SIMD_WIDTH > 1 ? GEMM_VECTORS / 2 : GEMM_VECTORS };

#define GEMM_CASE(rows)                                 \
  case rows:                                            \
    if (rows <= GEMM_ROWS) gemm_tile(g, rows, vectors); \
    break;

/* Computes 1 to GEMM_ROWS rows. */
SIMD_INLINE void gemm_rows(const gemm_block *g, int32_t rows, const int32_t vectors) {
  switch (rows) {
    GEMM_CASE(1)
    GEMM_CASE(2)
    GEMM_CASE(3)
    GEMM_CASE(4)
#if SIMD_WIDTH >= 4
    GEMM_CASE(5)
    GEMM_CASE(6)
#endif
#if SIMD_WIDTH == 16 || SIMD_HALF
    GEMM_CASE(7)
    GEMM_CASE(8)
#endif
#if SIMD_WIDTH == 16
    GEMM_CASE(9)
    GEMM_CASE(10)
    GEMM_CASE(11)
    GEMM_CASE(12)
    GEMM_CASE(13)
    GEMM_CASE(14)
#endif
    default:
      break;
  }
}
#undef GEMM_CASE

static __attribute__((noinline)) void gemm_one_panel(const gemm_block *g, int32_t rows) {
  gemm_rows(g, rows, GEMM_VECTORS);
}

static __attribute__((noinline)) void gemm_half_panel(const gemm_block *g, int32_t rows) {
  gemm_rows(g, rows, GEMM_FEWEST);
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

/* Computes `tiles` tiles of `rows` rows, one below the other. `fetch`: they are the first of their panel. */
static void gemm_tiles(const gemm_block *g, int32_t rows, int64_t tiles, int32_t vectors, bool fetch) {
#if SIMD_ASSEMBLY
  if (gemm_tiles_arm64(g, rows, tiles, vectors, fetch)) return;
#endif
  (void)fetch;
  gemm_block tile = *g;
  for (; tiles > 0; --tiles) {
    if (vectors == GEMM_VECTORS) {
      gemm_one_panel(&tile, rows);
    } else {
      gemm_half_panel(&tile, rows);
    }
    gemm_next_row(&tile, rows);
  }
}

/* One or two rows have too few sums to hide the latency of a multiply-add, so they use several panels together, as
 * far as registers allow. */
enum { PANELS_OF_ONE = GEMM_ROWS < 4 ? 2 : 4, PANELS_OF_TWO = GEMM_ROWS < 4 ? 1 : 2 };
static __attribute__((noinline)) void gemm_one_row(const gemm_block *g) {
  gemm_tile(g, 1, PANELS_OF_ONE * GEMM_VECTORS);
}
static __attribute__((noinline)) void gemm_two_rows(const gemm_block *g) {
  gemm_tile(g, 2, PANELS_OF_TWO * GEMM_VECTORS);
}

/* Computes a last panel with missing columns: whole vectors, in a padded copy of a tile. */
static __attribute__((noinline)) void gemm_edge_panel(const gemm_block *g, int32_t rows, int32_t vectors, bool fetch) {
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
  gemm_tiles(&padded, rows, 1, vectors, fetch);
  for (int32_t r = 0; r < rows; ++r) memcpy(g->c + r * g->c_step, c + r * GEMM_COLUMNS, bytes);
}

/* Computes `tiles` tiles at the beginning of a panel, which may have fewer columns. */
static void gemm_run_tiles(const gemm_block *panel, int32_t rows, int64_t tiles, bool fetch) {
  const int32_t vectors = panel->columns <= GEMM_FEWEST * GEMM_LANES ? GEMM_FEWEST : GEMM_VECTORS;
  if (panel->columns >= vectors * GEMM_LANES) {
    gemm_tiles(panel, rows, tiles, vectors, fetch);
    return;
  }
  gemm_block tile = *panel;
  for (; tiles > 0; --tiles, fetch = false) {
    gemm_edge_panel(&tile, rows, vectors, fetch);
    gemm_next_row(&tile, rows);
  }
}

/* Computes panel by panel, each for all rows while it is in the L1 cache. */
void gemm_run(const gemm_block *block) {
  gemm_block left = *block;
  if (block->rows < 1) return;
  /* Tiles have nearly equal heights: a last tile of one row would run at a third of the speed. */
  const int64_t tiles = (block->rows + GEMM_ROWS - 1) / GEMM_ROWS, taller = block->rows % tiles;
  const int32_t rows = (int32_t)(block->rows / tiles);
#if SIMD_HALF
  simd_real
      total[GEMM_SUMS * GEMM_LANES]; /* here, and not in each tile's own frame, which would have a guard to check */
  left.total = total;
#endif
  while (left.columns > 0) {
    int64_t columns = GEMM_COLUMNS;
    if (block->rows == 1 && left.columns >= PANELS_OF_ONE * GEMM_COLUMNS) {
      columns = PANELS_OF_ONE * GEMM_COLUMNS;
      gemm_one_row(&left);
    } else if (block->rows == 2 && left.columns >= PANELS_OF_TWO * GEMM_COLUMNS) {
      columns = PANELS_OF_TWO * GEMM_COLUMNS;
      gemm_two_rows(&left);
    } else {
      gemm_block panel = left;
      if (taller > 0) gemm_run_tiles(&panel, rows + 1, taller, true);
      gemm_next_row(&panel, (rows + 1) * taller);
      gemm_run_tiles(&panel, rows, tiles - taller, taller == 0);
    }
    gemm_next_column(&left, columns);
  }
}
