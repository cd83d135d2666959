/* The gradients of a convolution y = x * weight, any group, stride, dilation and padding. */
#ifndef MSLITE_CONV2D_GRAD_H
#define MSLITE_CONV2D_GRAD_H

#include "convolution/geometry.h"

/* The convolution whose gradient a Conv2DBackpropInputFusion or Conv2DBackpropFilterFusion node is. Its x, weight and y
 * are known by the shapes of operands and results. For the weight, a transposed convolution has the gradient of the
 * convolution that leads back, from its dy to its x: DeConv2DGradFilter. */
mslite_status mslite_conv2d_grad_geometry(const mslite_node *node, mslite_convolution *geometry);

#endif
