/* Shape rules of transforms of signals. */
#include "signal/dft.h"

MSLITE_SHAPE_RULE(mslite_shape_of_dft) {
  (void)output_count;
  const mslite_Dft *attributes = params;
  const mslite_tensor *x = inputs[0];
  mslite_tensor *y = outputs[0];
  mslite_same_shape(x, y);
  if (x->rank < 0) return MSLITE_OK;
  const int32_t axis = mslite_normalize_axis(attributes->axis, x->rank);
  if (axis < 0 || axis == x->rank - 1) {
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "axis %lld is not one before the last of %d dimensions",
                             (long long)attributes->axis, (int)x->rank);
  }
  const int64_t channels = x->dims[x->rank - 1];
  const bool to_real = attributes->inverse && attributes->onesided;
  if (!mslite_is_symbol(channels) && channels != 2 && (channels != 1 || to_real)) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the last dimension has %lld numbers", (long long)channels);
  }
  int64_t length;
  if (mslite_dft_length_of(attributes, x, input_count > 1 ? inputs[1] : NULL, &length)) {
    if (length < 1) return mslite_shape_fail(context, MSLITE_ERROR_VALUE, "a length of %lld", (long long)length);
    y->dims[axis] = attributes->onesided && !attributes->inverse ? length / 2 + 1 : length;
  } else if (attributes->onesided || input_count > 1) {
    y->dims[axis] = mslite_new_symbol(context);
  }
  y->dims[x->rank - 1] = to_real ? 1 : 2;
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_mel_weight_matrix) {
  (void)params, (void)output_count;
  if (input_count < 5) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "MelWeightMatrix has five inputs");
  mslite_tensor *y = outputs[0];
  y->type = MSLITE_FLOAT32;
  y->rank = 2;
  int64_t length;
  const bool known = mslite_known_value(inputs[1], 0, &length) && !mslite_is_symbol(length);
  y->dims[0] = known && length >= 0 ? length / 2 + 1 : mslite_new_symbol(context);
  if (!mslite_known_value(inputs[0], 0, &y->dims[1]) || y->dims[1] < 0) y->dims[1] = mslite_new_symbol(context);
  return MSLITE_OK;
}
