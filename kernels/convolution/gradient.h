/* The gradients of a convolution y = x * weight, with any group, stride, dilation and padding. */
#ifndef MSLITE_CONVOLUTION_GRADIENT_H
#define MSLITE_CONVOLUTION_GRADIENT_H

#include "convolution/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Finds the convolution whose gradient a Conv2DBackpropInputFusion or Conv2DBackpropFilterFusion node computes. The
 * shapes of x, weight and y are known from inputs and outputs. For the weight, a transposed convolution has the
 * gradient of the convolution in the other direction, from its dy to its x: DeConv2DGradFilter. */
mslite_status mslite_convolution_gradient_of(const mslite_node *node, mslite_convolution *geometry);

/* Returns whether the inputs of the gradient are float32 and the shapes match. */
bool mslite_convolution_gradient_fits(const mslite_node *node, mslite_convolution *geometry);

#ifdef __cplusplus
}
#endif

#endif
