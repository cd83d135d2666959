/* The operands of a ConvInteger. */
#ifndef MSLITE_CONV_INTEGER_H
#define MSLITE_CONV_INTEGER_H

#include "convolution/geometry.h"
#include "matmul/integer_product.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns MSLITE_ERROR_SHAPE if zero points, scales or bias do not match the images and channels. As in TensorFlow
 * Lite, a single scale for all channels is multiplied by that of the image first, per-channel scales by the sum. */
mslite_status mslite_conv_integer_operands(const mslite_node *node, const mslite_convolution *geometry,
                                           mslite_integer_operands *operands);

#ifdef __cplusplus
}
#endif

#endif
