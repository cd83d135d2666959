/* The table of a layer's output channels, at the beginning of its packed weights:
 *
 *   int32_t bias[count]          includes the contribution of x's zero point: kernels multiply stored integers
 * directly
 *   int32_t multiplier[count]
 *   int8_t shift[count]          padded with zeros to a multiple of 4 bytes */
#ifndef MSLITE_CHANNELS_MICRO_H
#define MSLITE_CHANNELS_MICRO_H

#include "simd/micro.h"

/* The range and scale of one channel's sums. */
typedef struct {
  int64_t bias;             /* wraps to 32 bits */
  int64_t most;             /* bound of |sum + bias| */
  mslite_multiplier factor; /* of sums that are rounded twice, or half to even */
  double real;              /* of sums that are rounded once */
} micro_channel;

/* Sets the bias and the bound of sums of x * w. `sum` and `magnitude` are the sums of the channel's weights and of
 * their absolute values. */
static inline void micro_set_channel(micro_channel *numbers, int64_t bias, int32_t x_zero, int64_t sum,
                                     int64_t magnitude) {
  numbers->bias = bias - x_zero * sum;
  numbers->most = (numbers->bias < 0 ? -numbers->bias : numbers->bias) + 128 * magnitude;
}

typedef void (*micro_channel_of)(const mslite_node *node, int64_t channel, micro_channel *numbers);

/* One channel of the table. */
typedef struct {
  int32_t bias, multiplier;
  int8_t shift;
} micro_numbers;

/* How the sums of a layer's channels are rounded. */
typedef struct {
  int32_t rounding;  /* MICRO_ROUNDS_ONCE if requested, otherwise the cheapest for all channels; -1: none */
  bool has_one;      /* all channels have the multiplier and shift of `one` */
  micro_numbers one; /* otherwise zeros; without a bias */
} micro_factors;

#define micro_factors_of MSLITE_ISA_NAME(mslite_micro_factors_of)
micro_factors micro_factors_of(const mslite_node *node, int64_t count, micro_channel_of channel_of, bool once);

#define micro_make_numbers MSLITE_ISA_NAME(mslite_micro_make_numbers)
micro_numbers micro_make_numbers(const mslite_node *node, int64_t channel, micro_channel_of channel_of,
                                 const micro_factors *factors);

static inline int64_t micro_table_size(int64_t count) { return count * 8 + (count + 3) / 4 * 4; }

/* Returns the rounding of the channels' sums, as above. Writes the table to `table` unless it is NULL. */
#define micro_make_table MSLITE_ISA_NAME(mslite_micro_make_table)
int32_t micro_make_table(const mslite_node *node, int64_t count, micro_channel_of channel_of, bool once, void *table);

/* Sets the parameters of a channel of a convolution with weights [out, kh, kw, in / group]. */
#define micro_convolution_channel MSLITE_ISA_NAME(mslite_micro_convolution_channel)
void micro_convolution_channel(const mslite_node *node, int64_t channel, micro_channel *numbers);

#endif
