/* The resolved parameters of one matmul: y[batch, m, n] = a[batch, m, k] * b[batch, k, n] + bias[n]. */
#ifndef MSLITE_MATMUL_GEOMETRY_H
#define MSLITE_MATMUL_GEOMETRY_H

#include "kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  int64_t m, n, k;
  int64_t batch;      /* matrices in y */
  int64_t b_batch;    /* matrices in b */
  int32_t batch_rank; /* leading dimensions of y */
  int64_t batch_dims[MSLITE_MAX_RANK];
  int64_t a_step[MSLITE_MAX_RANK]; /* matrices of a per step along a batch dimension; 0 if it broadcasts */
  int64_t b_step[MSLITE_MAX_RANK];
  bool transpose_a, transpose_b;
  int32_t activation;
  bool has_bias;
} mslite_matmul;

/* How MatMulFusion and FullConnection read their operands; shared with the shape rules. */
typedef struct {
  bool transpose_a, transpose_b;
  bool flatten; /* FullConnection: x becomes [m, k] */
  int32_t activation;
} mslite_product_attributes;

void mslite_product_read(int32_t op, const void *params, mslite_product_attributes *attributes);

/* Resolves the parameters; all dimensions are known. Returns MSLITE_ERROR_SHAPE if they do not match. The shape rule
 * gives the dimensions of y. */
mslite_status mslite_matmul_of(const mslite_node *node, mslite_matmul *product);

/* Returns whether all operands are of `type` (constants for float16 are float32), the shapes match, and the bias has
 * n elements. */
bool mslite_matmul_fits(const mslite_node *node, int32_t type, mslite_matmul *product);

/* Finds the matrices of a and of b for matrix `at` of y. */
static inline void mslite_matmul_matrices(const mslite_matmul *product, int64_t at, int64_t *a, int64_t *b) {
  *a = *b = 0;
  for (int32_t i = product->batch_rank - 1; i >= 0; --i) {
    const int64_t index = at % product->batch_dims[i];
    at /= product->batch_dims[i];
    *a += index * product->a_step[i];
    *b += index * product->b_step[i];
  }
}

#ifdef __cplusplus
}
#endif

#endif
