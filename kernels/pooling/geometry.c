/* Resolves the attributes and shapes of pooling. */
#include "pooling/geometry.h"

typedef struct {
  mslite_longs kernel_size, strides, dilation, pad;
  int32_t pad_mode, round_mode, activation;
  bool global, average, count_include_pad;
} pooling_attributes;

static void read_attributes(int32_t op, const void *params, pooling_attributes *attributes) {
  static const mslite_longs none = {0, NULL};
  attributes->dilation = none;
  attributes->global = attributes->count_include_pad = false;
  attributes->average = op == MSLITE_OP_AvgPoolFusion || op == MSLITE_OP_AvgPoolExtended;
#define MSLITE_COPY_ATTRIBUTES(type)                \
  do {                                              \
    const type *from = params;                      \
    attributes->kernel_size = from->kernel_size;    \
    attributes->strides = from->strides;            \
    attributes->pad = from->pad;                    \
    attributes->pad_mode = from->pad_mode;          \
    attributes->round_mode = from->round_mode;      \
    attributes->activation = from->activation_type; \
  } while (0)
  if (op == MSLITE_OP_AvgPoolExtended) {
    MSLITE_COPY_ATTRIBUTES(mslite_AvgPoolExtended);
    attributes->dilation = ((const mslite_AvgPoolExtended *)params)->dilation;
    attributes->count_include_pad = ((const mslite_AvgPoolExtended *)params)->count_include_pad;
  } else if (op == MSLITE_OP_MaxPoolExtended) {
    MSLITE_COPY_ATTRIBUTES(mslite_MaxPoolExtended);
    attributes->dilation = ((const mslite_MaxPoolExtended *)params)->dilation;
  } else if (op == MSLITE_OP_AvgPoolFusion) {
    MSLITE_COPY_ATTRIBUTES(mslite_AvgPoolFusion);
    attributes->global = ((const mslite_AvgPoolFusion *)params)->global;
  } else {
    MSLITE_COPY_ATTRIBUTES(mslite_MaxPoolFusion);
    attributes->global = ((const mslite_MaxPoolFusion *)params)->global;
  }
#undef MSLITE_COPY_ATTRIBUTES
}

static mslite_status fail(const char **reason, mslite_status status, const char *why) {
  if (reason != NULL) *reason = why;
  return status;
}

mslite_status mslite_pooling_resolve(int32_t op, const void *params, const mslite_tensor *x, mslite_pooling *geometry,
                                     const char **reason) {
  if (x->rank != 4) return fail(reason, MSLITE_ERROR_SHAPE, "the input must have 4 dimensions");
  pooling_attributes attributes;
  read_attributes(op, params, &attributes);
  geometry->batch = x->dims[0];
  geometry->channels = x->dims[3];
  geometry->activation = attributes.activation;
  geometry->average = attributes.average;
  geometry->count_include_pad = attributes.count_include_pad;
  for (int32_t i = 0; i < 2; ++i) {
    mslite_axis *axis = i == 0 ? &geometry->height : &geometry->width;
    axis->input = x->dims[1 + i];
    if (attributes.global) {
      axis->kernel = axis->input;
      axis->output = axis->stride = axis->dilation = 1;
      axis->pad_before = axis->pad_after = 0;
      continue;
    }
    if (mslite_read_axis(i, attributes.kernel_size, attributes.strides, attributes.dilation, attributes.pad, axis) !=
            MSLITE_OK ||
        axis->kernel < 1) {
      return fail(reason, MSLITE_ERROR_ATTRIBUTE, "kernel_size, strides, dilation or pad is missing or out of range");
    }
    const mslite_status status =
        mslite_resolve_axis(axis, attributes.pad_mode, attributes.round_mode == MSLITE_ROUND_MODE_CEIL);
    if (status != MSLITE_OK) return fail(reason, status, "the window is larger than the padded input");
  }
  return MSLITE_OK;
}
