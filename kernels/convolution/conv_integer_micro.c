/* ConvInteger on microcontrollers, for activations that are quantized at run time: one group, weights without zero
 * points. Two windows are computed together; all pixels are one part. */
#include "convolution/conv_integer.h"
#include "convolution/window_micro.h"
#include "matmul/integer_rows_micro.h"

typedef struct {
  micro_integer_layer layer;
  micro_windows windows;
  int32_t buffer;    /* offset of gathered windows in the scratch memory */
  int32_t zero_step; /* 0: all images have the same zero point and scale */
} conv_integer_derived;

static int64_t terms_of(const mslite_node *node) {
  const int64_t *dims = node->inputs[MSLITE_B]->dims;
  return dims[1] * dims[2] * dims[3];
}

static int32_t conv_integer_support(const mslite_node *node) {
  if (!micro_integer_fits(node) || node->inputs[MSLITE_B]->rank != 4 || terms_of(node) < 1) return 0;
  mslite_convolution_attributes attributes;
  mslite_convolution_read(node->op, node->params, &attributes);
  return attributes.group == 1;
}

static int64_t conv_integer_pack_size(const mslite_node *node, int32_t input) {
  if (input != MSLITE_B) return 0;
  return micro_integer_packed_size(node->inputs[MSLITE_B]->dims[0], terms_of(node));
}

static void conv_integer_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  if (input != MSLITE_B) return;
  const int64_t terms = terms_of(node);
  micro_integer_pack(source, node->inputs[MSLITE_B]->dims[0], terms, terms, 1, packed);
}

static mslite_status conv_integer_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  conv_integer_derived *own = derived;
  mslite_convolution g;
  mslite_integer_operands operands;
  memset(own, 0, sizeof *own);
  mslite_status status = mslite_convolution_of(node, &g);
  if (status == MSLITE_OK) status = mslite_conv_integer_operands(node, &g, &operands);
  if (status == MSLITE_OK) status = micro_windows_of(&g, &own->windows);
  if (status != MSLITE_OK) return status;
  own->layer.channels = (int32_t)g.out_channels;
  own->layer.terms = (int32_t)terms_of(node);
  own->layer.has_scales = operands.scales > 1;
  own->layer.scales_apart = operands.scales_apart != 0;
  own->buffer = (int32_t)micro_integer_staging(own->layer.terms);
  own->zero_step = operands.a_zeros > 1;
  schedule->phase_count = 1;
  schedule->part_count[0] = own->windows.pixels > 0;
  schedule->scratch_bytes = own->buffer + 2 * (int64_t)own->windows.window;
  return MSLITE_OK;
}

static void conv_integer_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const conv_integer_derived *own = run->derived;
  const micro_windows *windows = &own->windows;
  const int8_t *zero = run->inputs[MSLITE_A_ZERO];
  const float *scale = run->inputs[MSLITE_ROW_SCALE];
  float *y = run->outputs[0];
  micro_window_at at = micro_first_window(windows, run->inputs[MSLITE_A]);
  micro_integer_pair pair;
  int32_t rows = 0;
  for (int32_t rest = windows->pixels; rest > 0; --rest) {
    int8_t *buffer = (int8_t *)run->scratch + own->buffer + rows * windows->window;
    if (windows->window != 0) {
      micro_gather(windows, at.image, *zero, at.row, at.column, buffer);
      pair.x[rows] = buffer;
    } else {
      pair.x[rows] = at.image + (at.row * windows->in_width + at.column) * windows->in_channels;
    }
    pair.zero[rows] = *zero;
    pair.scale[rows] = *scale;
    pair.y[rows] = y;
    y += own->layer.channels;
    ++rows;
    if (rows == 2 || rest == 1) {
      micro_integer_rows(run, &own->layer, &pair, rows);
      rows = 0;
    }
    if (micro_next_window(windows, &at) && rest > 1) {
      zero += own->zero_step;
      scale += own->zero_step;
    }
  }
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_conv_integer) = {
    .name = MSLITE_ISA_STRING(conv_integer),
    .op = MSLITE_OP_ConvInteger,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(conv_integer_derived),
    .support = conv_integer_support,
    .prepare = conv_integer_prepare,
    .pack_size = conv_integer_pack_size,
    .pack = conv_integer_pack,
    .run = conv_integer_run,
};
