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

/* `rows` x GEMM_INT8_COLUMNS sums; `rows` and `stored` are constants where this is inlined. `stored`: b is as it is
 * packed. Few rows take several chains of sums, so that no sum waits for the one before. */
SIMD_INLINE void tile(const gemm_int8_block *g, const char *b, int32_t *to, const int32_t rows, const bool stored) {
  enum { V = GEMM_INT8_VECTORS };
  const int64_t b_step = SIMD_WIDTH * DOT_DEPTH * (stored ? 1 : (int64_t)sizeof(dot_weight));
  const int32_t chains = rows * V <= 2 ? 4 : rows * V <= 4 ? 2 : 1;
  simd_i32 sum[GEMM_INT8_ROWS * V];
  if (g->first) {
    SIMD_UNROLL for (int32_t i = 0; i < rows * V; ++i) sum[i] = simd_load_i32(g->bias + i % V * SIMD_WIDTH);
  } else {
    SIMD_UNROLL for (int32_t i = 0; i < rows * V; ++i) sum[i] = simd_load_i32(to + i * SIMD_WIDTH);
  }
  SIMD_UNROLL for (int32_t i = rows * V; i < rows * V * chains; ++i) sum[i] = simd_set_i32(0);
  const dot_element *a[(GEMM_INT8_ROWS + 2) / 3];
  const int64_t a_step = g->a_step, units = g->units;
  SIMD_UNROLL for (int32_t r = 0; r < rows; r += 3) a[r / 3] = g->a + r * a_step;
  int64_t k = 0;
  /* units > 0: sums that a loop might pass by are copied around it. */
  if (chains == 1 || chains <= units) {
    do {
      SIMD_UNROLL for (int32_t c = 0; c < chains; ++c) {
        dot_right right[V];
        SIMD_UNROLL for (int32_t v = 0; v < V; ++v) right[v] = load_right(b + v * b_step, stored);
        SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
          const dot_left left = dot_broadcast(a[r / 3] + r % 3 * a_step);
          SIMD_UNROLL for (int32_t v = 0; v < V; ++v) {
            sum[(c * rows + r) * V + v] = dot_add(sum[(c * rows + r) * V + v], left, right[v]);
          }
        }
        b += V * b_step;
        SIMD_UNROLL for (int32_t r = 0; r < rows; r += 3) a[r / 3] += DOT_DEPTH;
      }
      k += chains;
    } while (k + chains <= units);
  }
  SIMD_UNROLL for (int32_t rest = 1; rest < chains; ++rest) {
    if (k++ >= units) break;
    SIMD_UNROLL for (int32_t r = 0; r < rows; ++r) {
      const dot_left left = dot_broadcast(a[r / 3] + r % 3 * a_step);
      SIMD_UNROLL for (int32_t v = 0; v < V; ++v) sum[r * V + v] =
          dot_add(sum[r * V + v], left, load_right(b + v * b_step, stored));
    }
    b += V * b_step;
    SIMD_UNROLL for (int32_t r = 0; r < rows; r += 3) a[r / 3] += DOT_DEPTH;
  }
  SIMD_UNROLL for (int32_t i = 0; i < rows * V; ++i) {
    SIMD_UNROLL for (int32_t c = 1; c < chains; ++c) sum[i] += sum[c * rows * V + i];
    simd_store_i32(to + i * SIMD_WIDTH, sum[i]);
  }
}

#define TILE_CASE(rows)              \
  case rows:                         \
    tile(g, b, to, rows, rows == 1); \
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
