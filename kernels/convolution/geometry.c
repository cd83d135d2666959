/* Resolves the attributes and shapes of convolutions. */
#include "convolution/geometry.h"

void mslite_convolution_read(int32_t op, const void *params, mslite_convolution_attributes *attributes) {
  static const mslite_longs none = {0, NULL};
  attributes->output_paddings = none;
  attributes->transposed = op == MSLITE_OP_Conv2dTransposeFusion;
  attributes->activation = MSLITE_ACTIVATION_TYPE_NO_ACTIVATION;
#define MSLITE_COPY_ATTRIBUTES(type)                        \
  do {                                                      \
    const type *from = params;                              \
    attributes->kernel_size = from->kernel_size;            \
    attributes->stride = from->stride;                      \
    attributes->dilation = from->dilation;                  \
    attributes->pad_list = from->pad_list;                  \
    attributes->pad_mode = from->pad_mode;                  \
    attributes->group = from->group == 0 ? 1 : from->group; \
  } while (0)
#define MSLITE_COPY_ACTIVATION(type) attributes->activation = ((const type *)params)->activation_type
  if (op == MSLITE_OP_Conv2dTransposeFusion) {
    MSLITE_COPY_ATTRIBUTES(mslite_Conv2dTransposeFusion);
    MSLITE_COPY_ACTIVATION(mslite_Conv2dTransposeFusion);
    attributes->output_paddings = ((const mslite_Conv2dTransposeFusion *)params)->output_paddings;
  } else if (op == MSLITE_OP_Conv2DAddFusion) {
    MSLITE_COPY_ATTRIBUTES(mslite_Conv2DAddFusion);
    MSLITE_COPY_ACTIVATION(mslite_Conv2DAddFusion);
  } else if (op == MSLITE_OP_AdderFusion) {
    MSLITE_COPY_ATTRIBUTES(mslite_AdderFusion);
    MSLITE_COPY_ACTIVATION(mslite_AdderFusion);
  } else if (op == MSLITE_OP_ConvInteger) {
    MSLITE_COPY_ATTRIBUTES(mslite_ConvInteger);
  } else {
    MSLITE_COPY_ATTRIBUTES(mslite_Conv2DFusion);
    MSLITE_COPY_ACTIVATION(mslite_Conv2DFusion);
  }
#undef MSLITE_COPY_ATTRIBUTES
#undef MSLITE_COPY_ACTIVATION
}

static mslite_status fail(const char **reason, mslite_status status, const char *why) {
  if (reason != NULL) *reason = why;
  return status;
}

mslite_status mslite_convolution_resolve(const mslite_convolution_attributes *attributes, const mslite_tensor *x,
                                         const mslite_tensor *weight, mslite_convolution *geometry,
                                         const char **reason) {
  if (x->rank != 4) return fail(reason, MSLITE_ERROR_SHAPE, "the input must have 4 dimensions");
  if (weight->rank != 4) return fail(reason, MSLITE_ERROR_SHAPE, "the weight must have 4 dimensions");
  const int64_t group = attributes->group;
  if (group < 1) return fail(reason, MSLITE_ERROR_ATTRIBUTE, "group must be positive");
  geometry->batch = x->dims[0];
  geometry->in_channels = x->dims[3];
  geometry->group = group;
  geometry->activation = attributes->activation;
  if (weight->dims[0] > INT32_MAX || weight->dims[3] > INT32_MAX || group > INT32_MAX) {
    return fail(reason, MSLITE_ERROR_SHAPE, "the weight is too large");
  }
  const int64_t weight_in = attributes->transposed ? weight->dims[0] : weight->dims[3] * group;
  geometry->out_channels = attributes->transposed ? weight->dims[3] * group : weight->dims[0];
  if (weight_in != geometry->in_channels || weight_in < 1 || geometry->out_channels < 1) {
    return fail(reason, MSLITE_ERROR_SHAPE, "the channels of input and weight differ");
  }
  if (weight_in % group != 0 || geometry->out_channels % group != 0) {
    return fail(reason, MSLITE_ERROR_SHAPE, "group does not divide the channels");
  }
  geometry->group_in = geometry->in_channels / group;
  geometry->group_out = geometry->out_channels / group;
  for (int32_t i = 0; i < 2; ++i) {
    mslite_axis *axis = i == 0 ? &geometry->height : &geometry->width;
    if (mslite_read_axis(i, attributes->kernel_size, attributes->stride, attributes->dilation, attributes->pad_list,
                         axis) != MSLITE_OK) {
      return fail(reason, MSLITE_ERROR_ATTRIBUTE, "kernel_size, stride, dilation or pad_list is out of range");
    }
    if (axis->kernel != 0 && axis->kernel != weight->dims[1 + i]) {
      return fail(reason, MSLITE_ERROR_SHAPE, "kernel_size differs from the weight's shape");
    }
    axis->kernel = weight->dims[1 + i];
    axis->input = x->dims[1 + i];
    const mslite_status status =
        attributes->transposed ? mslite_resolve_transposed_axis(axis, attributes->pad_mode,
                                                                mslite_list_entry(attributes->output_paddings, i, 0))
                               : mslite_resolve_axis(axis, attributes->pad_mode, false);
    if (status != MSLITE_OK) return fail(reason, status, "the kernel is larger than the padded input");
  }
  return MSLITE_OK;
}

mslite_status mslite_convolution_of(const mslite_node *node, mslite_convolution *geometry) {
  mslite_convolution_attributes attributes;
  mslite_convolution_read(node->op, node->params, &attributes);
  geometry->has_bias = node->input_count > 2 && node->inputs[2] != NULL;
  return mslite_convolution_resolve(&attributes, node->inputs[0], node->inputs[1], geometry, NULL);
}

/* Constants for float16 computations are packed from float32. */
static bool is_operand(const mslite_tensor *tensor, int32_t type) {
  return tensor->type == (type == MSLITE_FLOAT16 && tensor->data != NULL ? MSLITE_FLOAT32 : type);
}

bool mslite_convolution_fits(const mslite_node *node, int32_t type, mslite_convolution *geometry) {
  if (node->input_count < 2 || node->inputs[0]->type != type || !is_operand(node->inputs[1], type)) return false;
  if (mslite_convolution_of(node, geometry) != MSLITE_OK) return false;
  if (!geometry->has_bias) return true;
  return is_operand(node->inputs[2], type) && mslite_element_count(node->inputs[2]) == geometry->out_channels;
}
