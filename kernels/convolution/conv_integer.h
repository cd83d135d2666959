/* The operands of a ConvInteger. */
#ifndef MSLITE_CONV_INTEGER_H
#define MSLITE_CONV_INTEGER_H

#include "convolution/geometry.h"
#include "matmul/integer_product.h"

#ifdef __cplusplus
extern "C" {
#endif

/* MSLITE_ERROR_SHAPE when zero points, scales or bias do not fit the images and channels. As TensorFlow Lite computes
 * it, one scale for all channels is multiplied by that of the image first, one for each channel by the sum. */
mslite_status mslite_conv_integer_operands(const mslite_node *node, const mslite_convolution *geometry,
                                           mslite_integer_operands *operands);

#ifdef __cplusplus
}
#endif

#endif
