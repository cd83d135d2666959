/* Shape rules of operators on square matrices. */
#include "shape/shape.h"

static mslite_status square(mslite_shape_context *context, const mslite_tensor *x) {
  if (x->rank < 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "matrices need two dimensions");
  const int64_t rows = x->dims[x->rank - 2], columns = x->dims[x->rank - 1];
  if (mslite_is_symbol(rows) || mslite_is_symbol(columns) || rows == columns) return MSLITE_OK;
  return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "%lld x %lld is not a square matrix", (long long)rows,
                           (long long)columns);
}

MSLITE_SHAPE_RULE(mslite_shape_of_determinant) {
  (void)params, (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  if (inputs[0]->rank < 0) return MSLITE_OK;
  outputs[0]->rank -= outputs[0]->rank < 2 ? 0 : 2;
  return square(context, inputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_matrix_inverse) {
  (void)params, (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  return inputs[0]->rank < 0 ? MSLITE_OK : square(context, inputs[0]);
}
