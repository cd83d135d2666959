/* Shape rules of the activation functions. */
#include "shape/shape.h"

MSLITE_SHAPE_RULE(mslite_shape_of_activation) {
  (void)context, (void)params, (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  return MSLITE_OK;
}

/* Sets the shape of x, and checks that the axis exists. */
static mslite_status same_with_axis(mslite_shape_context *context, int64_t axis, const mslite_tensor *x,
                                    mslite_tensor *output) {
  mslite_same_shape(x, output);
  if (x->rank >= 0 && mslite_normalize_axis(axis, x->rank) < 0)
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "axis %lld is outside rank %d", (long long)axis,
                             (int)x->rank);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_softmax) {
  (void)input_count, (void)output_count;
  const mslite_longs axes = ((const mslite_Softmax *)params)->axis;
  if (axes.count > 1)
    return mslite_shape_fail(context, MSLITE_ERROR_UNSUPPORTED, "%d axes; one is supported", (int)axes.count);
  return same_with_axis(context, axes.count == 0 ? -1 : axes.at[0], inputs[0], outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_log_softmax) {
  (void)input_count, (void)output_count;
  return same_with_axis(context, ((const mslite_LogSoftmax *)params)->axis, inputs[0], outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_hardmax) {
  (void)input_count, (void)output_count;
  return same_with_axis(context, ((const mslite_Hardmax *)params)->axis, inputs[0], outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_glu) {
  (void)input_count, (void)output_count;
  const mslite_tensor *x = inputs[0];
  const int64_t wanted = ((const mslite_GLU *)params)->axis;
  const mslite_status status = same_with_axis(context, wanted, x, outputs[0]);
  if (status != MSLITE_OK || x->rank < 0) return status;
  const int32_t axis = mslite_normalize_axis(wanted, x->rank);
  const int64_t size = x->dims[axis];
  if (size >= 0 && size % 2 != 0)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "dimension %d is %lld, but must be even", (int)axis,
                             (long long)size);
  outputs[0]->dims[axis] = size >= 0 ? size / 2 : mslite_new_symbol(context);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_prelu) {
  (void)params, (void)input_count, (void)output_count;
  const mslite_tensor *x = inputs[0], *slope = inputs[1];
  mslite_same_shape(x, outputs[0]);
  const int64_t count = mslite_element_count(slope);
  if (x->rank < 1 || count < 0 || count == 1) return MSLITE_OK;
  const int64_t channels = x->dims[x->rank - 1];
  if (channels < 0 || count == channels) return MSLITE_OK;
  /* Besides one slope per channel, any shape that broadcasts to that of x. */
  bool fits = slope->rank <= x->rank;
  for (int32_t i = 0; fits && i < slope->rank; ++i) {
    const int64_t of_x = x->dims[x->rank - slope->rank + i];
    fits = slope->dims[i] == 1 || of_x < 0 || slope->dims[i] == of_x;
  }
  if (!fits)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "%lld slopes for %lld channels (the last dimension)",
                             (long long)count, (long long)channels);
  return MSLITE_OK;
}
