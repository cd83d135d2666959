/* The packed weights of depthwise convolutions of quantized int8. */
#ifndef MSLITE_DEPTHWISE_INT8_PACK_H
#define MSLITE_DEPTHWISE_INT8_PACK_H

#include "convolution/stored.h"
#include "simd/pairs.h"

enum {
  GROUP = SIMD_PAIRS,          /* channels that are computed together */
  VECTORS = GROUP / SIMD_WIDTH /* vectors for their sums */
};

/* The packed weight: three rows of parameters, then a row per column of taps and SIMD_ROWS rows, each of `step`
 * slots in the order of simd_lane_of. A value contains the weights of SIMD_ROWS rows, or of SIMD_SHARED slots;
 * missing rows are zeros. The bias includes the contributions of the zero point of x and of SIMD_ROW_OFFSET. */
enum { ROW_BIAS, ROW_FACTOR, ROW_SHIFT, ROW_WEIGHTS };

static int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

/* Returns the channel of slot c. The last group ends with the last channel and may overlap the group before. */
static int64_t channel_of(int64_t c, int64_t channels) {
  const int64_t first = c / GROUP * GROUP;
  return channels >= GROUP && first + GROUP > channels ? channels - GROUP + c % GROUP : c;
}

static int64_t depthwise_pack_size(const mslite_node *node, int32_t input) {
  if (input != 1) return 0;
  const int64_t *dims = node->inputs[1]->dims;
  const int64_t rows = round_up(dims[1], SIMD_ROWS) / SIMD_ROWS * dims[2], step = round_up(dims[0], GROUP);
  return (ROW_WEIGHTS * step + rows * step / SIMD_SHARED) * (int64_t)sizeof(int32_t);
}

static void depthwise_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  if (input != 1) return;
  const int64_t *dims = node->inputs[1]->dims;
  const int64_t height = dims[1], width = dims[2], step = round_up(dims[0], GROUP);
  const uint32_t x_zero = (uint32_t)(node->inputs[0]->quant->zero_point + SIMD_ROW_OFFSET);
  uint32_t *to = packed;
  memset(to, 0, (size_t)depthwise_pack_size(node, input));
  for (int64_t c = 0; c < step; ++c) {
    const int64_t source_channel = channel_of(c, dims[0]);
    if (source_channel >= dims[0]) break;
    const mslite_stored_channel channel = mslite_stored_channel_of(node, source_channel);
    const int8_t *from = (const int8_t *)source + source_channel * height * width;
    const int64_t lane = simd_lane_of(c);
    uint32_t bias = (uint32_t)channel.bias;
    for (int64_t tap = 0; tap < height * width; ++tap) {
      const uint32_t weight = (uint32_t)(from[tap] - channel.weight_zero);
      bias -= x_zero * weight;
      const int64_t ky = tap / width, row = ky / SIMD_ROWS * width + tap % width;
      const int64_t place = SIMD_SHARED > 1 ? lane % SIMD_SHARED : ky % SIMD_ROWS;
      to[ROW_WEIGHTS * step + (row * step + lane) / SIMD_SHARED] |= (weight & (UINT32_MAX >> (32 - SIMD_WEIGHT_BITS)))
                                                                    << place * SIMD_WEIGHT_BITS;
    }
    to[ROW_BIAS * step + lane] = bias;
    to[ROW_FACTOR * step + lane] = (uint32_t)channel.factor.value;
    to[ROW_SHIFT * step + lane] = (uint32_t)channel.factor.shift;
  }
}

#endif
