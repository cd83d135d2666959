/* Matmuls of quantized integers: operands, and the parameters of each column of b.
 *
 * TensorFlow Lite's reference arithmetic: batched matmuls rescale by a fixed-point multiplier (64-bit sums by its
 * wide form), fully connected layers in float64 unless their weights are int16. Results that round half to even do
 * so in float32. */
#ifndef MSLITE_MATMUL_STORED_H
#define MSLITE_MATMUL_STORED_H

#include "math/fixed_point.h"
#include "matmul/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { MSLITE_RESCALE_FIXED, MSLITE_RESCALE_WIDE, MSLITE_RESCALE_REAL } mslite_rescale_kind;

/* One column of b. */
typedef struct {
  int64_t bias;
  double factor;
  mslite_multiplier fixed;
  int32_t zero;
} mslite_stored_column;

mslite_rescale_kind mslite_stored_rescale_kind(const mslite_node *node);

/* Returns the columns of a constant b; -1 if it is not a matrix. */
int64_t mslite_stored_columns(const mslite_node *node);

/* Returns whether the node is a matmul of these types with the required quantization parameters. Shapes may be
 * unknown. */
bool mslite_quantized_matmul_fits(const mslite_node *node, int32_t a_type, int32_t b_type);

mslite_stored_column mslite_stored_column_of(const mslite_node *node, int64_t at);

#ifdef __cplusplus
}
#endif

#endif
