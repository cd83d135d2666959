/* The GEMM of the matmuls and convolutions of quantized integers: y = clamp(zero + factor * (bias + a * b)), int8;
 * or the integer sums, with the operands of matmul/integer_product.h.
 *
 * A tile of GEMM_INT8_ROWS x GEMM_INT8_COLUMNS sums is kept in registers while k runs; b is read in panels
 * (matmul/pack_int8.h), a in rows of elements that simd/dot.h multiplies. Sums are exact, so results do not depend
 * on the order or the tile.
 *
 * Limit on AVX2: two vpmaddwd of 16 products and as many additions per cycle would be twice the rate of float32;
 * then the four vector ports are full. 1.6 times is reached. */
#ifndef MSLITE_MATMUL_GEMM_INT8_H
#define MSLITE_MATMUL_GEMM_INT8_H

#include "matmul/integer_product.h"
#include "matmul/pack.h"
#include "matmul/pack_int8.h"
#include "simd/dot.h"

#if SIMD_WIDTH == 16
enum { GEMM_INT8_ROWS = 12, GEMM_INT8_VECTORS = 2 }; /* 24 sums + 2 of b + 1 of a + 1 product of 32 registers */
#elif SIMD_WIDTH == 8
enum { GEMM_INT8_ROWS = 6, GEMM_INT8_VECTORS = 2 }; /* 12 sums + 2 of b + 1 of a + 1 product of 16 registers */
#elif SIMD_DOT
enum { GEMM_INT8_ROWS = 6, GEMM_INT8_VECTORS = 4 }; /* 24 sums + 4 of b + 1 of a + 1 product of 32 registers */
#elif defined(__arm__)
enum { GEMM_INT8_ROWS = 2, GEMM_INT8_VECTORS = 4 }; /* 8 sums + 2 of b + 2 of a + up to 4 products of 16 registers */
#else
enum { GEMM_INT8_ROWS = 4, GEMM_INT8_VECTORS = 4 }; /* 16 sums + 4 of b + 2 of a + up to 8 products of 32 registers */
#endif
enum {
  /* Heights of tiles are multiples, except for single rows. */
  GEMM_INT8_EVEN = SIMD_WIDTH == 16 || SIMD_MATRIX ? 2 : 1,
  GEMM_INT8_COLUMNS = GEMM_INT8_VECTORS * SIMD_WIDTH,
  /* Units of k. A panel, widened on AVX2, or of NEON, takes 24 KB of the L1 cache; if rows are spread, they take 200
   * KB of the L2 cache. */
  GEMM_INT8_LARGEST_STEP = DOT_SPREAD > 1 ? 128
                           : SIMD_MATRIX  ? 192
                                          : 384,
  GEMM_INT8_STAGED = 24 /* rows staged together if they are arranged */
};

/* One block of a GEMM, for one step of k. */
typedef struct {
  /* The rows, padded to an even number on vectors of 16 lanes and if DOT_JOINED; if they are arranged, those of a
   * tile unit by unit. */
  const dot_element *a;
  int64_t a_step;  /* elements between rows, or between groups of DOT_JOINED rows */
  const int8_t *b; /* the first panel, at the first k of this step */
  int64_t b_step;  /* bytes between panels */
  int64_t units;   /* of k in this step */
  int64_t rows, columns;
  int32_t *sums;    /* [panel][rows + 1][GEMM_INT8_COLUMNS], kept between steps; NULL if there is only one step */
  bool first, last; /* step of k */
  bool apart;       /* dot_add would overflow */
  /* The parameters of the channels, beginning with the first column. */
  const int32_t *bias, *value, *shift, *zero;
  const double *scale;     /* NULL: results are rounded in fixed point */
  const int32_t *row_sums; /* [rows] sums of elements over all of k; NULL: every weight_zero is 0 */
  int8_t *y;
  int64_t y_step; /* bytes */
  int32_t y_zero, low, high;
  /* For integer sums; NULL otherwise. */
  const mslite_integer_operands *operands;
  const void *const *inputs;
  const int32_t *column_sums; /* of b */
  int64_t row, column, k;     /* the position of the block, and the number of terms */
  dot_weight *room;           /* GEMM_INT8_LARGEST_STEP * GEMM_INT8_COLUMNS * DOT_DEPTH if DOT_WIDENS */
} gemm_int8_block;

/* How a kernel divides a matmul of m rows, and the memory it needs. */
typedef struct {
  mslite_gemm_plan plan; /* k_block is in units */
  mslite_int8_packed packed;
  int64_t m, n, k;
  int64_t a_step; /* elements between staged rows */
  /* Offsets in the scratch memory, which begins with elements. */
  int64_t staged_at, sums_at, row_sums_at, room_at, bytes;
  int32_t y_zero, low, high;
  bool rounds_once; /* in float64 */
  bool has_zeros;   /* some weight_zero is not 0 */
  bool is_whole;    /* results are integer sums */
  bool in_place;    /* rows of a are the contiguous rows of input 0 */
  mslite_integer_operands operands;
} gemm_int8_plan;

static const mslite_int8_layout gemm_int8_layout = {GEMM_INT8_COLUMNS, DOT_DEPTH, DOT_OFFSET, DOT_WOVEN};

/* For integer sums, the weights are packed for this zero point of activations; their bias is then the sums of the
 * columns. */
enum { GEMM_INT8_WHOLE_ZERO = -1 - DOT_OFFSET };

/* Fills the plan. `m`, `n`, `k` and the flags are set by the caller. */
#define gemm_int8_prepare MSLITE_ISA_NAME(mslite_gemm_int8_prepare)
void gemm_int8_prepare(gemm_int8_plan *plan, int64_t groups);

/* Writes elements of rows [row, row + count) and of k [k, k + length) to `to`, with `step` elements between rows; up
 * to DOT_CHUNK elements after each row may be overwritten. */
typedef void (*gemm_int8_stage)(const mslite_run *run, int64_t group, int64_t row, int64_t count, int64_t k,
                                int64_t length, int64_t step, dot_element *to);

/* Computes part `part` of plan.row_blocks * plan.panel_blocks * groups. y is [m][groups * n]. */
#define gemm_int8_part MSLITE_ISA_NAME(mslite_gemm_int8_part)
void gemm_int8_part(const mslite_run *run, const gemm_int8_plan *plan, gemm_int8_stage stage, int64_t groups,
                    int32_t part);

#endif
