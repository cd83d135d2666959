/* The GEMM of all matmuls and convolutions: c = activation(bias + a * b + residual) in float32, or in float16
 * (matmul/tile_half.h).
 *
 * A tile of GEMM_ROWS x GEMM_COLUMNS sums is kept in registers while k runs; b is read in panels (matmul/pack.h), a
 * in rows. Every sum adds its terms in the order of k, so a value does not depend on its tile.
 *
 * Limit: a core with two FMA units does 2 * SIMD_WIDTH multiply-accumulates per cycle. The 6 x 16 tile of AVX2 does
 * 12 FMA per 8 loads, so the FMA units are the limit. */
#ifndef MSLITE_MATMUL_GEMM_H
#define MSLITE_MATMUL_GEMM_H

#include "matmul/fused.h"
#include "matmul/pack.h"

#if SIMD_HALF
enum { GEMM_LANES = 8, GEMM_ROWS = 8, GEMM_VECTORS = 2 }; /* 16 sums + 2 of b + 8 of a of 32 registers */
#else
enum { GEMM_LANES = SIMD_WIDTH };
#if SIMD_WIDTH == 16
enum { GEMM_ROWS = 14, GEMM_VECTORS = 2 }; /* 28 sums + 2 of b of 32 registers */
#elif SIMD_WIDTH == 8
enum { GEMM_ROWS = 6, GEMM_VECTORS = 2 }; /* 12 sums + 2 of b + 1 of a of 16 registers */
#elif SIMD_ASSEMBLY
enum { GEMM_ROWS = 5, GEMM_VECTORS = 4 }; /* 20 sums + 4 of b + 5 of a of 32 registers */
#elif SIMD_WIDTH == 4
#ifdef __arm__
enum { GEMM_ROWS = 3, GEMM_VECTORS = 4 }; /* 12 sums + 2 of b + 2 of a of 16 registers */
#else
enum { GEMM_ROWS = 6, GEMM_VECTORS = 4 }; /* 24 sums + 2 of b + 6 of a of 32 registers */
#endif
#else
enum { GEMM_ROWS = 4, GEMM_VECTORS = 4 };
#endif
#endif
enum { GEMM_COLUMNS = GEMM_VECTORS * GEMM_LANES, GEMM_SUMS = GEMM_ROWS * GEMM_VECTORS };

/* Packs panels of a right-hand matrix of float32 constants, as gemm_run reads them. */
SIMD_INLINE void gemm_pack(const float *b, int64_t k, int64_t n, int64_t k_step, int64_t n_step, int64_t first,
                           int64_t last, simd_real *packed) {
#if SIMD_HALF
  mslite_pack_half_panels(b, k, n, k_step, n_step, GEMM_COLUMNS, first, last, (uint16_t *)packed);
#else
  mslite_pack_panels(b, k, n, k_step, n_step, GEMM_COLUMNS, first, last, packed);
#endif
}

/* As gemm_pack, for a matrix that another kernel has computed. */
SIMD_INLINE void gemm_pack_real(const simd_real *b, int64_t k, int64_t n, int64_t k_step, int64_t n_step, int64_t first,
                                int64_t last, simd_real *packed) {
#if SIMD_HALF
  mslite_copy_half_panels((const uint16_t *)b, k, n, k_step, n_step, GEMM_COLUMNS, first, last, (uint16_t *)packed);
#else
  mslite_pack_panels(b, k, n, k_step, n_step, GEMM_COLUMNS, first, last, packed);
#endif
}

/* Returns the bytes of the packed form of `n` float32 elements of bias: whole panels of float16. A float32 bias is
 * not packed. */
SIMD_INLINE int64_t gemm_bias_size(int64_t n) {
  return SIMD_HALF ? mslite_packed_floats(1, n, GEMM_COLUMNS) * (int64_t)sizeof(simd_real) : 0;
}

SIMD_INLINE void gemm_pack_bias(const float *bias, int64_t n, simd_real *packed) {
  gemm_pack(bias, 1, n, n, 1, 0, mslite_packed_floats(1, n, GEMM_COLUMNS) / GEMM_COLUMNS, packed);
}

/* Returns the elements of the kernel's copy, in whole panels, of a float16 bias that is not constant; 0: none. */
SIMD_INLINE int64_t gemm_bias_copy(const mslite_tensor *bias, int64_t n) {
  return SIMD_HALF && bias != NULL && bias->data == NULL ? mslite_packed_floats(1, n, GEMM_COLUMNS) : 0;
}

SIMD_INLINE void gemm_copy_bias(const simd_real *bias, int64_t n, simd_real *copy) {
  gemm_pack_real(bias, 1, n, n, 1, 0, mslite_packed_floats(1, n, GEMM_COLUMNS) / GEMM_COLUMNS, copy);
}

/* Plans the blocks of an m x n x k GEMM. The float16 tile runs through all of k and splits its sums itself. */
SIMD_INLINE void gemm_plan(int64_t m, int64_t n, int64_t k, mslite_gemm_plan *plan) {
  mslite_plan_gemm(m, n, k, GEMM_ROWS, GEMM_COLUMNS, plan);
  if (SIMD_HALF) plan->k_block = k < 1 ? 1 : k;
}

/* One block of a GEMM. Steps are in elements. The left matrix is given by row pointers, and k runs over pieces of
 * `k` contiguous elements at the same offsets in every row, so that a convolution reads its windows in place. */
typedef struct {
  const simd_real *const *a;
  const int64_t *offsets; /* [pieces] */
  int64_t pieces, k;
  const simd_real *b; /* the first panel, at the first k of this block */
  int64_t b_step;     /* between panels */
  simd_real *c;
  int64_t c_step;            /* between rows */
  const simd_real *bias;     /* of the first column, or NULL */
  const simd_real *residual; /* same layout as c, or NULL */
  int64_t rows, columns;
  bool accumulate; /* sums start with the contents of c instead of the bias; not in float16 */
  float low, high; /* the result is clamped to this range */
#if SIMD_HALF
  simd_real *total; /* for gemm_run: [GEMM_SUMS][GEMM_LANES], sums of previous steps of k */
#endif
} gemm_block;

/* Computes the whole block. Defined once per instruction set, in gemm_vector.c. */
#define gemm_run MSLITE_ISA_NAME(mslite_gemm_run)
void gemm_run(const gemm_block *block);

/* Sets the bounds of the activation; fused_rows applies one that is not a clamp. */
static inline __attribute__((unused)) void gemm_set_activation(gemm_block *g, int32_t activation) {
  g->low = fused_low(activation);
  g->high = fused_high(activation);
}

#endif
