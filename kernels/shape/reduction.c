/* Shape rules of reductions and scans. */
#include "shape/shape.h"

static mslite_status axis_error(mslite_shape_context *context, int64_t axis, int32_t rank) {
  return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "axis %lld is outside rank %d", (long long)axis, (int)rank);
}

/* Reduces the known contents of a small integer vector to one value, if possible. */
static void reduce_known(mslite_shape_context *context, int32_t mode, const mslite_tensor *x, mslite_tensor *output) {
  const int64_t count = mslite_known_total(x);
  const bool has_rule = mode == MSLITE_REDUCE_MODE_REDUCE_PROD || mode == MSLITE_REDUCE_MODE_REDUCE_SUM ||
                        mode == MSLITE_REDUCE_MODE_REDUCE_MAX || mode == MSLITE_REDUCE_MODE_REDUCE_MIN;
  if (!has_rule || count <= 0 || mslite_element_count(output) != 1) return; /* norms change even a single value */
  int64_t result = 0, value = 0;
  mslite_known_value(x, 0, &result);
  for (int64_t i = 1; i < count; ++i) {
    mslite_known_value(x, i, &value);
    const bool symbolic = mslite_is_symbol(result) || mslite_is_symbol(value);
    if (mode == MSLITE_REDUCE_MODE_REDUCE_PROD && result >= 0 && value >= 0)
      result = mslite_size_multiply(context, result, value);
    else if (mode == MSLITE_REDUCE_MODE_REDUCE_PROD && symbolic && (result == 1 || value == 1))
      result = result == 1 ? value : result;
    else if (mode == MSLITE_REDUCE_MODE_REDUCE_SUM)
      result = mslite_size_add(context, result, value);
    else if (mode == MSLITE_REDUCE_MODE_REDUCE_MAX && !symbolic)
      result = result > value ? result : value;
    else if (mode == MSLITE_REDUCE_MODE_REDUCE_MIN && !symbolic)
      result = result < value ? result : value;
    else
      return;
  }
  if (mslite_begin_known(output)) output->known[0] = mslite_known_or_new(context, output->type, result);
}

/* Sets the shape after `axes` (all if there is no such input) are reduced. `to_end`: also every axis after the
 * first. */
static mslite_status reduce(mslite_shape_context *context, const mslite_tensor *const *inputs, int32_t input_count,
                            bool keep, bool to_end, mslite_tensor *output) {
  const mslite_tensor *x = inputs[0];
  output->rank = -1;
  if (x->rank < 0) return MSLITE_OK;
  bool reduced[MSLITE_MAX_RANK] = {false};
  const int64_t axes = input_count > 1 ? mslite_element_count(inputs[1]) : 0;
  if (axes == 0)
    for (int32_t i = 0; i < x->rank; ++i) reduced[i] = true;
  for (int64_t k = 0; k < axes || axes < 0; ++k) {
    int64_t wanted = 0;
    if (axes < 0 || !mslite_known_value(inputs[1], k, &wanted) || mslite_is_symbol(wanted)) {
      if (!keep) { /* no axis may be given twice */
        output->rank = axes > 0 && axes <= x->rank && !to_end ? x->rank - (int32_t)axes : -1;
      } else {
        output->rank = x->rank;
      }
      for (int32_t i = 0; i < output->rank; ++i) output->dims[i] = mslite_new_symbol(context);
      return MSLITE_OK;
    }
    const int32_t axis = mslite_normalize_axis(wanted, x->rank);
    if (axis < 0 && !(x->rank == 0 && (wanted == 0 || wanted == -1))) return axis_error(context, wanted, x->rank);
    if (axis >= 0) reduced[axis] = true;
    for (int32_t i = axis; to_end && i >= 0 && i < x->rank; ++i) reduced[i] = true;
  }
  output->rank = 0;
  for (int32_t i = 0; i < x->rank; ++i)
    if (!reduced[i] || keep) output->dims[output->rank++] = reduced[i] ? 1 : x->dims[i];
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_reduce) {
  (void)output_count;
  const mslite_ReduceFusion *fusion = params;
  outputs[0]->type = inputs[0]->type;
  const mslite_status status =
      reduce(context, inputs, input_count, fusion->keep_dims, fusion->reduce_to_end, outputs[0]);
  if (status == MSLITE_OK && outputs[0]->rank >= 0) reduce_known(context, fusion->mode, inputs[0], outputs[0]);
  return status;
}

