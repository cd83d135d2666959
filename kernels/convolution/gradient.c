/* Finds the convolution that a gradient node belongs to. */
#include "convolution/gradient.h"

/* Reads the attributes that have the same names in all gradients. */
#define READ_ATTRIBUTES(operator_)               \
  const mslite_##operator_ *from = node->params; \
  attributes.kernel_size = from->kernel_size;    \
  attributes.stride = from->stride;              \
  attributes.dilation = from->dilation;          \
  attributes.pad_list = from->pad_list;          \
  attributes.pad_mode = from->pad_mode;          \
  attributes.group = from->group;

mslite_status mslite_convolution_gradient_of(const mslite_node *node, mslite_convolution *geometry) {
  mslite_convolution_attributes attributes = {0};
  const mslite_tensor *x, *weight, *y = node->inputs[0];
  if (node->op == MSLITE_OP_Conv2DBackpropInputFusion) {
    READ_ATTRIBUTES(Conv2DBackpropInputFusion)
    x = node->outputs[0];
    weight = node->inputs[1];
  } else if (node->op == MSLITE_OP_DeConv2DGradFilter) {
    READ_ATTRIBUTES(DeConv2DGradFilter)
    x = node->inputs[0];
    y = node->inputs[1];
    weight = node->outputs[0];
  } else {
    READ_ATTRIBUTES(Conv2DBackpropFilterFusion)
    x = node->inputs[1];
    weight = node->outputs[0];
  }
  if (attributes.group == 0) attributes.group = 1;
  const mslite_status status = mslite_convolution_resolve(&attributes, x, weight, geometry, NULL);
  if (status != MSLITE_OK) return status;
  const bool fits = y->rank == 4 && y->dims[0] == geometry->batch && y->dims[1] == geometry->height.output &&
                    y->dims[2] == geometry->width.output && y->dims[3] == geometry->out_channels;
  return fits ? MSLITE_OK : MSLITE_ERROR_SHAPE;
}

bool mslite_convolution_gradient_fits(const mslite_node *node, mslite_convolution *geometry) {
  return node->inputs[0]->type == MSLITE_FLOAT32 && node->inputs[1]->type == MSLITE_FLOAT32 &&
         mslite_convolution_gradient_of(node, geometry) == MSLITE_OK;
}
