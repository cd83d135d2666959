/* Convolution of quantized int8 on microcontrollers: any kernel, stride, dilation and padding, one group.
 * Several output pixels are computed together; the window of each (convolution/window_micro.h) is one row of x for
 * matmul/product_micro.h. All pixels are one part. */
#include "convolution/stored.h"
#include "convolution/window_micro.h"
#include "matmul/product_micro.h"
#include "quantized.h"

typedef struct {
  micro_layer layer;
  micro_windows windows;
  int32_t staging;
  int32_t x_zero;
} conv2d_derived;

static micro_weights conv2d_weights(const mslite_node *node) {
  const mslite_tensor *weight = node->inputs[1];
  const int64_t terms = weight->dims[1] * weight->dims[2] * weight->dims[3];
  const micro_weights weights = {weight->data, weight->dims[0], terms, terms, 1, micro_convolution_channel, false};
  return weights;
}

static int32_t conv2d_support(const mslite_node *node) {
  if (!mslite_quantized_convolution_fits(node, MSLITE_INT8)) return 0;
  mslite_convolution_attributes attributes;
  mslite_convolution_read(node->op, node->params, &attributes);
  const micro_weights weights = conv2d_weights(node);
  if (attributes.group != 1 || weights.terms < 1 || mslite_has_zero_points(node->inputs[1])) return 0;
  return micro_weights_fit(node, &weights);
}

static int64_t conv2d_pack_size(const mslite_node *node, int32_t input) {
  const micro_weights weights = conv2d_weights(node);
  return input == 1 ? micro_packed_size(node, &weights) : input == 2 ? -1 : 0;
}

static void conv2d_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  micro_weights weights = conv2d_weights(node);
  weights.w = source;
  if (input == 1) micro_pack(node, &weights, packed);
}

static mslite_status conv2d_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  conv2d_derived *own = derived;
  mslite_convolution g;
  memset(own, 0, sizeof *own);
  mslite_status status = mslite_convolution_of(node, &g);
  if (status == MSLITE_OK) status = micro_windows_of(&g, &own->windows);
  if (status != MSLITE_OK) return status;
  const mslite_stored_numbers numbers = mslite_stored_numbers_of(node);
  const micro_weights weights = conv2d_weights(node);
  micro_make_layer(node, &weights, numbers.y_zero, numbers.low, numbers.high, &own->layer);
  own->x_zero = numbers.x_zero;
  own->staging = (int32_t)micro_staging_size(&own->layer, own->windows.pixels);
  schedule->phase_count = 1;
  schedule->part_count[0] = own->windows.pixels > 0;
  schedule->scratch_bytes = own->staging + (int64_t)own->windows.window * (MICRO_STAGES ? 1 : own->layer.rows);
  return MSLITE_OK;
}

static void conv2d_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const conv2d_derived *own = run->derived;
  micro_product product;
  micro_begin(&product, &own->layer, run->inputs[1], run->scratch);
  const micro_windows *windows = &own->windows;
  int8_t *y = run->outputs[0];
  micro_window_at at = micro_first_window(windows, run->inputs[0]);
  for (int32_t rest = windows->pixels; rest > 0;) {
    const int32_t rows = rest < own->layer.rows ? rest : own->layer.rows;
    int8_t *buffer = (int8_t *)run->scratch + own->staging;
    for (int32_t i = 0; i < rows; ++i) {
      if (windows->window == 0) {
        micro_stage(&product, i, rows, at.image + (at.row * windows->in_width + at.column) * windows->in_channels);
      } else {
        micro_gather(windows, at.image, own->x_zero, at.row, at.column, buffer);
        micro_stage(&product, i, rows, buffer);
        if (!MICRO_STAGES) buffer += windows->window;
      }
      micro_next_window(windows, &at);
    }
    micro_run_rows(&product, rows, y, y + own->layer.channels);
    y += rows * own->layer.channels;
    rest -= rows;
  }
}

/* Returns the first byte of x that the window at output pixel [row, column], or a later window of its image, reads. */
static int64_t first_byte(const micro_windows *own, int64_t row, int64_t column) {
  int64_t y = row * own->stride_height - own->pad_top, x = column * own->stride_width - own->pad_left;
  const int64_t next = y + own->stride_height < 0 ? 0 : y + own->stride_height;
  if (y < 0) y = 0;
  if (x < 0) x = 0;
  const int64_t here = y * own->in_width + x, below = next * own->in_width;
  return (row + 1 < own->out_height && below < here ? below : here) * own->in_channels;
}

static int64_t conv2d_lead(const mslite_node *node, const void *derived, int32_t input) {
  (void)node;
  const conv2d_derived *own = derived;
  const micro_windows *windows = &own->windows;
  if (input != 0) return -1;
  const bool copies = MICRO_STAGES || windows->window != 0;
  const int64_t image_pixels = windows->out_height * windows->out_width;
  const int64_t image = (int64_t)windows->in_height * windows->in_width * windows->in_channels;
  int64_t lead = 0;
  for (int64_t pixel = 0; pixel < windows->pixels; pixel += own->layer.rows) {
    const int64_t next = pixel + own->layer.rows < windows->pixels ? pixel + own->layer.rows : windows->pixels;
    const int64_t reads = copies ? next : pixel; /* these and all later pixels are still read */
    if (reads == windows->pixels) break;
    const int64_t at = reads % image_pixels;
    const int64_t first =
        reads / image_pixels * image + first_byte(windows, at / windows->out_width, at % windows->out_width);
    if (next * own->layer.channels - first > lead) lead = next * own->layer.channels - first;
  }
  return lead;
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_conv2d_int8) = {
    .name = MSLITE_ISA_STRING(conv2d_int8),
    .op = MSLITE_OP_Conv2DFusion,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(conv2d_derived),
    .support = conv2d_support,
    .prepare = conv2d_prepare,
    .pack_size = conv2d_pack_size,
    .pack = conv2d_pack,
    .run = conv2d_run,
    .quantized = 1,
    .lead = conv2d_lead,
};