MSLITE_SHAPE_RULE(mslite_shape_of_log_sum_exp) {
  (void)output_count;
  outputs[0]->type = inputs[0]->type;
  return reduce(context, inputs, input_count, ((const mslite_ReduceLogSumExp *)params)->keep_dims, false, outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_all) {
  (void)output_count;
  outputs[0]->type = MSLITE_BOOL;
  return reduce(context, inputs, input_count, ((const mslite_All *)params)->keep_dims != 0, false, outputs[0]);
}

/* `top_k` of ArgMin is 0 in files that omit it, and means 1. */
static mslite_status arg(mslite_shape_context *context, int64_t wanted, int64_t top_k, bool keep, bool values,
                         const mslite_tensor *x, mslite_tensor *const *outputs, int32_t output_count) {
  const int64_t count = top_k < 1 ? 1 : top_k;
  mslite_tensor *first = outputs[0];
  first->rank = -1;
  if (x->rank >= 0) {
    const int32_t axis = mslite_normalize_axis(wanted, x->rank);
    if (axis < 0) return axis_error(context, wanted, x->rank);
    if (x->dims[axis] >= 0 && count > x->dims[axis])
      return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "top_k is %lld, but there are %lld elements",
                               (long long)count, (long long)x->dims[axis]);
    first->rank = 0;
    for (int32_t i = 0; i < x->rank; ++i)
      if (i != axis || keep || count > 1) first->dims[first->rank++] = i == axis ? count : x->dims[i];
  }
  first->type = values && output_count == 1 ? x->type : MSLITE_INT32;
  if (output_count > 1) {
    mslite_same_shape(first, outputs[1]);
    outputs[1]->type = x->type;
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_arg_max) {
  (void)input_count;
  const mslite_ArgMaxFusion *max = params;
  return arg(context, max->axis, max->top_k, max->keep_dims, max->out_max_value, inputs[0], outputs, output_count);
}

MSLITE_SHAPE_RULE(mslite_shape_of_arg_min) {
  (void)input_count;
  const mslite_ArgMinFusion *min = params;
  return arg(context, min->axis, min->top_k, min->keep_dims, min->out_max_value, inputs[0], outputs, output_count);
}

MSLITE_SHAPE_RULE(mslite_shape_of_scan) {
  (void)params, (void)input_count, (void)output_count;
  int64_t axis = 0;
  mslite_same_shape(inputs[0], outputs[0]);
  if (inputs[0]->rank >= 0 && mslite_known_value(inputs[1], 0, &axis) && !mslite_is_symbol(axis) &&
      mslite_normalize_axis(axis, inputs[0]->rank) < 0)
    return axis_error(context, axis, inputs[0]->rank);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_top_k) {
  (void)input_count;
  const mslite_tensor *x = inputs[0];
  mslite_same_shape(x, outputs[0]);
  if (x->rank >= 0) {
    const int64_t wanted = ((const mslite_TopKFusion *)params)->axis;
    const int32_t axis = mslite_normalize_axis(wanted, x->rank);
    if (axis < 0) return axis_error(context, wanted, x->rank);
    int64_t k = 0;
    if (!mslite_known_value(inputs[1], 0, &k)) k = mslite_new_symbol(context);
    if (!mslite_is_symbol(k) && (k < 0 || (x->dims[axis] >= 0 && k > x->dims[axis])))
      return mslite_shape_fail(context, MSLITE_ERROR_VALUE, "k is %lld, but there are %lld elements", (long long)k,
                               (long long)x->dims[axis]);
    outputs[0]->dims[axis] = k;
  }
  if (output_count > 1) {
    mslite_same_shape(outputs[0], outputs[1]);
    outputs[1]->type = MSLITE_INT32;
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_segment_sum) {
  (void)params, (void)input_count, (void)output_count;
  const mslite_tensor *x = inputs[0], *ids = inputs[1];
  mslite_tensor *y = outputs[0];
  y->type = x->type;
  y->rank = -1;
  if (x->rank < 0 || ids->rank < 0) return MSLITE_OK;
  if (ids->rank > x->rank || ids->rank < 1)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "segment_ids has rank %d, but x has rank %d", (int)ids->rank,
                             (int)x->rank);
  for (int32_t i = 0; i < ids->rank; ++i)
    if (ids->dims[i] >= 0 && x->dims[i] >= 0 && ids->dims[i] != x->dims[i])
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "segment_ids must have the leading dimensions of x");
  int64_t segments = 0;
  if (!mslite_known_value(inputs[2], 0, &segments)) segments = mslite_new_symbol(context);
  if (segments < 0 && !mslite_is_symbol(segments))
    return mslite_shape_fail(context, MSLITE_ERROR_VALUE, "num_segments is %lld", (long long)segments);
  y->rank = 0;
  y->dims[y->rank++] = segments;
  for (int32_t i = ids->rank; i < x->rank; ++i) y->dims[y->rank++] = x->dims[i];
  return MSLITE_OK;
}
