/* The gradients of a convolution y = x * weight, any group, stride, dilation and padding. */
#ifndef MSLITE_CONVOLUTION_GRADIENT_H
#define MSLITE_CONVOLUTION_GRADIENT_H

#include "convolution/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The convolution whose gradient a Conv2DBackpropInputFusion or Conv2DBackpropFilterFusion node is. Its x, weight and y
 * are known by the shapes of operands and results. For the weight, a transposed convolution has the gradient of the
 * convolution that leads back, from its dy to its x: DeConv2DGradFilter. */
mslite_status mslite_convolution_gradient_of(const mslite_node *node, mslite_convolution *geometry);

/* True when the numbers that the gradient is computed of are float32, and shapes fit. */
bool mslite_convolution_gradient_fits(const mslite_node *node, mslite_convolution *geometry);

#ifdef __cplusplus
}
#endif

#endif
