/* Shape rules of spatial pooling. */
#include "pooling/geometry.h"
#include "shape/shape.h"

enum { PROBE_SIZE = 1 << 25 }; /* used for unknown spatial sizes while the attributes are checked */

/* Sets y [batch, h, w, channels]. An unknown size keeps its symbol if the window does not change it. */
static mslite_status shape_of(mslite_shape_context *context, int32_t op, const void *params, const mslite_tensor *input,
                              mslite_tensor *y) {
  mslite_tensor x = *input;
  y->type = x.type;
  y->rank = 4;
  if (x.rank >= 0 && x.rank != 4) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the input must have 4 dimensions, not %d", (int)x.rank);
  }
  for (int32_t i = x.rank < 0 ? 0 : 4; i < 4; ++i) x.dims[i] = mslite_new_symbol(context);
  x.rank = 4;
  const mslite_tensor asked = x;
  for (int32_t i = 1; i < 3; ++i) {
    if (mslite_is_symbol(x.dims[i])) x.dims[i] = PROBE_SIZE;
  }
  mslite_pooling geometry;
  const char *reason = "";
  const mslite_status status = mslite_pooling_resolve(op, params, &x, &geometry, &reason);
  if (status != MSLITE_OK) return mslite_shape_fail(context, status, "%s", reason);
  y->dims[0] = asked.dims[0];
  y->dims[3] = asked.dims[3];
  for (int32_t i = 0; i < 2; ++i) {
    const mslite_axis *axis = i == 0 ? &geometry.height : &geometry.width;
    const int64_t before = asked.dims[1 + i];
    const bool global = axis->kernel == axis->input;
    const bool kept = axis->stride == 1 && axis->output == axis->input;
    y->dims[1 + i] = global || !mslite_is_symbol(before) ? axis->output : kept ? before : mslite_new_symbol(context);
  }
  return MSLITE_OK;
}

#define POOLING_RULE(function, operator)                                           \
  MSLITE_SHAPE_RULE(function) {                                                    \
    (void)input_count, (void)output_count;                                         \
    return shape_of(context, MSLITE_OP_##operator, params, inputs[0], outputs[0]); \
  }

POOLING_RULE(mslite_shape_of_average_pool, AvgPoolFusion)
POOLING_RULE(mslite_shape_of_maximum_pool, MaxPoolFusion)
POOLING_RULE(mslite_shape_of_average_pool_extended, AvgPoolExtended)
POOLING_RULE(mslite_shape_of_maximum_pool_extended, MaxPoolExtended)

MSLITE_SHAPE_RULE(mslite_shape_of_roi_pooling) {
  (void)input_count, (void)output_count;
  const mslite_ROIPooling *attributes = params;
  mslite_tensor *y = outputs[0];
  if (attributes->pooled_h < 1 || attributes->pooled_w < 1) {
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "the output size must be positive");
  }
  y->type = inputs[0]->type;
  y->rank = 4;
  y->dims[0] = inputs[1]->rank == 2 ? inputs[1]->dims[0] : mslite_new_symbol(context);
  y->dims[1] = attributes->pooled_h;
  y->dims[2] = attributes->pooled_w;
  y->dims[3] = inputs[0]->rank == 4 ? inputs[0]->dims[3] : mslite_new_symbol(context);
  return MSLITE_OK;
}
