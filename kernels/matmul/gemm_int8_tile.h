/* The inner loops of gemm_int8_dot.c: tiles of sums in registers. */
#ifndef MSLITE_MATMUL_GEMM_INT8_TILE_H
#define MSLITE_MATMUL_GEMM_INT8_TILE_H

#include "matmul/gemm_int8.h"

#if SIMD_WIDTH == 16 && SIMD_DOT
/* Two panels at once, in tiles of half the height: each unit of a is broadcast for both, so that the loop has 10 loads
 * where one panel's has 14. */
enum { MOST_PANELS = 2 };
#else
enum { MOST_PANELS = 1 };
#endif

SIMD_INLINE dot_right load_right(const char *b, const bool stored) {
  return stored ? dot_load_stored((const int8_t *)b) : dot_load((const dot_weight *)(const void *)b);
}

/* Sums as a tile begins with them. */
SIMD_INLINE simd_i32 first_sum(const gemm_int8_block *g, const int32_t *to, const int32_t i) {
  return simd_load_i32(g->first ? g->bias + i % GEMM_INT8_VECTORS * SIMD_WIDTH : to + i * SIMD_WIDTH);
}

/* One unit of k of every row: `a` are the places of every third row. */
SIMD_INLINE void add_unit(const dot_element *const *a, const int64_t a_step, const char *b, const int64_t b_step,
                          simd_i32 *sum, const int32_t rows, const bool stored) {
  enum { V = GEMM_INT8_VECTORS };
  dot_right right[V];
  SIMD_UNROLL for (int32_t v = 0; v < V; ++v) right[v] = load_right(b + v * b_step, stored);
  SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
    const dot_left left = dot_broadcast(a[r / 3] + r % 3 * a_step);
    SIMD_UNROLL for (int32_t v = 0; v < V; ++v) sum[r * V + v] = dot_add(sum[r * V + v], left, right[v]);
  }
}

#if DOT_LANES > 1
/* The same for DOT_LANES units. */
SIMD_INLINE void add_units(const dot_element *const *a, const int64_t a_step, const char *b, const int64_t b_step,
                           simd_i32 *sum, const int32_t rows) {
  enum { V = GEMM_INT8_VECTORS };
  dot_units left[GEMM_INT8_ROWS];
  SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) left[r] = dot_load_units(a[r / 3] + r % 3 * a_step);
  SIMD_UNROLL for (int32_t lane = 0; lane < DOT_LANES; ++lane) {
    SIMD_UNROLL for (int32_t v = 0; v < V; v += SIMD_LOADS) {
      dot_right right[SIMD_LOADS];
      SIMD_UNROLL for (int32_t i = 0; i < SIMD_LOADS; ++i) {
        right[i] = load_right(b + (lane * V + v + i) * b_step, false);
      }
      SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
        SIMD_UNROLL for (int32_t i = 0; i < SIMD_LOADS; ++i) {
          sum[r * V + v + i] = dot_add_lane(sum[r * V + v + i], left[r], lane, right[i]);
        }
      }
    }
  }
}
#endif

/* `rows` x GEMM_INT8_COLUMNS sums; `rows` is a constant where this is inlined. */
SIMD_INLINE void tile(const gemm_int8_block *g, const char *b, int32_t *to, const int32_t rows) {
  enum { V = GEMM_INT8_VECTORS };
  const int64_t b_step = SIMD_WIDTH * DOT_DEPTH * (int64_t)sizeof(dot_weight);
  simd_i32 sum[GEMM_INT8_ROWS * V];
  SIMD_UNROLL for (int32_t i = 0; i < rows * V; ++i) sum[i] = first_sum(g, to, i);
  const dot_element *a[(GEMM_INT8_ROWS + 2) / 3];
  const int64_t a_step = g->a_step;
  SIMD_UNROLL for (int32_t r = 0; r < rows; r += 3) a[r / 3] = g->a + r * a_step;
  ptrdiff_t units = (ptrdiff_t)g->units; /* one register on every processor */
#if DOT_LANES > 1
  for (; units >= DOT_LANES; units -= DOT_LANES, b += DOT_LANES * V * b_step) {
    add_units(a, a_step, b, b_step, sum, rows);
    SIMD_UNROLL for (int32_t r = 0; r < rows; r += 3) a[r / 3] += DOT_LANES * DOT_DEPTH;
  }
  for (; units > 0; --units, b += V * b_step) {
    add_unit(a, a_step, b, b_step, sum, rows, false);
    SIMD_UNROLL for (int32_t r = 0; r < rows; r += 3) a[r / 3] += DOT_DEPTH;
  }
#else
  do { /* units > 0: sums that a loop might pass by are copied around it. */
    add_unit(a, a_step, b, b_step, sum, rows, false);
    SIMD_UNROLL for (int32_t r = 0; r < rows; r += 3) a[r / 3] += DOT_DEPTH;
    b += V * b_step;
  } while (--units > 0);
#endif
  SIMD_UNROLL for (int32_t i = 0; i < rows * V; ++i) simd_store_i32(to + i * SIMD_WIDTH, sum[i]);
}

/* The same for one or two rows, in several chains of sums, so that no sum waits for the one before. `stored`: b is as
 * it is packed. */
