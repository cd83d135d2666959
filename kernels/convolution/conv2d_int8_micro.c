/* Convolution of stored int8 on microcontrollers: any kernel, stride, dilation and padding, one group.
 *
 * Output pixels go in row-major order, some at a time; the window of each is one row of x for
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
  /* The first taps of windows that are whole lie below these; 0: taps do not lie side by side. */
  int16_t whole_rows, whole_columns;
  int16_t x_zero;
  int32_t row_bytes; /* of the taps of one row */
  int32_t row_step;  /* from tap to tap below */
} conv2d_derived;

static micro_weights conv2d_weights(const mslite_node *node) {
  const mslite_tensor *weight = node->inputs[1];
  const int64_t terms = weight->dims[1] * weight->dims[2] * weight->dims[3];
  const micro_weights weights = {weight->data, weight->dims[0], terms, terms, 1, micro_convolution_channel, false};
  return weights;
}

static int32_t conv2d_support(const mslite_node *node) {
  if (!mslite_stored_convolution_fits(node, MSLITE_INT8)) return 0;
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
      g.batch * g.height.input * g.width.input * g.in_channels > INT32_MAX ||
      g.height.dilation * g.width.input * g.in_channels > INT32_MAX || g.width.stride * g.in_channels > INT32_MAX) {
    return MSLITE_ERROR_UNSUPPORTED;
  }
  memset(own, 0, sizeof *own);
  const mslite_stored_numbers numbers = mslite_stored_numbers_of(node);
  const micro_weights weights = conv2d_weights(node);
  micro_make_layer(node, &weights, numbers.y_zero, numbers.low, numbers.high, &own->layer);
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
  own->row_bytes = (int32_t)(g.width.kernel * g.in_channels);
  own->row_step = (int32_t)(g.height.dilation * g.width.input * g.in_channels);
  const int64_t whole_rows = g.height.input - mslite_axis_span(&g.height) + 1;
  const int64_t whole_columns = g.width.dilation == 1 ? g.width.input - g.width.kernel + 1 : 0;
  own->whole_rows = (int16_t)(whole_rows > 0 ? whole_rows : 0);
  own->whole_columns = (int16_t)(whole_columns > 0 ? whole_columns : 0);
  const bool is_pixel = g.height.kernel == 1 && g.width.kernel == 1 && g.height.pad_before <= 0 &&
                        g.height.pad_after <= 0 && g.width.pad_before <= 0 && g.width.pad_after <= 0;
  own->window = is_pixel ? 0 : (int32_t)terms;
  own->staging = (int32_t)micro_staging_size(&own->layer, pixels);
  schedule->phase_count = 1;
  schedule->part_count[0] = pixels > 0;
  schedule->scratch_bytes = own->staging + (int64_t)own->window * (MICRO_STAGES ? 1 : own->layer.rows);
  return MSLITE_OK;
}

/* Gathers the window whose first tap is at row `y` and column `x` of the image; padding is the zero point. */
MICRO_SHARED void conv2d_gather(const conv2d_derived *own, const int8_t *image, int32_t y, int32_t x, int8_t *to) {
  const int32_t channels = own->in_channels, columns = own->in_width;
  if ((uint32_t)y < (uint32_t)own->whole_rows && (uint32_t)x < (uint32_t)own->whole_columns) {
    micro_copy_rows(to, own->row_bytes, image + (y * columns + x) * channels, own->row_step, own->row_bytes,
                    own->kernel_height);
    return;
  }
  const micro_span down = micro_taps_inside(y, own->kernel_height, own->dilation_height, own->in_height);
  const micro_span across = micro_taps_inside(x, own->kernel_width, own->dilation_width, columns);
  micro_fill(to, own->x_zero, own->window);
  if (down.begin == down.end) return;
  /* Taps that lie side by side go together. */
  const int32_t taps = own->dilation_width == 1 ? across.end - across.begin : 1;
  const int32_t row = y + down.begin * own->dilation_height;
  to += down.begin * own->row_bytes;
  for (int32_t tap = across.begin; tap < across.end; tap += taps) {
    const int8_t *from = image + (row * columns + x + tap * own->dilation_width) * channels;
    micro_copy_rows(to + tap * channels, own->row_bytes, from, own->row_step, taps * channels, down.end - down.begin);
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
  int32_t left = own->out_height, columns = own->out_width; /* rows of the image, and columns of the row */
  int32_t row = -own->pad_top, column = -own->pad_left;     /* of the window's first tap */
  for (int32_t rest = own->pixels; rest > 0;) {
    const int32_t rows = rest < own->layer.rows ? rest : own->layer.rows;
    int8_t *buffer = (int8_t *)run->scratch + own->staging;
    for (int32_t i = 0; i < rows; ++i) {
      if (own->window == 0) {
        micro_stage(&product, i, rows, image + (row * own->in_width + column) * own->in_channels);
      } else {
        conv2d_gather(own, image, row, column, buffer);
        micro_stage(&product, i, rows, buffer);
        if (!MICRO_STAGES) buffer += own->window;
      }
      column += own->stride_width;
      if (--columns == 0) {
        columns = own->out_width;
        column = -own->pad_left;
        row += own->stride_height;
        if (--left == 0) {
          left = own->out_height;
          row = -own->pad_top;
          image += own->in_height * own->in_width * own->in_channels;
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
  for (int64_t pixel = 0; pixel < own->pixels; pixel += own->layer.rows) {
    const int64_t next = pixel + own->layer.rows < own->pixels ? pixel + own->layer.rows : own->pixels;
    const int64_t reads = copies ? next : pixel; /* it and all after it are still to be read */
    if (reads == own->pixels) break;
    const int64_t at = reads % image_pixels;
    const int64_t first = reads / image_pixels * image + first_byte(own, at / own->out_width, at % own->out_width);
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
    .quantised = 1,
    .lead = conv2d_lead,
};
