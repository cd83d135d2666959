/* Convolutions of quantized integers: operands, and the parameters of each output channel, with TensorFlow Lite's
 * reference arithmetic: sums of (x - zero)(w - zero) plus the bias, rescaled per channel, then the zero point of y
 * and the clamp. */
#ifndef MSLITE_CONVOLUTION_STORED_H
#define MSLITE_CONVOLUTION_STORED_H

#include "convolution/geometry.h"
#include "math/fixed_point.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One output channel. */
typedef struct {
  int64_t bias;
  mslite_multiplier factor;
  int32_t weight_zero;
} mslite_stored_channel;

/* The parameters that all channels share. */
typedef struct {
  int32_t x_zero, y_zero;
  int32_t low, high; /* of the quantized result */
  bool wide;         /* sums have 64 bits: x is int16 and the bias is not int32 */
} mslite_stored_numbers;

/* Returns whether the node is a convolution of x of `type` with constant int8 weights. Shapes may be unknown. */
bool mslite_quantized_convolution_fits(const mslite_node *node, int32_t type);

/* Returns the number of output channels, from the weight alone. */
int64_t mslite_stored_channels(const mslite_node *node);

mslite_stored_channel mslite_stored_channel_of(const mslite_node *node, int64_t channel);

mslite_stored_numbers mslite_stored_numbers_of(const mslite_node *node);

/* Returns the quantized result of a sum without its bias. */
static inline int32_t mslite_stored_result(const mslite_stored_numbers *n, const mslite_stored_channel *channel,
                                           int64_t sum) {
  const int32_t steps = n->wide ? mslite_rescale_wide(sum + channel->bias, channel->factor)
                                : mslite_rescale((int32_t)(uint32_t)(uint64_t)(sum + channel->bias), channel->factor);
  return mslite_clamp((int32_t)((uint32_t)steps + (uint32_t)n->y_zero), n->low, n->high);
}

#ifdef __cplusplus
}
#endif

#endif
