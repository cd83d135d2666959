/* Shape rules of the convolutions. */
#include "convolution/geometry.h"
#include "shape/shape.h"

enum { PROBE_SIZE = 1 << 25 }; /* used for unknown spatial sizes while the attributes are checked */

static bool has_symbols(const mslite_tensor *tensor) { return mslite_element_count(tensor) < 0 && tensor->rank >= 0; }

/* Sets y [batch, h, w, out] from x [batch, h, w, in] and the weight. An unknown size keeps its symbol if the window
 * does not change it. */
static mslite_status shape_of(mslite_shape_context *context, int32_t op, const void *params,
                              const mslite_tensor *const *inputs, int32_t input_count, mslite_tensor *y) {
  if (input_count < 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "a weight is needed");
  const mslite_tensor *weight = inputs[1];
  mslite_tensor x = *inputs[0];
  mslite_convolution_attributes attributes;
  mslite_convolution_read(op, params, &attributes);
  y->type = x.type;
  y->rank = 4;
  if (x.rank >= 0 && x.rank != 4) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the input must have 4 dimensions, not %d", (int)x.rank);
  }
  for (int32_t i = x.rank < 0 ? 0 : 4; i < 4; ++i) x.dims[i] = mslite_new_symbol(context);
  x.rank = 4;
  y->dims[0] = x.dims[0];
  if (weight->rank < 0 || has_symbols(weight)) {
    for (int32_t i = 1; i < 4; ++i) y->dims[i] = mslite_new_symbol(context);
    if (weight->rank == 4 && !attributes.transposed) y->dims[3] = weight->dims[0];
    return MSLITE_OK;
  }
  const mslite_tensor asked = x;
  for (int32_t i = 0; i < 3; ++i) {
    if (mslite_is_symbol(x.dims[i])) x.dims[i] = PROBE_SIZE;
  }
  if (mslite_is_symbol(x.dims[3]) && weight->rank == 4) {
    x.dims[3] = attributes.transposed ? weight->dims[0] : weight->dims[3] * attributes.group;
  }
  mslite_convolution geometry;
  const char *reason = "";
  const mslite_status status = mslite_convolution_resolve(&attributes, &x, weight, &geometry, &reason);
  if (status != MSLITE_OK) return mslite_shape_fail(context, status, "%s", reason);
  for (int32_t i = 0; i < 2; ++i) {
    const mslite_axis *axis = i == 0 ? &geometry.height : &geometry.width;
    const bool kept = axis->stride == 1 && axis->output == axis->input;
    const int64_t before = asked.dims[1 + i];
    y->dims[1 + i] = !mslite_is_symbol(before) ? axis->output : kept ? before : mslite_new_symbol(context);
  }
  y->dims[3] = geometry.out_channels;
  return MSLITE_OK;
}

#define CONVOLUTION_RULE(function, operator)                                                 \
  MSLITE_SHAPE_RULE(function) {                                                              \
    (void)output_count;                                                                      \
    return shape_of(context, MSLITE_OP_##operator, params, inputs, input_count, outputs[0]); \
  }

CONVOLUTION_RULE(mslite_shape_of_conv2d, Conv2DFusion)
CONVOLUTION_RULE(mslite_shape_of_conv2d_transpose, Conv2dTransposeFusion)
CONVOLUTION_RULE(mslite_shape_of_adder, AdderFusion)

/* The added tensor has the shape of the result. */
MSLITE_SHAPE_RULE(mslite_shape_of_conv2d_add) {
  (void)output_count;
  const mslite_status status = shape_of(context, MSLITE_OP_Conv2DAddFusion, params, inputs, input_count, outputs[0]);
  const mslite_tensor *sum = inputs[3], *y = outputs[0];
  if (status != MSLITE_OK || sum->rank < 0) return status;
  bool fits = sum->rank == y->rank;
  for (int32_t i = 0; fits && i < y->rank; ++i) {
    fits = sum->dims[i] == y->dims[i] || mslite_is_symbol(sum->dims[i]) || mslite_is_symbol(y->dims[i]);
  }
  return fits ? status
              : mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the added tensor must have the shape of the result");
}

MSLITE_SHAPE_RULE(mslite_shape_of_conv_integer) {
  (void)output_count;
  const mslite_status status = shape_of(context, MSLITE_OP_ConvInteger, params, inputs, input_count, outputs[0]);
  outputs[0]->type = input_count > 4 ? MSLITE_FLOAT32 : MSLITE_INT32;
  return status;
}
