/* Depthwise convolution of quantized int8 on microcontrollers: any window, stride, dilation and padding, any number
 * of outputs per channel. One part is one output row. */
#include "convolution/depthwise_micro.h"

#if MICRO_DSP
#include "convolution/depthwise_dsp.h"
#else
#include "convolution/depthwise_plain.h"
#endif

static int32_t depthwise_support(const mslite_node *node) {
  if (!micro_depthwise_fits(node)) return 0;
  mslite_convolution_attributes attributes;
  mslite_convolution_read(node->op, node->params, &attributes);
  const int64_t *dims = node->inputs[1]->dims;
  return attributes.group >= MIN_CHANNELS && dims[1] <= 64 && dims[2] <= 64 ? 3 : 0;
}

static mslite_status depthwise_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  mslite_micro_depthwise *own = derived;
  const mslite_status status = micro_depthwise_prepare(node, own, 1, schedule);
  if (status == MSLITE_OK) schedule->scratch_bytes = depthwise_scratch(own);
  return status;
}

static int64_t depthwise_pack_size(const mslite_node *node, int32_t input) {
  if (input != 1) return input == 2 ? -1 : 0;
  const int64_t outputs = node->inputs[1]->dims[0];
  return micro_table_size(outputs) + mslite_element_count(node->inputs[1]);
}

/* Packs the taps by rows for plain C, otherwise by columns. */
static void depthwise_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  if (input != 1) return;
  const int64_t *dims = node->inputs[1]->dims, outputs = dims[0], taps = dims[1] * dims[2];
  micro_make_table(node, outputs, micro_convolution_channel, false, packed);
  const int8_t *from = source;
  int8_t *to = (int8_t *)packed + micro_table_size(outputs);
  for (int64_t o = 0; o < outputs; ++o, from += taps) {
    for (int64_t i = 0; i < taps; ++i) *to++ = from[MICRO_DSP ? i % dims[1] * dims[2] + i / dims[1] : i];
  }
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_depthwise_int8) = {
    .name = MSLITE_ISA_STRING(depthwise_int8),
    .op = MSLITE_OP_Conv2DFusion,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(mslite_micro_depthwise),
    .support = depthwise_support,
    .prepare = depthwise_prepare,
    .pack_size = depthwise_pack_size,
    .pack = depthwise_pack,
    .run = depthwise_run,
    .quantized = 1,
    .lead = micro_depthwise_lead,
};
