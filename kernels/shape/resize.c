/* Shape rules of the resampling operators. */
#include "resize/resize_plan.h"
#include "shape/shape.h"

static mslite_status resized(mslite_status status, const mslite_tensor *x, const mslite_resize_plan *plan,
                             mslite_tensor *y) {
  if (status != MSLITE_OK) return status;
  y->rank = x->rank;
  for (int32_t i = 0; i < x->rank; ++i) y->dims[i] = plan->out[i];
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_resize) {
  (void)output_count;
  mslite_resize_plan plan;
  outputs[0]->type = inputs[0]->type;
  outputs[0]->rank = -1;
  if (inputs[0]->rank < 0) {
    mslite_unknown_dims(context, 4, outputs[0]);
    return MSLITE_OK;
  }
  return resized(mslite_plan_resize(context, params, inputs, input_count, &plan), inputs[0], &plan, outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_resize_nd) {
  (void)output_count;
  mslite_resize_plan plan;
  outputs[0]->type = inputs[0]->type;
  outputs[0]->rank = -1;
  if (input_count < 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the input 'target' is missing");
  if (inputs[0]->rank < 0) return MSLITE_OK;
  return resized(mslite_plan_resize_nd(context, params, inputs, input_count, &plan), inputs[0], &plan, outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_crop_and_resize) {
  (void)params, (void)output_count;
  mslite_tensor *y = outputs[0];
  int64_t size[2];
  int32_t count;
  if (input_count < 4) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "CropAndResize needs four inputs");
  y->type = MSLITE_FLOAT32;
  mslite_unknown_dims(context, 4, y);
  if (inputs[0]->rank >= 0 && inputs[0]->rank != 4)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "an image of 4 dimensions is needed");
  if (inputs[0]->rank == 4) y->dims[3] = inputs[0]->dims[3];
  if (inputs[1]->rank == 2) y->dims[0] = inputs[1]->dims[0];
  if (!mslite_read_entries(inputs[3], size, 2, &count) || count != 2) return MSLITE_OK;
  for (int32_t i = 0; i < 2; ++i) {
    if (size[i] < 0 && !mslite_is_symbol(size[i]))
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "a negative crop size");
    y->dims[1 + i] = size[i];
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_grid_sampler) {
  (void)params, (void)output_count;
  if (input_count < 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the input 'grid' is missing");
  const mslite_tensor *x = inputs[0];
  const mslite_tensor *grid = inputs[1];
  mslite_tensor *y = outputs[0];
  y->type = x->type;
  y->rank = -1;
  if (x->rank < 0 || grid->rank < 0) return MSLITE_OK;
  if (x->rank != grid->rank || x->rank < 4 || x->rank > 5) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "x and grid must have 4 or 5 dimensions");
  }
  y->rank = x->rank;
  y->dims[0] = x->dims[0];
  y->dims[1] = x->dims[1];
  for (int32_t i = 2; i < x->rank; ++i) y->dims[i] = grid->dims[i - 1];
  return MSLITE_OK;
}
