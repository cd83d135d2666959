/* Packing and partitioning for the GEMM kernels. */
#include "matmul/pack.h"

#include <string.h>

#include "unary/half.h"

enum {
  LARGEST_K_BLOCK = 384,   /* x 16 columns: a panel of 24 KB stays in the L1 cache, 96 rows of a in the L2 cache */
  SMALLEST_PART = 1 << 18, /* multiply-accumulates; about 10 microseconds */
  MAX_PARTS = 48,
  PACKED_ROWS = 64,
  PACKED_COLUMNS = 8 /* at a time: this many adjacent stores are fast, more distant ones are not */
};

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t mslite_packed_floats(int64_t k, int64_t n, int32_t width) { return divide_up(n, width) * width * k; }

/* Packs rows [first, last) of one panel of `columns` columns. */
static void pack_rows(const float *b, int64_t first, int64_t last, int64_t k_step, int64_t n_step, int64_t columns,
                      int64_t width, float *panel) {
  int64_t j = 0;
  for (; j + PACKED_COLUMNS <= columns; j += PACKED_COLUMNS) {
    const float *from = b + first * k_step + j * n_step;
    float *to = panel + first * width + j;
    for (int64_t i = first; i < last; ++i, from += k_step, to += width) {
      to[0] = from[0];
      to[1] = from[n_step];
      to[2] = from[2 * n_step];
      to[3] = from[3 * n_step];
      to[4] = from[4 * n_step];
      to[5] = from[5 * n_step];
      to[6] = from[6 * n_step];
      to[7] = from[7 * n_step];
    }
  }
  for (; j < columns; ++j) {
    for (int64_t i = first; i < last; ++i) panel[i * width + j] = b[i * k_step + j * n_step];
  }
  for (; j < width; ++j) {
    for (int64_t i = first; i < last; ++i) panel[i * width + j] = 0.0f;
  }
}

void mslite_pack_panels(const float *b, int64_t k, int64_t n, int64_t k_step, int64_t n_step, int32_t width,
                        int64_t first, int64_t last, float *packed) {
  for (int64_t panel = first; panel < last; ++panel) {
    const float *source = b + panel * width * n_step;
    float *target = packed + panel * width * k;
    const int64_t columns = smaller(width, n - panel * width);
    if (n_step == 1 && columns == width) {
      for (int64_t i = 0; i < k; ++i) memcpy(target + i * width, source + i * k_step, (size_t)width * sizeof *target);
      continue;
    }
    /* A few columns at a time, so that b is read in order; the rows of one block stay in the L1 cache. */
    for (int64_t i = 0; i < k; i += PACKED_ROWS) {
      pack_rows(source, i, smaller(i + PACKED_ROWS, k), k_step, n_step, columns, width, target);
    }
  }
}

void mslite_pack_half_panels(const float *b, int64_t k, int64_t n, int64_t k_step, int64_t n_step, int32_t width,
                             int64_t first, int64_t last, uint16_t *packed) {
  for (int64_t panel = first; panel < last; ++panel) {
    const float *source = b + panel * width * n_step;
    uint16_t *target = packed + panel * width * k;
    const int64_t columns = smaller(width, n - panel * width);
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t j = 0; j < width; ++j) {
        target[i * width + j] = j < columns ? mslite_half_of_float(source[i * k_step + j * n_step]) : 0;
      }
    }
  }
}

void mslite_copy_half_panels(const uint16_t *b, int64_t k, int64_t n, int64_t k_step, int64_t n_step, int32_t width,
                             int64_t first, int64_t last, uint16_t *packed) {
  for (int64_t panel = first; panel < last; ++panel) {
    const uint16_t *source = b + panel * width * n_step;
    uint16_t *target = packed + panel * width * k;
    const int64_t columns = smaller(width, n - panel * width);
    if (columns < width) memset(target, 0, (size_t)(width * k) * sizeof *target);
    if (n_step == 1) {
      for (int64_t i = 0; i < k; ++i) memcpy(target + i * width, source + i * k_step, (size_t)columns * sizeof *target);
      continue;
    }
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = 0; i < k; ++i) target[i * width + j] = source[i * k_step + j * n_step];
    }
  }
}

void mslite_plan_gemm(int64_t m, int64_t n, int64_t k, int32_t height, int32_t width, mslite_gemm_plan *plan) {
  const int64_t tiles = larger(1, divide_up(m, height)), panels = larger(1, divide_up(n, width));
  const int64_t k_blocks = larger(1, divide_up(k, LARGEST_K_BLOCK));
  /* With few rows a panel is used once or twice, so it need not stay in the cache. */
  plan->k_block = m <= 2 * height ? larger(1, k) : larger(1, divide_up(k, k_blocks));
  const double work = (double)m * (double)n * (double)k;
  const int64_t wanted = work >= (double)MAX_PARTS * (double)SMALLEST_PART
                             ? MAX_PARTS
                             : larger(1, (int64_t)(work / (double)SMALLEST_PART));
  const int64_t most_tiles = larger(1, MSLITE_LARGEST_ROW_BLOCK / height);
  /* Columns first: each block of rows reads all of b again, mostly from a slower cache than a. */
  int64_t row_blocks = divide_up(tiles, most_tiles);
  const int64_t panel_blocks = smaller(divide_up(wanted, row_blocks), larger(1, panels / 2));
  row_blocks = larger(row_blocks, smaller(divide_up(wanted, panel_blocks), tiles / 4));
  plan->row_block = divide_up(tiles, row_blocks) * height;
  plan->row_blocks = divide_up(larger(1, m), plan->row_block);
  plan->panel_block = divide_up(panels, panel_blocks);
  plan->panel_blocks = divide_up(panels, plan->panel_block);
}
