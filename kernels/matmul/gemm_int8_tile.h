/* The inner loops of gemm_int8_dot.c: tiles of sums in registers. */
#ifndef MSLITE_MATMUL_GEMM_INT8_TILE_H
#define MSLITE_MATMUL_GEMM_INT8_TILE_H

#include "matmul/gemm_int8.h"
#include "matmul/gemm_int8_store.h"

#if SIMD_WIDTH == 4
#define TILES_STORE 1 /* stores results while the sums are in registers */
#else
#define TILES_STORE 0
#endif

#if SIMD_WIDTH == 16 && SIMD_DOT
/* Two panels at a time, in tiles of half the height: each unit of a is broadcast for both, so that the loop has 10
 * loads instead of 14. */
enum { MAX_PANELS = 2 };
#else
enum { MAX_PANELS = 1 };
#endif

enum { TILE_UNITS = 2 }; /* arranged units per iteration */

SIMD_INLINE dot_right load_right(const char *b, const bool stored) {
  return stored ? dot_load_stored((const int8_t *)b) : dot_load((const dot_weight *)(const void *)b);
}

/* Initializes the sums of a tile, with `bias` in the first step of k. Vector v of row r is sum[r * GEMM_INT8_VECTORS
 * + v], unless rows are joined. */
SIMD_INLINE void begin_sums(const int32_t *bias, const int32_t *to, simd_i32 *sum, const int32_t rows) {
  enum { V = GEMM_INT8_VECTORS };
#if SIMD_MATRIX
  if (bias != NULL) {
    SIMD_UNROLL for (int32_t v = 0; v < V; ++v) {
      const int64x2_t four = (int64x2_t)simd_load_i32(bias + v * SIMD_WIDTH);
      const simd_i32 low = (simd_i32)vzip1q_s64(four, four), high = (simd_i32)vzip2q_s64(four, four);
      SIMD_UNROLL for (int32_t r = 0; r < rows / 2; ++r) {
        sum[(r * V + v) * 2] = low;
        sum[(r * V + v) * 2 + 1] = high;
      }
    }
    return;
  }
  SIMD_UNROLL for (int32_t i = 0; i < rows / 2 * V; ++i) {
    const int32_t *at = to + i / V * 2 * GEMM_INT8_COLUMNS + i % V * SIMD_WIDTH;
    const int64x2_t one = (int64x2_t)simd_load_i32(at), two = (int64x2_t)simd_load_i32(at + GEMM_INT8_COLUMNS);
    sum[2 * i] = (simd_i32)vzip1q_s64(one, two);
    sum[2 * i + 1] = (simd_i32)vzip2q_s64(one, two);
  }
#elif SIMD_WIDTH == 4
  const int32_t *from = bias != NULL ? bias : to;
  const int64_t step = bias != NULL ? 0 : GEMM_INT8_COLUMNS;
  SIMD_UNROLL for (int32_t i = 0; i < rows * V; ++i) sum[i] = simd_load_i32(from + i / V * step + i % V * SIMD_WIDTH);
#else
  SIMD_UNROLL for (int32_t i = 0; i < rows * V; ++i) {
    sum[i] = simd_load_i32(bias != NULL ? bias + i % V * SIMD_WIDTH : to + i * SIMD_WIDTH);
  }
#endif
}

#if SIMD_MATRIX
/* Rearranges two columns of two rows each to two rows of four columns. */
SIMD_INLINE void part_rows(simd_i32 *sum, const int32_t rows) {
  enum { V = GEMM_INT8_VECTORS };
  simd_i32 apart[GEMM_INT8_ROWS * V];
  SIMD_UNROLL for (int32_t i = 0; i < rows / 2 * V; ++i) {
    const int64x2_t one = (int64x2_t)sum[2 * i], two = (int64x2_t)sum[2 * i + 1];
    apart[i / V * 2 * V + i % V] = (simd_i32)vzip1q_s64(one, two);
    apart[i / V * 2 * V + V + i % V] = (simd_i32)vzip2q_s64(one, two);
  }
  SIMD_UNROLL for (int32_t i = 0; i < rows * V; ++i) sum[i] = apart[i];
}
#endif

