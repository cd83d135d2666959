/* 3 x 3 depthwise convolution of quantized int8 without dilation, one output per channel, on microcontrollers with
 * the DSP extension or Helium. */
#include "convolution/depthwise_micro.h"

#if MICRO_MVE
#include "convolution/depthwise_3x3_mve.h"
#elif MICRO_DSP
#include "convolution/depthwise_3x3_dsp.h"
#else
enum { STAGED, TILE = 1, COLUMN_BYTES };
#endif

static int32_t depthwise_support(const mslite_node *node) {
  if (!MICRO_DSP || !micro_depthwise_fits(node)) return 0;
  mslite_convolution_attributes attributes;
  mslite_convolution_read(node->op, node->params, &attributes);
  const int64_t *dims = node->inputs[1]->dims;
  if (dims[1] != 3 || dims[2] != 3 || dims[0] != attributes.group || dims[0] < STAGED) return 0;
  for (int32_t i = 0; i < 2; ++i) {
    if (mslite_list_entry(attributes.dilation, i, 1) != 1) return 0;
  }
  return 4;
}

static mslite_status depthwise_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  mslite_micro_depthwise *own = derived;
  mslite_convolution_attributes attributes;
  mslite_convolution_read(node->op, node->params, &attributes);
  /* At stride 1 two output rows read as many rows of x as four do. */
  const bool is_dense =
      mslite_list_entry(attributes.stride, 0, 1) == 1 && mslite_list_entry(attributes.stride, 1, 1) == 1;
  const int32_t rows = is_dense ? 2 : 1;
  const mslite_status status = micro_depthwise_prepare(node, own, rows, schedule);
  if (status != MSLITE_OK) return status;
  micro_depthwise_tile(own, TILE);
  const int32_t columns = (own->tile - 1) * own->stride_columns + 3;
  schedule->scratch_bytes = 2 * own->tile * 4 + columns * COLUMN_BYTES;
  return MSLITE_OK;
}

static int64_t depthwise_pack_size(const mslite_node *node, int32_t input) {
  if (input != 1) return input == 2 ? -1 : 0;
  const int64_t channels = node->inputs[1]->dims[0];
  return micro_table_size(channels) + 9 * channels + 1; /* words are read from the three bytes of a column */
}

static void depthwise_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  if (input != 1) return;
  static const int32_t order[3] = {0, MICRO_MVE ? 1 : 2, MICRO_MVE ? 2 : 1};
  const int64_t channels = node->inputs[1]->dims[0];
  micro_make_table(node, channels, micro_convolution_channel, false, packed);
  const int8_t *from = source;
  int8_t *to = (int8_t *)packed + micro_table_size(channels);
  for (int64_t c = 0; c < channels; ++c, from += 9) {
    for (int32_t column = 0; column < 3; ++column) {
      for (int32_t row = 0; row < 3; ++row) *to++ = from[3 * order[row] + column];
    }
  }
  *to = 0;
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_depthwise_3x3_int8) = {
    .name = MSLITE_ISA_STRING(depthwise_3x3_int8),
    .op = MSLITE_OP_Conv2DFusion,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(mslite_micro_depthwise),
    .support = depthwise_support,
    .prepare = depthwise_prepare,
    .pack_size = depthwise_pack_size,
    .pack = depthwise_pack,
#if MICRO_DSP
    .run = depthwise_run,
#endif
    .quantized = 1,
    .lead = micro_depthwise_lead,
};
