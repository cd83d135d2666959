/* Convolutions of stored integers: operands, and the numbers of each output channel. TensorFlow Lite's reference
 * arithmetic: sums of (x - zero)(w - zero) plus the bias, rescaled per channel, then the zero point of y and the clamp.
 */
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

/* What all channels share. */
typedef struct {
  int32_t x_zero, y_zero;
  int32_t low, high; /* of the stored result */
  bool wide;         /* sums of 64 bits: x is int16 and the bias is not int32 */
} mslite_stored_numbers;

/* True for a convolution of x of `type` with constant int8 weights, as far as it can be told without shapes. */
bool mslite_stored_convolution_fits(const mslite_node *node, int32_t type);

/* Output channels, from the weight alone. */
int64_t mslite_stored_channels(const mslite_node *node);

mslite_stored_channel mslite_stored_channel_of(const mslite_node *node, int64_t channel);

mslite_stored_numbers mslite_stored_numbers_of(const mslite_node *node);

/* The stored result of a sum without its bias. */
static inline int32_t mslite_stored_result(const mslite_stored_numbers *n, const mslite_stored_channel *channel,
                                           int64_t sum) {
  const int32_t steps = n->wide ? mslite_rescale_wide(sum + channel->bias, channel->factor)
                                : mslite_rescale((int32_t)(uint32_t)(uint64_t)(sum + channel->bias), channel->factor);
  return mslite_limit((int32_t)((uint32_t)steps + (uint32_t)n->y_zero), n->low, n->high);
}

#ifdef __cplusplus
}
#endif

#endif