/* Stores the sums of a tile in memory, or, with `numbers`, as results. */
SIMD_INLINE void end_sums(const panel_numbers *numbers, simd_i32 *sum, int32_t *to, const int32_t rows, int8_t *y,
                          int64_t y_step) {
  enum { V = GEMM_INT8_VECTORS };
#if SIMD_MATRIX
  if (numbers != NULL) {
    const simd_even_limits limits = numbers->even;
    simd_i32 value[2 * V];
    SIMD_UNROLL for (int32_t v = 0; v < 2 * V; ++v) value[v] = numbers->pairs[v];
    SIMD_UNROLL for (int32_t r = 0; r < rows; r += 2, y += 2 * y_step) {
      store_even_rows(sum + r * V, value, &limits, y, y_step);
    }
    return;
  }
  part_rows(sum, rows);
#elif TILES_STORE
  if (numbers != NULL) {
    simd_i32 value[V];
    SIMD_UNROLL for (int32_t v = 0; v < V; ++v) value[v] = numbers->factor[v].value;
    const simd_even_limits limits = numbers->even;
    SIMD_UNROLL for (int32_t r = 0; r < rows; ++r, y += y_step) simd_store_even(sum + r * V, value, V, &limits, y);
    return;
  }
#else
  (void)numbers, (void)y, (void)y_step;
#endif
  SIMD_UNROLL for (int32_t i = 0; i < rows * V; ++i) simd_store_i32(to + i * SIMD_WIDTH, sum[i]);
}

SIMD_INLINE simd_i32 add_products(simd_i32 sum, dot_left a, dot_right b, const bool apart) {
#if DOT_OVERFLOWS
  if (apart) return dot_add_apart(sum, a, b);
#else
  (void)apart;
#endif
  return dot_add(sum, a, b);
}

/* Adds one unit of k of every row. `a` has the addresses of every third row, or, if rows are arranged, a_step is a
 * constant and `a` has one address. */
SIMD_INLINE void add_unit(const dot_element *const *a, const int64_t a_step, const char *b, const int64_t b_step,
                          simd_i32 *sum, const int32_t rows, const bool stored, const bool apart) {
  enum { V = GEMM_INT8_VECTORS * DOT_JOINED };
  const int32_t count = rows / DOT_JOINED;
#if SIMD_MATRIX
  /* For tiles with more vectors of b than of a. */
  dot_left left[GEMM_INT8_ROWS / DOT_JOINED];
  SIMD_UNROLL for (int32_t r = 0; r < count; ++r) left[r] = dot_broadcast(a[0] + r * DOT_STEP);
  (void)a_step;
  SIMD_UNROLL for (int32_t v = 0; v < V; v += SIMD_LOADS) {
    dot_right right[SIMD_LOADS];
    SIMD_UNROLL for (int32_t i = 0; i < SIMD_LOADS; ++i) right[i] = load_right(b + (v + i) * b_step, stored);
    SIMD_UNROLL for (int32_t r = 0; r < count; ++r) {
      SIMD_UNROLL for (int32_t i = 0; i < SIMD_LOADS; ++i) {
        sum[r * V + v + i] = add_products(sum[r * V + v + i], left[r], right[i], apart);
      }
    }
  }
#else
  dot_right right[V];
  SIMD_UNROLL for (int32_t v = 0; v < V; ++v) right[v] = load_right(b + v * b_step, stored);
#if DOT_ARRANGES
  (void)a_step;
  SIMD_UNROLL for (int32_t first = 0; first < count; first += SIMD_LOADS) {
    dot_left left[SIMD_LOADS];
    const int32_t loads = count - first < SIMD_LOADS ? count - first : SIMD_LOADS;
    SIMD_UNROLL for (int32_t i = 0; i < loads; ++i) left[i] = dot_broadcast(a[0] + (first + i) * DOT_STEP);
    SIMD_UNROLL for (int32_t i = 0; i < loads * V; ++i) {
      sum[first * V + i] = add_products(sum[first * V + i], left[i / V], right[i % V], apart);
    }
  }
#else
  SIMD_UNROLL for (int32_t r = 0; r < count; ++r) {
    const dot_left left = dot_broadcast(a[r / 3] + r % 3 * a_step);
    SIMD_UNROLL for (int32_t v = 0; v < V; ++v) sum[r * V + v] = add_products(sum[r * V + v], left, right[v], apart);
  }
#endif
#endif
}

