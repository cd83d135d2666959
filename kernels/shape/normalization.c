/* Shape rules of the normalizations: the output has the shape of x. */
#include "shape/shape.h"

static mslite_status axis_error(mslite_shape_context *context, int64_t axis, int32_t rank) {
  return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "axis %lld is outside rank %d", (long long)axis, (int)rank);
}

/* Returns the elements of the dimensions from `begin` on; -1 if unknown. */
static int64_t suffix_count(const mslite_tensor *x, int32_t begin) {
  mslite_tensor suffix = {.rank = x->rank - begin};
  for (int32_t i = begin; i < x->rank; ++i) suffix.dims[i - begin] = x->dims[i];
  return mslite_element_count(&suffix);
}

/* Checks that inputs 1 .. input_count-1 have one element per channel, which is dimension `channel_axis` of x. */
static mslite_status per_channel(mslite_shape_context *context, const mslite_tensor *const *inputs, int32_t input_count,
                                 int32_t channel_axis, mslite_tensor *output) {
  const mslite_tensor *x = inputs[0];
  mslite_same_shape(x, output);
  if (x->rank < 0) return MSLITE_OK;
  if (x->rank <= channel_axis || x->rank < 1)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "rank %d has no channels", (int)x->rank);
  const int64_t channels = x->dims[channel_axis < 0 ? x->rank - 1 : channel_axis];
  for (int32_t k = 1; k < input_count; ++k) {
    const int64_t count = mslite_element_count(inputs[k]);
    if (count >= 0 && channels >= 0 && count != channels)
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "input %d has %lld elements for %lld channels", (int)k,
                               (long long)count, (long long)channels);
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_batch_norm) {
  (void)params, (void)output_count;
  return per_channel(context, inputs, input_count < 3 ? input_count : 3, -1, outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_fused_batch_norm) {
  (void)params;
  /* The other outputs are for training only: they repeat the input statistics. */
  for (int32_t k = 1; k < output_count; ++k) mslite_same_shape(inputs[k % 2 == 1 ? 3 : 4], outputs[k]);
  return per_channel(context, inputs, input_count, -1, outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_instance_norm) {
  (void)params, (void)output_count;
  return per_channel(context, inputs, input_count, 1, outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_channels_last_instance_norm) {
  (void)params, (void)output_count;
  return per_channel(context, inputs, input_count, -1, outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_group_norm) {
  (void)output_count;
  const int64_t groups = ((const mslite_GroupNormFusion *)params)->num_groups;
  const mslite_tensor *x = inputs[0];
  if (x->rank >= 2 && x->dims[1] >= 0 && (groups < 1 || x->dims[1] % groups != 0))
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "%lld channels are not divisible into %lld groups",
                             (long long)x->dims[1], (long long)groups);
  return per_channel(context, inputs, input_count, 1, outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_layer_norm) {
  const mslite_LayerNormFusion *layer = params;
  const mslite_tensor *x = inputs[0];
  mslite_same_shape(x, outputs[0]);
  if (x->rank >= 0) {
    const int32_t begin = mslite_normalize_axis(layer->begin_norm_axis, x->rank);
    if (begin < 0) return axis_error(context, layer->begin_norm_axis, x->rank);
    const int32_t params_begin = mslite_normalize_axis(layer->begin_params_axis, x->rank);
    if (params_begin < 0) return axis_error(context, layer->begin_params_axis, x->rank);
    for (int32_t k = 1; k < input_count; ++k) {
      if (inputs[k] == NULL) continue;
      /* Some files omit begin_params_axis: then the parameters cover the normalized part. */
      const int64_t wanted = suffix_count(x, params_begin), normalized = suffix_count(x, begin);
      const int64_t count = mslite_element_count(inputs[k]);
      if (count >= 0 && wanted >= 0 && normalized >= 0 && count != wanted && count != normalized)
        return mslite_shape_fail(context, MSLITE_ERROR_SHAPE,
                                 "input %d has %lld elements, but the normalized part has %lld", (int)k,
                                 (long long)count, (long long)wanted);
    }
  }
  for (int32_t k = 1; k < output_count; ++k) {
    mslite_same_shape(x, outputs[k]);
    if (x->rank < 0) continue;
    for (int32_t i = mslite_normalize_axis(layer->begin_norm_axis, x->rank); i < x->rank; ++i) outputs[k]->dims[i] = 1;
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_rms_norm) {
  (void)output_count;
  const mslite_tensor *x = inputs[0];
  const int64_t wanted = ((const mslite_RmsNorm *)params)->axis;
  mslite_same_shape(x, outputs[0]);
  if (x->rank < 0) return MSLITE_OK;
  const int32_t axis = mslite_normalize_axis(wanted, x->rank);
  if (axis < 0) return axis_error(context, wanted, x->rank);
  const int64_t size = suffix_count(x, axis);
  const int64_t count = input_count > 1 ? mslite_element_count(inputs[1]) : -1;
  if (count >= 0 && size >= 0 && count != size)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "gamma has %lld elements, but the normalized part has %lld",
                             (long long)count, (long long)size);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_l2_normalize) {
  (void)input_count, (void)output_count;
  const mslite_longs axes = ((const mslite_L2NormalizeFusion *)params)->axis;
  mslite_same_shape(inputs[0], outputs[0]);
  for (int32_t i = 0; i < axes.count && inputs[0]->rank >= 0; ++i)
    if (mslite_normalize_axis(axes.at[i], inputs[0]->rank) < 0) return axis_error(context, axes.at[i], inputs[0]->rank);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_lp_normalization) {
  (void)input_count, (void)output_count;
  const mslite_LpNormalization *lp = params;
  mslite_same_shape(inputs[0], outputs[0]);
  if (lp->p != 1 && lp->p != 2)
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "p is %lld, but must be 1 or 2", (long long)lp->p);
  if (inputs[0]->rank >= 0 && mslite_normalize_axis(lp->axis, inputs[0]->rank) < 0)
    return axis_error(context, lp->axis, inputs[0]->rank);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_lrn) {
  (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  if (((const mslite_LRN *)params)->depth_radius < 0)
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "depth_radius is negative");
  return MSLITE_OK;
}
