/* The resolved parameters of a MatMulInteger. */
#ifndef MSLITE_MATMUL_INTEGER_H
#define MSLITE_MATMUL_INTEGER_H

#include "matmul/geometry.h"
#include "matmul/integer_product.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  mslite_matmul product;
  mslite_integer_operands operands;
  int64_t a_zero_step; /* between matrices of a; 0 if all have the same zero points */
  int64_t b_zero_step;
} mslite_matmul_integer;

/* Resolves the parameters; all shapes are known. There may be one zero point, one per row or column, or one per row
 * or column of every matrix. */
mslite_status mslite_matmul_integer_of(const mslite_node *node, mslite_matmul_integer *numbers);

#ifdef __cplusplus
}
#endif

#endif