#if DOT_LANES > 1
/* As add_unit, for DOT_LANES units. */
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

/* Adds all units of k. There is at least one, because compilers copy sums around a loop that may be skipped. */
SIMD_INLINE void add_all(ptrdiff_t units, const dot_element *from, int64_t from_step, const char *b, simd_i32 *sum,
                         const int32_t rows, const bool apart) {
  const int64_t b_step = SIMD_WIDTH * DOT_DEPTH / DOT_JOINED * (int64_t)sizeof(dot_weight);
  const int64_t b_unit = GEMM_INT8_COLUMNS * DOT_DEPTH * (int64_t)sizeof(dot_weight);
#if DOT_ARRANGES
  (void)from_step;
  const int64_t a_step = DOT_STEP, a_unit = rows / DOT_JOINED * a_step;
  if (units % TILE_UNITS != 0) {
    add_unit(&from, a_step, b, b_step, sum, rows, false, apart);
    from += a_unit;
    b += b_unit;
    if (--units == 0) return;
  }
  do {
    SIMD_UNROLL for (int32_t i = 0; i < TILE_UNITS; ++i) {
      const dot_element *a = from + i * a_unit;
      add_unit(&a, a_step, b + i * b_unit, b_step, sum, rows, false, apart);
    }
    from += TILE_UNITS * a_unit;
    b += TILE_UNITS * b_unit;
  } while ((units -= TILE_UNITS) > 0);
#else
  const dot_element *a[(GEMM_INT8_ROWS + 2) / 3];
  const int64_t a_step = from_step;
  SIMD_UNROLL for (int32_t r = 0; r < rows; r += 3) a[r / 3] = from + r * a_step;
#if DOT_LANES > 1
  for (; units >= DOT_LANES; units -= DOT_LANES, b += DOT_LANES * b_unit) {
    add_units(a, a_step, b, b_step, sum, rows);
    SIMD_UNROLL for (int32_t r = 0; r < rows; r += 3) a[r / 3] += DOT_LANES * DOT_STEP;
  }
  for (; units > 0; --units, b += b_unit) {
    add_unit(a, a_step, b, b_step, sum, rows, false, apart);
    SIMD_UNROLL for (int32_t r = 0; r < rows; r += 3) a[r / 3] += DOT_STEP;
  }
#else
  do {
    add_unit(a, a_step, b, b_step, sum, rows, false, apart);
    SIMD_UNROLL for (int32_t r = 0; r < rows; r += 3) a[r / 3] += DOT_STEP;
    b += b_unit;
  } while (--units > 0);
#endif
#endif
}

/* Computes `rows` x GEMM_INT8_COLUMNS sums, `tiles` times if results are stored; `rows` and `apart` are constants
 * when this is inlined. */
SIMD_INLINE void tile(const gemm_int8_block *g, const panel_numbers *numbers, const char *b, int32_t *to,
                      const int32_t rows, int64_t tiles, const bool apart) {
  const int32_t *bias = g->first ? g->bias : NULL;
  const dot_element *a = g->a;
  const int64_t a_step = g->a_step, y_step = g->y_step;
  const ptrdiff_t units = (ptrdiff_t)g->units; /* one register on every processor */
  int8_t *y = g->y;
  do {
    simd_i32 sum[GEMM_INT8_ROWS * GEMM_INT8_VECTORS];
    begin_sums(bias, to, sum, rows);
    add_all(units, a, a_step, b, sum, rows, apart);
    end_sums(numbers, sum, to, rows, y, y_step);
    a += rows / DOT_JOINED * a_step;
    y += rows * y_step;
    if (bias == NULL) to += rows * GEMM_INT8_COLUMNS;
  } while (TILES_STORE && --tiles > 0);
}

