/* Support and preparation of depthwise convolutions on microcontrollers. Runs only on the host. */
#include "convolution/depthwise_micro.h"
#include "quantized.h"

static bool is_short(int64_t value) { return value >= INT16_MIN && value <= INT16_MAX; }

static bool axis_is_short(const mslite_axis *axis) {
  return is_short(axis->input) && is_short(axis->output) && is_short(axis->kernel) && is_short(axis->stride) &&
         is_short(axis->dilation) && is_short(axis->pad_before) && axis->kernel * axis->dilation <= INT16_MAX;
}

/* Checks that sizes fit int16, and offsets int32. */
static bool sizes_fit(const mslite_convolution *g) {
  return axis_is_short(&g->height) && axis_is_short(&g->width) && is_short(g->out_channels) && is_short(g->batch) &&
         g->batch * g->height.input * g->width.input * g->in_channels <= INT32_MAX &&
         g->batch * g->height.output * g->width.output * g->out_channels <= INT32_MAX;
}

static bool is_known(const mslite_tensor *x) {
  if (x->rank != 4) return false;
  for (int32_t i = 0; i < 4; ++i) {
    if (mslite_is_symbol(x->dims[i])) return false;
  }
  return true;
}

bool micro_depthwise_fits(const mslite_node *node) {
  if (!mslite_quantized_convolution_fits(node, MSLITE_INT8) || mslite_has_zero_points(node->inputs[1])) return false;
  mslite_convolution_attributes attributes;
  mslite_convolution_read(node->op, node->params, &attributes);
  const int64_t *dims = node->inputs[1]->dims;
  if (attributes.group < 2 || dims[3] != 1 || dims[0] % attributes.group != 0) return false;
  mslite_convolution g;
  if (is_known(node->inputs[0]) && (mslite_convolution_of(node, &g) != MSLITE_OK || !sizes_fit(&g))) return false;
  return micro_make_table(node, dims[0], micro_convolution_channel, false, NULL) >= 0;
}

mslite_status micro_depthwise_prepare(const mslite_node *node, mslite_micro_depthwise *own, int32_t rows,
                                      mslite_schedule *schedule) {
  mslite_convolution g;
  const mslite_status status = mslite_convolution_of(node, &g);
  if (status != MSLITE_OK) return status;
  if (!sizes_fit(&g)) return MSLITE_ERROR_UNSUPPORTED;
  const mslite_stored_numbers numbers = mslite_stored_numbers_of(node);
  memset(own, 0, sizeof *own);
  own->x_rows = (int16_t)g.height.input;
  own->x_columns = (int16_t)g.width.input;
  own->y_rows = (int16_t)g.height.output;
  own->y_columns = (int16_t)g.width.output;
  own->channels = (int16_t)g.in_channels;
  own->multiplier = (int16_t)(g.out_channels / g.in_channels);
  own->kernel_rows = (int16_t)g.height.kernel;
  own->kernel_columns = (int16_t)g.width.kernel;
  own->stride_rows = (int16_t)g.height.stride;
  own->stride_columns = (int16_t)g.width.stride;
  own->dilation_rows = (int16_t)g.height.dilation;
  own->dilation_columns = (int16_t)g.width.dilation;
  own->pad_rows = (int16_t)g.height.pad_before;
  own->pad_columns = (int16_t)g.width.pad_before;
  own->x_zero = (int8_t)numbers.x_zero;
  own->nudge = (int16_t)(2 * numbers.y_zero + 1);
  own->low = (int8_t)numbers.low;
  own->high = (int8_t)numbers.high;
  own->is_limited = numbers.low > INT8_MIN || numbers.high < INT8_MAX;
  own->rounding = (int8_t)micro_make_table(node, g.out_channels, micro_convolution_channel, false, NULL);
  own->rows = (int16_t)rows;
  own->blocks = (int16_t)((own->y_rows + rows - 1) / rows);
  schedule->phase_count = 1;
  schedule->part_count[0] = own->y_columns == 0 ? 0 : (int32_t)(g.batch * own->blocks);
  return MSLITE_OK;
}

int64_t micro_depthwise_lead(const mslite_node *node, const void *derived, int32_t input) {
  if (input != 0) return -1;
  const mslite_micro_depthwise *own = derived;
  const int64_t x_row = (int64_t)own->x_columns * own->channels;
  const int64_t y_row = (int64_t)own->y_columns * own->channels * own->multiplier;
  int64_t lead = 0;
  for (int64_t image = 0; image < node->inputs[0]->dims[0]; ++image) {
    for (int64_t block = 0; block < own->blocks; ++block) {
      int64_t first = block * own->rows * own->stride_rows - own->pad_rows, end = (block + 1) * own->rows;
      first = first < 0 ? 0 : first > own->x_rows ? own->x_rows : first;
      if (end > own->y_rows) end = own->y_rows;
      const int64_t over = (image * own->y_rows + end) * y_row - (image * own->x_rows + first) * x_row;
      if (over > lead) lead = over;
    }
  }
  return lead;
}
