/* Shape rules of sparse tensors in coordinate form. */
#include <string.h>

#include "shape/shape.h"

MSLITE_SHAPE_RULE(mslite_shape_of_sparse_to_dense) {
  (void)params, (void)input_count, (void)output_count;
  outputs[0]->type = inputs[2]->type;
  return mslite_shape_from_contents(context, inputs[1], outputs[0]);
}

/* Returns the number of entries of a vector. */
static int64_t entries(mslite_shape_context *context, const mslite_tensor *vector) {
  return vector->rank == 1 ? vector->dims[0] : mslite_new_symbol(context);
}

static int64_t dimension(mslite_shape_context *context, const mslite_tensor *tensor, int32_t axis) {
  return axis < tensor->rank ? tensor->dims[axis] : mslite_new_symbol(context);
}

static mslite_status check_indices(mslite_shape_context *context, const mslite_tensor *indices) {
  if (indices->rank >= 0 && indices->rank != 2)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the indices have %d dimensions, not 2", (int)indices->rank);
  return MSLITE_OK;
}

static void matrix(mslite_tensor *output, int32_t type, int64_t rows, int64_t columns) {
  output->type = type;
  output->rank = 2;
  output->dims[0] = rows;
  output->dims[1] = columns;
}

static void vector(mslite_tensor *output, int32_t type, int64_t count) {
  output->type = type;
  output->rank = 1;
  output->dims[0] = count;
}

MSLITE_SHAPE_RULE(mslite_shape_of_sparse_fill_empty_rows) {
  (void)params, (void)input_count;
  if (output_count != 4) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "four outputs are needed");
  const int64_t count = mslite_new_symbol(context), given = dimension(context, inputs[0], 0);
  int64_t rows = 0;
  if (!mslite_known_value(inputs[2], 0, &rows) || (rows < 0 && !mslite_is_symbol(rows)))
    rows = mslite_new_symbol(context);
  matrix(outputs[0], inputs[0]->type, count, dimension(context, inputs[0], 1));
  vector(outputs[1], inputs[1]->type, count);
  vector(outputs[2], MSLITE_BOOL, rows);
  vector(outputs[3], inputs[0]->type, given);
  return check_indices(context, inputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_sparse_reshape) {
  (void)params, (void)input_count;
  if (output_count != 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "two outputs are needed");
  const int64_t rank = entries(context, inputs[2]);
  matrix(outputs[0], inputs[0]->type, dimension(context, inputs[0], 0), rank);
  vector(outputs[1], inputs[2]->type, rank);
  return check_indices(context, inputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_sparse_segment_sum) {
  (void)params, (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  if (inputs[0]->rank == 0) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the data is a scalar");
  outputs[0]->dims[0] = mslite_new_symbol(context);
  return MSLITE_OK;
}