SIMD_INLINE void short_tile(const gemm_int8_block *g, const char *b, int32_t *to, const int32_t rows,
                            const bool stored) {
  enum { V = GEMM_INT8_VECTORS, MOST_SUMS = 8 };
  const int64_t b_step = SIMD_WIDTH * DOT_DEPTH * (stored ? 1 : (int64_t)sizeof(dot_weight));
  const int32_t chains = MOST_SUMS / (rows * V);
  simd_i32 sum[MOST_SUMS];
  SIMD_UNROLL for (int32_t i = 0; i < rows * V; ++i) sum[i] = first_sum(g, to, i);
  SIMD_UNROLL for (int32_t i = rows * V; i < MOST_SUMS; ++i) sum[i] = simd_set_i32(0);
  const dot_element *a = g->a;
  const int64_t a_step = g->a_step;
  ptrdiff_t units = (ptrdiff_t)g->units;
  for (; units >= chains; units -= chains) {
    SIMD_UNROLL for (int32_t c = 0; c < chains; ++c, a += DOT_DEPTH, b += V * b_step) {
      add_unit(&a, a_step, b, b_step, sum + c * rows * V, rows, stored);
    }
  }
  for (; units > 0; --units, a += DOT_DEPTH, b += V * b_step) add_unit(&a, a_step, b, b_step, sum, rows, stored);
  SIMD_UNROLL for (int32_t i = rows * V; i < MOST_SUMS; ++i) sum[i % (rows * V)] += sum[i];
  SIMD_UNROLL for (int32_t i = 0; i < rows * V; ++i) simd_store_i32(to + i * SIMD_WIDTH, sum[i]);
}

#define TILE_CASE(rows)                      \
  case rows:                                 \
    if (rows * GEMM_INT8_VECTORS <= 4) {     \
      short_tile(g, b, to, rows, rows == 1); \
    } else if (rows <= GEMM_INT8_ROWS) {     \
      tile(g, b, to, rows);                  \
    }                                        \
    break;

static __attribute__((noinline)) void run_tile(const gemm_int8_block *g, const char *b, int32_t *to, int64_t rows) {
  switch (SIMD_WIDTH == 16 && rows > 1 ? rows + rows % 2 : rows) {
    TILE_CASE(1)
    TILE_CASE(2)
    TILE_CASE(4)
    TILE_CASE(6)
#if SIMD_WIDTH == 16
    TILE_CASE(8)
    TILE_CASE(10)
    TILE_CASE(12)
#else
    TILE_CASE(3)
    TILE_CASE(5)
#endif
    default:
      break;
  }
}
#undef TILE_CASE

#if SIMD_WIDTH == 16 && SIMD_DOT
/* Where sum i of a tile of two panels is kept: four vectors of a row, two of each panel. */
#define PAIR_AT(i) (((i) % 4 < 2 ? first : second) + ((i) / 4 * 2 + (i) % 2) * SIMD_WIDTH)

/* `rows` x GEMM_INT8_COLUMNS sums of each of two panels. */
SIMD_INLINE void pair_tile(const gemm_int8_block *g, int32_t *first, int32_t *second, const int32_t rows) {
  enum { V = 2 * GEMM_INT8_VECTORS };
  simd_i32 sum[GEMM_INT8_ROWS / 2 * V];
  if (g->first) {
    SIMD_UNROLL for (int32_t i = 0; i < rows * V; ++i) sum[i] = simd_load_i32(g->bias + i % V * SIMD_WIDTH);
  } else {
    SIMD_UNROLL for (int32_t i = 0; i < rows * V; ++i) sum[i] = simd_load_i32(PAIR_AT(i));
  }
  const int64_t a_step = g->a_step, b_step = g->b_step;
  const dot_element *a[2] = {g->a, g->a + 3 * a_step};
  const int8_t *b = g->b;
  int64_t k = g->units; /* not 0 */
  do {
    dot_right right[V];
    SIMD_UNROLL for (int32_t v = 0; v < V; ++v) {
      right[v] = dot_load(b + v / GEMM_INT8_VECTORS * b_step + v % GEMM_INT8_VECTORS * (SIMD_WIDTH * DOT_DEPTH));
    }
    SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
      const dot_left left = dot_broadcast(a[r / 3] + r % 3 * a_step);
      SIMD_UNROLL for (int32_t v = 0; v < V; ++v) sum[r * V + v] = dot_add(sum[r * V + v], left, right[v]);
    }
    b += GEMM_INT8_COLUMNS * DOT_DEPTH;
    SIMD_UNROLL for (int32_t r = 0; r < rows; r += 3) a[r / 3] += DOT_DEPTH;
  } while (--k != 0);
  SIMD_UNROLL for (int32_t i = 0; i < rows * V; ++i) simd_store_i32(PAIR_AT(i), sum[i]);
}

static __attribute__((noinline)) void run_pair_tile(const gemm_int8_block *g, int32_t *first, int32_t *second,
                                                    int64_t rows) {
  if (rows > 4) {
    pair_tile(g, first, second, 6);
  } else if (rows > 2) {
    pair_tile(g, first, second, 4);
  } else {
    pair_tile(g, first, second, 2);
  }
}
#undef PAIR_AT
#endif

#endif
