/* float32 pooling on microcontrollers, four channels at a time. One part is one output row. */
#include "convolution/conv2d_f32_micro.h"
#include "pooling/geometry.h"

typedef struct {
  micro_float_axis height, width;
  int32_t padded_height, padded_width; /* sizes if averages include the padding, otherwise 0 */
  int32_t channels;
  float low, high;
} pool_derived;

static int32_t pool_support(const mslite_node *node) {
  mslite_pooling g;
  float low, high;
  if (node->inputs[0]->type != MSLITE_FLOAT32 || node->output_count != 1) return 0;
  if (mslite_pooling_resolve(node->op, node->params, node->inputs[0], &g, NULL) != MSLITE_OK) return 0;
  return micro_float_limits(g.activation, &low, &high) && micro_float_axis_fits(&g.height) &&
                 micro_float_axis_fits(&g.width) && mslite_element_count(node->inputs[0]) <= INT32_MAX / 16 &&
                 mslite_element_count(node->outputs[0]) <= INT32_MAX / 16
             ? 6
             : 0;
}

static mslite_status pool_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  pool_derived *own = derived;
  mslite_pooling g;
  const mslite_status status = mslite_pooling_resolve(node->op, node->params, node->inputs[0], &g, NULL);
  if (status != MSLITE_OK) return status;
  memset(own, 0, sizeof *own);
  own->height = micro_float_axis_of(&g.height);
  own->width = micro_float_axis_of(&g.width);
  if (g.average && g.count_include_pad) {
    own->padded_height = (int32_t)(g.height.input + g.height.pad_before + g.height.pad_after);
    own->padded_width = (int32_t)(g.width.input + g.width.pad_before + g.width.pad_after);
  }
  own->channels = (int32_t)g.channels;
  micro_float_limits(g.activation, &own->low, &own->high);
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)(g.batch * g.height.output);
  return MSLITE_OK;
}

/* The part of a window that is inside of the image. */
typedef struct {
  int32_t rows, columns;
  int32_t row_step, column_step;
  float factor; /* of sums */
} window;

/* Computes `channels` channels (1 or 4) of one pixel, beginning at x. */
MICRO_INLINE micro_f32x4 pool_channels(const window *of, const float *x, const int32_t channels, const bool average) {
  micro_f32x4 result = micro_set_f32x4(average ? 0.0F : -INFINITY);
  for (int32_t i = of->rows; i > 0; --i, x += of->row_step) {
    const float *at = x;
    for (int32_t j = of->columns; j > 0; --j, at += of->column_step) {
      const micro_f32x4 tap = channels == 4 ? micro_load_f32x4(at) : micro_set_f32x4(*at);
      result = average ? micro_add_f32x4(result, tap) : micro_max_f32x4(tap, result);
    }
  }
  return average ? micro_multiply_f32x4(result, micro_set_f32x4(of->factor)) : result;
}

/* Returns the taps that an average is divided by; 1 if none is inside: such averages are 0. */
MICRO_SHARED int32_t counted_taps(const micro_float_axis *axis, int32_t padded, int32_t first, int32_t inside) {
  if (padded == 0) return inside > 0 ? inside : 1;
  micro_float_axis counted = *axis;
  int32_t begin, end;
  counted.input = padded;
  micro_float_taps(&counted, first + axis->pad, &begin, &end);
  return end > begin ? end - begin : 1;
}

MICRO_INLINE void pool_row(const mslite_run *run, int32_t part, const bool average) {
  const pool_derived *own = run->derived;
  const micro_float_axis *height = &own->height, *width = &own->width;
  const int32_t image = part / height->output, row = part - image * height->output, channels = own->channels;
  const int32_t x_row = width->input * channels, y_first = row * height->stride - height->pad;
  int32_t top, bottom, left, right, first = -width->pad;
  micro_float_taps(height, y_first, &top, &bottom);
  window of = {bottom - top, 0, height->dilation * x_row, width->dilation * channels, 0.0F};
  const float *x = (const float *)run->inputs[0] + (image * height->input + y_first + top * height->dilation) * x_row;
  float *y = (float *)run->outputs[0] + part * width->output * channels;
  for (int32_t column = width->output; column > 0; --column, first += width->stride) {
    micro_float_taps(width, first, &left, &right);
    of.columns = right - left;
    if (average) {
      of.factor = 1.0F / (float)(counted_taps(height, own->padded_height, y_first, of.rows) *
                                 counted_taps(width, own->padded_width, first, of.columns));
    }
    const float *at = x + (first + left * width->dilation) * channels;
    int32_t c = channels;
    for (; c >= 4; c -= 4, at += 4, y += 4) {
      const micro_f32x4 four = pool_channels(&of, at, 4, average);
      micro_store_first_f32x4(y, micro_clamp_f32x4(four, own->low, own->high), 4);
    }
    for (; c > 0; --c, ++at, ++y) {
      const micro_f32x4 one = pool_channels(&of, at, 1, average);
      micro_store_first_f32x4(y, micro_clamp_f32x4(one, own->low, own->high), 1);
    }
  }
}

static void average_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  pool_row(run, part, true);
}

static void maximum_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  pool_row(run, part, false);
}

/* Parts read no row above their window. */
static int64_t pool_lead(const mslite_node *node, const void *derived, int32_t input) {
  const pool_derived *own = derived;
  const int64_t x_row = (int64_t)own->width.input * own->channels, y_row = (int64_t)own->width.output * own->channels;
  return input == 0 ? micro_float_rows_lead(&own->height, node->inputs[0]->dims[0], x_row, y_row) : -1;
}

#define POOL(function, operator_, way)                              \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function) = { \
      .name = MSLITE_ISA_STRING(function),                          \
      .op = MSLITE_OP_##operator_,                                  \
      .isa = MSLITE_THIS_ISA,                                       \
      .derived_size = sizeof(pool_derived),                         \
      .support = pool_support,                                      \
      .prepare = pool_prepare,                                      \
      .run = way##_run,                                             \
      .lead = pool_lead,                                            \
  };

POOL(average_pool_f32, AvgPoolFusion, average)
POOL(maximum_pool_f32, MaxPoolFusion, maximum)
POOL(average_pool_extended_f32, AvgPoolExtended, average)
POOL(maximum_pool_extended_f32, MaxPoolExtended, maximum)
