/* Shape rules of signal transforms. */
#include "shape/shape.h"
#include "signal/dft.h"

MSLITE_SHAPE_RULE(mslite_shape_of_dft) {
  (void)output_count;
  const mslite_Dft *attributes = params;
  const mslite_tensor *x = inputs[0];
  mslite_tensor *y = outputs[0];
  mslite_same_shape(x, y);
  if (x->rank < 0) return MSLITE_OK;
  int32_t axis = 0;
  const bool has_axis = mslite_dft_axis(attributes, inputs, input_count, &axis);
  if (axis < 0 || x->rank < 2) {
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "the axis must be before the last of %d dimensions",
                             (int)x->rank);
  }
  const int64_t channels = x->dims[x->rank - 1];
  const bool to_real = attributes->inverse && attributes->onesided;
  if (!mslite_is_symbol(channels) && channels != 2 && (channels != 1 || to_real)) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE,
                             "the last dimension must be 2, or 1 for real signals; it is %lld", (long long)channels);
  }
  y->dims[x->rank - 1] = to_real ? 1 : 2;
  int64_t given;
  const bool has_length = mslite_dft_given_length(inputs, input_count, &given);
  const bool keeps = has_length && given == 0 && !attributes->onesided;
  for (int32_t i = has_axis ? axis : 0; i < (has_axis ? axis + 1 : x->rank - 1) && !keeps; ++i) {
    y->dims[i] = mslite_new_symbol(context);
  }
  if (!has_axis || !has_length || keeps || (given == 0 && mslite_is_symbol(x->dims[axis]))) return MSLITE_OK;
  const int64_t length = mslite_dft_length(attributes, given, x->dims[axis]);
  if (length < 1)
    return mslite_shape_fail(context, MSLITE_ERROR_VALUE, "a length of %lld is invalid", (long long)length);
  y->dims[axis] = mslite_dft_size(attributes, length);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_mel_weight_matrix) {
  (void)params, (void)output_count;
  if (input_count < 5) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "MelWeightMatrix needs five inputs");
  mslite_tensor *y = outputs[0];
  y->type = MSLITE_FLOAT32;
  y->rank = 2;
  int64_t length;
  const bool known = mslite_known_value(inputs[1], 0, &length) && !mslite_is_symbol(length);
  y->dims[0] = known && length >= 0 ? length / 2 + 1 : mslite_new_symbol(context);
  if (!mslite_known_value(inputs[0], 0, &y->dims[1]) || y->dims[1] < 0) y->dims[1] = mslite_new_symbol(context);
  return MSLITE_OK;
}
