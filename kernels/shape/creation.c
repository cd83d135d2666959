/* Shape rules of the operators that create a tensor from a shape or a range. */
#include <math.h>
#include <string.h>

#include "shape/shape.h"

static void fill_known(mslite_tensor *output, int64_t value) {
  if (!mslite_begin_known(output)) return;
  for (int32_t i = 0; i < output->known_count; ++i) output->known[i] = value;
}

MSLITE_SHAPE_RULE(mslite_shape_of_constant_of_shape) {
  (void)input_count, (void)output_count;
  const mslite_ConstantOfShape *constant = params;
  if (mslite_type_size((int32_t)constant->data_type) == 0)
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "data_type %lld has no fixed size",
                             (long long)constant->data_type);
  outputs[0]->type = mslite_canonical_type((int32_t)constant->data_type);
  const mslite_status status = mslite_shape_from_contents(context, inputs[0], outputs[0]);
  const float value = constant->value.count > 0 ? constant->value.at[0] : 0;
  if (status == MSLITE_OK && value > -1e9F && value < 1e9F) fill_known(outputs[0], (int64_t)value);
  return status;
}

MSLITE_SHAPE_RULE(mslite_shape_of_fill) {
  (void)params, (void)input_count, (void)output_count;
  outputs[0]->type = inputs[0]->type;
  const mslite_status status = mslite_shape_from_contents(context, inputs[1], outputs[0]);
  int64_t value = 0;
  if (status == MSLITE_OK && mslite_known_value(inputs[0], 0, &value)) fill_known(outputs[0], value);
  return status;
}

MSLITE_SHAPE_RULE(mslite_shape_of_fill_v2) {
  const mslite_tensor *const swapped[2] = {inputs[1], inputs[0]};
  return mslite_shape_of_fill(context, params, swapped, input_count, outputs, output_count);
}

MSLITE_SHAPE_RULE(mslite_shape_of_ones_like) {
  (void)context, (void)params, (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  fill_known(outputs[0], 1);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_zeros_like) {
  (void)context, (void)params, (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  fill_known(outputs[0], 0);
  return MSLITE_OK;
}

/* Reads the value of a constant float scalar. */
static bool float_scalar(const mslite_tensor *tensor, double *value) {
  if (tensor->data == NULL || mslite_element_count(tensor) != 1) return false;
  if (mslite_canonical_type(tensor->type) == MSLITE_FLOAT32) {
    float number;
    memcpy(&number, tensor->data, sizeof number);
    *value = number;
    return true;
  }
  if (tensor->type != MSLITE_FLOAT64) return false;
  memcpy(value, tensor->data, sizeof *value);
  return true;
}

static mslite_status range_of_floats(mslite_shape_context *context, const mslite_tensor *const *inputs,
                                     mslite_tensor *output) {
  double bounds[3];
  output->dims[0] = mslite_new_symbol(context);
  for (int32_t k = 0; k < 3; ++k)
    if (!float_scalar(inputs[k], &bounds[k])) return MSLITE_OK;
  const double count = ceil((bounds[1] - bounds[0]) / bounds[2]);
  if (!(count < 1e15)) return mslite_shape_fail(context, MSLITE_ERROR_VALUE, "the range is infinite");
  output->dims[0] = count > 0 ? (int64_t)count : 0;
  return MSLITE_OK;
}

static mslite_status range_of_integers(mslite_shape_context *context, int64_t start, int64_t limit, int64_t delta,
                                       mslite_tensor *output) {
  const int64_t bound = (int64_t)1 << 39;
  if (start == 0 && delta == 1 && mslite_is_symbol(limit)) {
    output->dims[0] = limit;
    return MSLITE_OK;
  }
  output->dims[0] = mslite_new_symbol(context);
  if (mslite_is_symbol(start) || mslite_is_symbol(limit) || mslite_is_symbol(delta)) return MSLITE_OK;
  if (delta == 0 || start > bound || limit > bound || delta > bound)
    return mslite_shape_fail(context, MSLITE_ERROR_VALUE, "range(%lld, %lld, %lld) is infinite", (long long)start,
                             (long long)limit, (long long)delta);
  const int64_t distance = delta > 0 ? limit - start : start - limit, step = delta > 0 ? delta : -delta;
  output->dims[0] = distance <= 0 ? 0 : (distance + step - 1) / step;
  if (!mslite_begin_known(output)) return MSLITE_OK;
  for (int32_t i = 0; i < output->known_count; ++i) output->known[i] = start + i * delta;
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_range) {
  (void)output_count;
  const mslite_Range *range = params;
  mslite_tensor *output = outputs[0];
  output->rank = 1;
  if (input_count < 3) {
    const bool floats = range->d_type == MSLITE_FLOAT32 || range->d_type == MSLITE_FLOAT;
    output->type = floats ? MSLITE_FLOAT32 : MSLITE_INT32;
    return range_of_integers(context, range->start, range->limit, range->delta, output);
  }
  output->type = inputs[0]->type;
  int64_t bounds[3];
  if (output->type != MSLITE_INT32 && output->type != MSLITE_INT64) return range_of_floats(context, inputs, output);
  for (int32_t k = 0; k < 3; ++k)
    if (!mslite_known_value(inputs[k], 0, &bounds[k])) {
      output->dims[0] = mslite_new_symbol(context);
      return MSLITE_OK;
    }
  return range_of_integers(context, bounds[0], bounds[1], bounds[2], output);
}

MSLITE_SHAPE_RULE(mslite_shape_of_ragged_range) {
  (void)params, (void)input_count, (void)output_count;
  int64_t rows = 1;
  for (int32_t k = 0; k < 3; ++k) {
    if (inputs[k]->rank > 1)
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "input %d must be a scalar or a vector", (int)k);
    if (inputs[k]->rank < 0) rows = mslite_new_symbol(context);
    if (inputs[k]->rank == 1) rows = inputs[k]->dims[0];
  }
  outputs[0]->type = MSLITE_INT32;
  outputs[0]->rank = 1;
  outputs[0]->dims[0] = mslite_size_add(context, rows, 1);
  outputs[1]->type = inputs[0]->type;
  outputs[1]->rank = 1;
  outputs[1]->dims[0] = mslite_new_symbol(context);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_lin_space) {
  (void)params, (void)input_count, (void)output_count;
  int64_t count = 0;
  outputs[0]->type = inputs[0]->type;
  outputs[0]->rank = 1;
  if (!mslite_known_value(inputs[2], 0, &count)) count = mslite_new_symbol(context);
  if (count < 0 && !mslite_is_symbol(count))
    return mslite_shape_fail(context, MSLITE_ERROR_VALUE, "cannot create %lld elements", (long long)count);
  outputs[0]->dims[0] = count;
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_random) {
  (void)params, (void)input_count, (void)output_count;
  outputs[0]->type = MSLITE_FLOAT32;
  return mslite_shape_from_contents(context, inputs[0], outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_eye_like) {
  (void)input_count, (void)output_count;
  const int64_t type = ((const mslite_EyeLike *)params)->data_type;
  mslite_same_shape(inputs[0], outputs[0]);
  if (type != 0) outputs[0]->type = mslite_canonical_type((int32_t)type);
  if (inputs[0]->rank >= 0 && inputs[0]->rank != 2)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "x has rank %d; it must be a matrix", (int)inputs[0]->rank);
  return MSLITE_OK;
}
