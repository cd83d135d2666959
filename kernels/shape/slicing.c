/* Shape rules of the slicing operators. */
#include "assembly/slice_plan.h"
#include "shape/shape.h"

static void sliced(const mslite_tensor *x, const mslite_slice_plan *plan, mslite_tensor *y) {
  y->rank = plan->output_rank;
  for (int32_t i = 0; i < y->rank; ++i)
    y->dims[i] = plan->output_source[i] < 0 ? 1 : plan->size[plan->output_source[i]];
  if (x->known_count < 0) return;
  int64_t strides[MSLITE_MAX_RANK];
  int64_t stride = 1;
  int64_t base = 0;
  for (int32_t i = x->rank - 1; i >= 0; --i) {
    if (mslite_is_symbol(plan->begin[i])) return;
    strides[i] = stride * plan->stride[i];
    base += stride * plan->begin[i];
    stride *= x->dims[i];
  }
  mslite_known_strided(x, base, x->rank, plan->size, strides, y);
}

MSLITE_SHAPE_RULE(mslite_shape_of_slice) {
  (void)output_count;
  mslite_slice_plan plan;
  outputs[0]->type = inputs[0]->type;
  outputs[0]->rank = -1;
  if (inputs[0]->rank < 0) return MSLITE_OK;
  const mslite_status status = mslite_plan_slice(context, params, inputs, input_count, &plan);
  if (status == MSLITE_OK) sliced(inputs[0], &plan, outputs[0]);
  return status;
}

MSLITE_SHAPE_RULE(mslite_shape_of_strided_slice) {
  (void)output_count;
  mslite_slice_plan plan;
  outputs[0]->type = inputs[0]->type;
  outputs[0]->rank = -1;
  if (inputs[0]->rank < 0) return MSLITE_OK;
  const mslite_status status = mslite_plan_strided_slice(context, params, inputs, input_count, &plan);
  if (status == MSLITE_OK) sliced(inputs[0], &plan, outputs[0]);
  return status;
}

MSLITE_SHAPE_RULE(mslite_shape_of_crop) {
  (void)output_count;
  mslite_slice_plan plan;
  outputs[0]->type = inputs[0]->type;
  outputs[0]->rank = -1;
  if (input_count < 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the input 'reference' is missing");
  if (inputs[0]->rank < 0) return MSLITE_OK;
  const mslite_status status = mslite_plan_crop(context, params, inputs, input_count, &plan);
  if (status == MSLITE_OK) sliced(inputs[0], &plan, outputs[0]);
  return status;
}
