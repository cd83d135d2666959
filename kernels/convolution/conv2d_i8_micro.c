/* Convolution of stored int8 on microcontrollers: any kernel, stride, dilation and padding, one group.
 *
 * Output pixels go in row-major order, MICRO_PIXELS at a time; the window of each is one row of x for
 * matmul/product_micro.h: where the kernel is 1 x 1 it is read where it lies, else it is gathered. All pixels are one
 * part. */
#include "convolution/stored.h"
#include "matmul/product_micro.h"
#include "quantised.h"

typedef struct {
  micro_layer layer;
  int32_t pixels; /* of all images */
  int32_t window; /* bytes of the gathered window, 0: read in place */
  int32_t staging;
  int16_t in_height, in_width, in_channels, out_height, out_width;
  int16_t kernel_height, stride_height, dilation_height, pad_top;
  int16_t kernel_width, stride_width, dilation_width, pad_left;
  int16_t x_zero;
} conv2d_derived;

static int64_t terms_of(const mslite_tensor *weight) { return weight->dims[1] * weight->dims[2] * weight->dims[3]; }

static int32_t conv2d_support(const mslite_node *node) {
  if (!mslite_stored_convolution_fits(node, MSLITE_INT8)) return 0;
  mslite_convolution_attributes attributes;
  mslite_convolution_read(node->op, node->params, &attributes);
  const mslite_tensor *weight = node->inputs[1];
  const int64_t terms = terms_of(weight);
  if (attributes.group != 1 || terms < 1 || mslite_has_zero_points(weight)) return 0;
  if (!micro_weights_fit(weight->data, weight->dims[0], terms, terms, 1)) return 0;
  return micro_make_table(node, weight->dims[0], micro_convolution_channel, false, NULL) < 0 ? 0 : 1;
}

static int64_t conv2d_pack_size(const mslite_node *node, int32_t input) {
  const mslite_tensor *weight = node->inputs[1];
  if (input != 1) return 0;
  return micro_table_size(weight->dims[0]) + micro_weights_size(weight->dims[0], terms_of(weight));
}

static void conv2d_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  const mslite_tensor *weight = node->inputs[1];
  if (input != 1) return;
  const int64_t channels = weight->dims[0], terms = terms_of(weight);
  micro_make_table(node, channels, micro_convolution_channel, false, packed);
  micro_pack_weights(source, channels, terms, terms, 1, (int8_t *)packed + micro_table_size(channels));
}

static bool is_short(int64_t value) { return value >= INT16_MIN && value <= INT16_MAX; }

static bool axis_is_short(const mslite_axis *axis) {
  return is_short(axis->input) && is_short(axis->output) && is_short(axis->kernel) && is_short(axis->stride) &&
         is_short(axis->dilation) && is_short(axis->pad_before) &&
         is_short(axis->output * axis->stride + axis->kernel * axis->dilation);
}

static mslite_status conv2d_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  conv2d_derived *own = derived;
  mslite_convolution g;
  const mslite_status status = mslite_convolution_of(node, &g);
  if (status != MSLITE_OK) return status;
  const int64_t pixels = g.batch * g.height.output * g.width.output;
  const int64_t terms = g.height.kernel * g.width.kernel * g.in_channels;
  if (!axis_is_short(&g.height) || !axis_is_short(&g.width) || !is_short(g.in_channels) || !is_short(g.out_channels) ||
      !is_short(g.batch) || pixels * g.out_channels > INT32_MAX || terms > INT32_MAX / 16 ||
      g.batch * g.height.input * g.width.input * g.in_channels > INT32_MAX) {
    return MSLITE_ERROR_UNSUPPORTED;
  }
  memset(own, 0, sizeof *own);
  const mslite_stored_numbers numbers = mslite_stored_numbers_of(node);
  micro_make_layer(&own->layer, g.out_channels, terms, numbers.y_zero, numbers.low, numbers.high,
                   micro_make_table(node, g.out_channels, micro_convolution_channel, false, NULL));
  own->pixels = (int32_t)pixels;
  own->in_height = (int16_t)g.height.input;
  own->in_width = (int16_t)g.width.input;
  own->in_channels = (int16_t)g.in_channels;
  own->out_height = (int16_t)g.height.output;
  own->out_width = (int16_t)g.width.output;
  own->kernel_height = (int16_t)g.height.kernel;
  own->stride_height = (int16_t)g.height.stride;
  own->dilation_height = (int16_t)g.height.dilation;
  own->pad_top = (int16_t)g.height.pad_before;
  own->kernel_width = (int16_t)g.width.kernel;
  own->stride_width = (int16_t)g.width.stride;
  own->dilation_width = (int16_t)g.width.dilation;
  own->pad_left = (int16_t)g.width.pad_before;
  own->x_zero = (int16_t)numbers.x_zero;
  const bool is_inside = g.height.kernel == 1 && g.width.kernel == 1 && g.height.pad_before <= 0 &&
                         g.height.pad_after <= 0 && g.width.pad_before <= 0 && g.width.pad_after <= 0;
  own->window = is_inside ? 0 : (int32_t)terms;
  own->staging = (int32_t)micro_staging_size(pixels, terms);
  schedule->phase_count = 1;
  schedule->part_count[0] = pixels > 0;
  schedule->scratch_bytes = own->staging + (int64_t)own->window * (MICRO_STAGES ? 1 : MICRO_PIXELS);
  return MSLITE_OK;
}

