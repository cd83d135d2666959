/* The GEMM under every matrix product and convolution: c = activation(bias + a * b + residual) in float32.
 *
 * A tile of GEMM_ROWS x GEMM_COLUMNS sums lives in registers while k runs; b comes in panels (matmul/pack.h), a in
 * rows. Every sum adds its terms in the order of k, so a value does not depend on the tile that it is computed in.
 *
 * Limit: a core with two FMA units does 2 * SIMD_WIDTH multiply-adds per cycle. The 6 x 16 tile of AVX2 does 12 FMA per
 * 8 loads, so the FMA units are the limit. */
#ifndef MSLITE_MATMUL_GEMM_H
#define MSLITE_MATMUL_GEMM_H

#include "matmul/fused.h"
#include "matmul/pack.h"

#if SIMD_HALF
#include <arm_neon.h>
typedef float16_t gemm_real;                              /* an element of the matrices */
enum { GEMM_LANES = 8, GEMM_ROWS = 8, GEMM_VECTORS = 2 }; /* 16 sums + 2 of b + 8 of a of 32 registers */
#else
typedef float gemm_real;
enum { GEMM_LANES = SIMD_WIDTH };
#if SIMD_WIDTH == 16
enum { GEMM_ROWS = 14, GEMM_VECTORS = 2 }; /* 28 sums + 2 of b of 32 registers */
#elif SIMD_WIDTH == 8
enum { GEMM_ROWS = 6, GEMM_VECTORS = 2 }; /* 12 sums + 2 of b + 1 of a of 16 registers */
#elif SIMD_WIDTH == 4
#ifdef __arm__
enum { GEMM_ROWS = 3, GEMM_VECTORS = 4 }; /* 12 sums + 2 of b + 2 of a of 16 registers */
#else
enum { GEMM_ROWS = 6, GEMM_VECTORS = 4 }; /* 24 sums + 4 of b + 2 of a of 32 registers */
#endif
#else
enum { GEMM_ROWS = 4, GEMM_VECTORS = 4 };
#endif
#endif
enum { GEMM_COLUMNS = GEMM_VECTORS * GEMM_LANES, GEMM_SUMS = GEMM_ROWS * GEMM_VECTORS };

/* Panels of a right-hand matrix of floats, as gemm_run reads them. */
SIMD_INLINE void gemm_pack(const float *b, int64_t k, int64_t n, int64_t k_step, int64_t n_step, int64_t first,
                           int64_t last, gemm_real *packed) {
#if SIMD_HALF
  mslite_pack_half_panels(b, k, n, k_step, n_step, GEMM_COLUMNS, first, last, (uint16_t *)packed);
#else
  mslite_pack_panels(b, k, n, k_step, n_step, GEMM_COLUMNS, first, last, packed);
#endif
}

/* `count` neighbouring numbers as elements of a matrix. */
SIMD_INLINE void gemm_copy(const float *from, int64_t count, gemm_real *to) {
#if SIMD_HALF
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const float16x4_t low = vcvt_f16_f32(vld1q_f32(from + i));
    vst1q_f16(to + i, vcombine_f16(low, vcvt_f16_f32(vld1q_f32(from + i + 4))));
  }
  for (; i < count; ++i) to[i] = (gemm_real)from[i];
#else
  memcpy(to, from, (size_t)count * sizeof *to);
#endif
}

/* How an m x n x k product is cut. Sums in float16 lose bits as they grow: they are short. */
SIMD_INLINE void gemm_plan(int64_t m, int64_t n, int64_t k, mslite_gemm_plan *plan) {
  mslite_plan_gemm(m, n, k, GEMM_ROWS, GEMM_COLUMNS, plan);
  if (SIMD_HALF && plan->k_block > 64) plan->k_block = 64;
}

/* One block of a product. Steps are in elements. The left matrix is given by row pointers, and k runs over pieces of
 * `k` neighbouring elements that begin at the same offsets in every row: a convolution reads its windows in place. */
typedef struct {
  const gemm_real *const *a;
  const int64_t *offsets; /* [pieces] */
  int64_t pieces, k;
  const gemm_real *b; /* the first panel, at the first k of this block */
  int64_t b_step;     /* from panel to panel */
  float *c;
  int64_t c_step;        /* from row to row */
  const float *bias;     /* of the first column, or NULL */
  const float *residual; /* laid out as c, or NULL */
  int64_t rows, columns;
  bool accumulate; /* the sums begin with what is in c, not with the bias */
  float low, high; /* the result is clamped to these */
} gemm_block;

/* The whole block. One function per instruction set, in gemm_vector.c. */
#define gemm_run MSLITE_ISA_NAME(mslite_gemm_run)
void gemm_run(const gemm_block *block);

/* The bounds of the activation; one that is not a clamp is for fused_rows. */
static inline __attribute__((unused)) void gemm_set_activation(gemm_block *g, int32_t activation) {
  g->low = fused_low(activation);
  g->high = fused_high(activation);
}

#endif