/* As tile, for one or two rows, in several chains of sums, so that no sum waits for the previous one. `stored`: b is
 * read as it is packed. */
SIMD_INLINE void short_tile(const gemm_int8_block *g, const panel_numbers *numbers, const char *b, int32_t *to,
                            const int32_t rows, const bool stored, const bool apart) {
  enum { V = GEMM_INT8_VECTORS, MAX_SUMS = 8 };
  const int64_t weight_size = stored ? 1 : (int64_t)sizeof(dot_weight);
  const int64_t b_step = SIMD_WIDTH * DOT_DEPTH * weight_size, b_unit = V * b_step;
  const int32_t chains = MAX_SUMS / (rows * V);
  simd_i32 sum[MAX_SUMS];
  begin_sums(g->first ? g->bias : NULL, to, sum, rows);
  SIMD_UNROLL for (int32_t i = rows * V; i < MAX_SUMS; ++i) sum[i] = simd_set_i32(0);
  const dot_element *a = g->a;
  const int64_t a_step = g->a_step;
  ptrdiff_t units = (ptrdiff_t)g->units;
  for (; units >= chains; units -= chains) {
    SIMD_UNROLL for (int32_t c = 0; c < chains; ++c, a += DOT_STEP, b += b_unit) {
      add_unit(&a, a_step, b, b_step, sum + c * rows * V, rows, stored, apart);
    }
  }
  for (; units > 0; --units, a += DOT_STEP, b += b_unit) add_unit(&a, a_step, b, b_step, sum, rows, stored, apart);
  SIMD_UNROLL for (int32_t i = rows * V; i < MAX_SUMS; ++i) sum[i % (rows * V)] += sum[i];
  end_sums(numbers, sum, to, rows, g->y, 0);
}

/* No code for heights that this instruction set's tiles do not have. */
#define TILE_CASE(height, apart)                                                   \
  case height:                                                                     \
    if (height > GEMM_INT8_ROWS || (height > 1 && height % GEMM_INT8_EVEN != 0)) { \
      break;                                                                       \
    } else if (height * GEMM_INT8_VECTORS <= 4) {                                  \
      short_tile(g, numbers, b, to, height, height == 1, apart);                   \
    } else {                                                                       \
      tile(g, numbers, b, to, height, tiles, apart);                               \
    }                                                                              \
    break;
#define TILE_CASES(apart) \
  TILE_CASE(1, apart)     \
  TILE_CASE(2, apart)     \
  TILE_CASE(3, apart)     \
  TILE_CASE(4, apart)     \
  TILE_CASE(5, apart)     \
  TILE_CASE(6, apart)     \
  TILE_CASE(8, apart)     \
  TILE_CASE(10, apart)    \
  TILE_CASE(12, apart)

/* With `numbers`, stores the results of `tiles` tiles; NULL: stores sums. Heights that are rounded up to even have
 * an unused row. */
static __attribute__((noinline)) void run_tile(const gemm_int8_block *g, const panel_numbers *numbers, const char *b,
                                               int32_t *to, int64_t rows, int64_t tiles) {
  const int64_t height = rows > 1 || SIMD_MATRIX ? (rows + GEMM_INT8_EVEN - 1) / GEMM_INT8_EVEN * GEMM_INT8_EVEN : rows;
#if DOT_OVERFLOWS
  if (g->apart) {
    switch (height) {
      TILE_CASES(true)
      default:
        break;
    }
    return;
  }
#endif
  switch (height) {
    TILE_CASES(false)
    default:
      break;
  }
}
#undef TILE_CASE
#undef TILE_CASES

#if SIMD_WIDTH == 16 && SIMD_DOT
/* The address of sum i of a tile of two panels: four vectors per row, two of each panel. */
#define PAIR_AT(i) (((i) % 4 < 2 ? first : second) + ((i) / 4 * 2 + (i) % 2) * SIMD_WIDTH)

/* Computes `rows` x GEMM_INT8_COLUMNS sums of each of two panels. */
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