/* The window whose first tap is at row `y` and column `x` of the image, padding as the zero point. */
static void gather(const conv2d_derived *own, const int8_t *image, int32_t y, int32_t x, int8_t *to) {
  const int32_t taps = own->dilation_width == 1 ? own->kernel_width : 1; /* that lie side by side */
  for (int32_t ky = 0; ky < own->kernel_height; ++ky, y += own->dilation_height) {
    for (int32_t kx = 0, column = x; kx < own->kernel_width; kx += taps, column += own->dilation_width) {
      int32_t begin = column < 0 ? -column : 0, end = own->in_width - column;
      if (end > taps) end = taps;
      if (y < 0 || y >= own->in_height || begin >= end) begin = end = 0;
      const int32_t channels = own->in_channels;
      if (begin > 0) micro_fill(to, own->x_zero, begin * channels);
      micro_copy(to + begin * channels, image + (y * own->in_width + column + begin) * channels,
                 (end - begin) * channels);
      if (end < taps) micro_fill(to + end * channels, own->x_zero, (taps - end) * channels);
      to += taps * channels;
    }
  }
}

static void conv2d_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const conv2d_derived *own = run->derived;
  micro_product product;
  micro_begin(&product, &own->layer, run->inputs[1], run->scratch);
  const int8_t *image = run->inputs[0];
  int8_t *y = run->outputs[0];
  const int32_t image_step = own->in_height * own->in_width * own->in_channels;
  int32_t row = 0, column = 0;
  for (int32_t rest = own->pixels; rest > 0;) {
    const int32_t rows = rest < MICRO_PIXELS ? rest : MICRO_PIXELS;
    int8_t *buffer = (int8_t *)run->scratch + own->staging;
    for (int32_t i = 0; i < rows; ++i) {
      const int32_t iy = row * own->stride_height - own->pad_top, ix = column * own->stride_width - own->pad_left;
      const int8_t *window = buffer;
      if (own->window == 0) {
        window = image + (iy * own->in_width + ix) * own->in_channels;
      } else {
        gather(own, image, iy, ix, buffer);
        if (!MICRO_STAGES) buffer += own->window;
      }
      micro_stage(&product, i, rows, window);
      if (++column == own->out_width) {
        column = 0;
        if (++row == own->out_height) {
          row = 0;
          image += image_step;
        }
      }
    }
    micro_run_rows(&product, rows, y, y + own->layer.channels);
    y += rows * own->layer.channels;
    rest -= rows;
  }
}

/* The first byte of x that the window of output pixel [row, column] and all windows after it in its image read. */
static int64_t first_byte(const conv2d_derived *own, int64_t row, int64_t column) {
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
  if (input != 0) return -1;
  const bool copies = MICRO_STAGES || own->window != 0;
  const int64_t image_pixels = own->out_height * own->out_width;
  const int64_t image = (int64_t)own->in_height * own->in_width * own->in_channels;
  int64_t lead = 0;
  for (int64_t pixel = 0; pixel < own->pixels; pixel += MICRO_PIXELS) {
    const int64_t next = pixel + MICRO_PIXELS < own->pixels ? pixel + MICRO_PIXELS : own->pixels;
    const int64_t reads = copies ? next : pixel; /* it and all after it are still to be read */
    if (reads == own->pixels) break;
    const int64_t at = reads % image_pixels;
    const int64_t first = reads / image_pixels * image + first_byte(own, at / own->out_width, at % own->out_width);
    if (next * own->layer.channels - first > lead) lead = next * own->layer.channels - first;
  }
  return lead;
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_conv2d_i8) = {
    .name = MSLITE_ISA_STRING(conv2d_i8),
    .op = MSLITE_OP_Conv2DFusion,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(conv2d_derived),
    .support = conv2d_support,
    .prepare = conv2d_prepare,
    .pack_size = conv2d_pack_size,
    .pack = conv2d_pack,
    .run = conv2d_run,
    .quantised = 1,
    .lead = conv2d_lead,
};
