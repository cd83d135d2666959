/* Shape rules of the conversions between floats and integers. */
#include "shape/shape.h"

/* Scales and zero points have the shape of x, with 1 for axes that are not kept. */
static void shape_of_ranges(const mslite_DynamicQuant *params, const mslite_tensor *x, int32_t type,
                            mslite_tensor *ranges) {
  const mslite_ints *axes = &params->prefer_axes;
  mslite_same_shape(x, ranges);
  ranges->type = type;
  for (int32_t i = 0; i < x->rank; ++i) {
    bool kept = axes->count == 0 && mslite_normalize_axis(params->prefer_axis, x->rank) == i;
    for (int64_t k = 0; k < axes->count; ++k) kept = kept || mslite_normalize_axis(axes->at[k], x->rank) == i;
    if (!params->activation_channel || !kept) ranges->dims[i] = 1;
  }
}

MSLITE_SHAPE_RULE(mslite_shape_of_dynamic_quant) {
  (void)input_count;
  const int64_t type = ((const mslite_DynamicQuant *)params)->dst_type;
  mslite_same_shape(inputs[0], outputs[0]);
  if (type != MSLITE_INT8 && type != MSLITE_FLOAT32) {
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "dst_type is %lld, but must be int8", (long long)type);
  }
  outputs[0]->type = (int32_t)type;
  if (output_count > 1) shape_of_ranges(params, inputs[0], MSLITE_FLOAT32, outputs[1]);
  if (output_count > 2) shape_of_ranges(params, inputs[0], MSLITE_INT8, outputs[2]);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_quant_dtype_cast) {
  (void)input_count, (void)output_count;
  const int64_t type = ((const mslite_QuantDTypeCast *)params)->dst_t;
  mslite_same_shape(inputs[0], outputs[0]);
  if (type <= 0 || type > MSLITE_COMPLEX128 || mslite_type_size((int32_t)type) == 0) {
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "dst_t %lld is not a data type", (long long)type);
  }
  outputs[0]->type = (int32_t)type;
  return MSLITE_OK;
}

/* There is one bound, or one per index of the last dimension. */
MSLITE_SHAPE_RULE(mslite_shape_of_fake_quant) {
  (void)context, (void)params, (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_dynamic_quantize_linear) {
  (void)params, (void)input_count;
  if (output_count != 3) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "it must have three outputs");
  mslite_same_shape(inputs[0], outputs[0]);
  outputs[0]->type = outputs[2]->type = MSLITE_UINT8;
  outputs[1]->type = MSLITE_FLOAT32;
  return MSLITE_OK;
}
