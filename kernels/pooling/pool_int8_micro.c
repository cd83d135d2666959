/* Average and maximum pooling of quantized int8 on microcontrollers, without dilation. One part is one output row.
 *
 * Same arithmetic as pooling/pool_int8.c for equal quantization parameters of input and output: averages are
 * quotients of the source model's integers, rounded half away from zero. */
#include <math.h>

#include "pooling/pool_int8.h"
#include "quantized.h"
#include "simd/micro.h"
#if MICRO_DSP
#include "simd/micro_dsp.h"
#endif

typedef struct {
  int16_t x_rows, x_columns, y_rows, y_columns, channels;
  int16_t kernel_rows, kernel_columns, stride_rows, stride_columns;
  int16_t pad_rows, pad_columns;
  int16_t domain; /* 128 if the source model's integers were unsigned */
  int8_t zero, low, high;
  int8_t average;
} pool_derived;

static bool is_dense(const mslite_longs dilation) {
  return mslite_list_entry(dilation, 0, 1) == 1 && mslite_list_entry(dilation, 1, 1) == 1;
}

static int32_t pool_support(const mslite_node *node) {
  if (mslite_stored_pool_support(node) == 0 || node->inputs[0]->type != MSLITE_INT8) return 0;
  const mslite_quant *from = node->inputs[0]->quant, *to = node->outputs[0]->quant;
  if (from->zero_point != to->zero_point || fabs(from->scale - to->scale) > 1e-6) return 0;
  switch (node->op) {
    case MSLITE_OP_AvgPoolFusion:
      return to->rounds_even ? 0 : 2;
    case MSLITE_OP_AvgPoolExtended: {
      const mslite_AvgPoolExtended *params = node->params;
      return !to->rounds_even && !params->count_include_pad && is_dense(params->dilation) ? 2 : 0;
    }
    case MSLITE_OP_MaxPoolExtended:
      return is_dense(((const mslite_MaxPoolExtended *)node->params)->dilation) ? 2 : 0;
    default:
      return 2;
  }
}

static bool is_short(int64_t value) { return value >= INT16_MIN && value <= INT16_MAX; }

static bool axis_is_short(const mslite_axis *axis) {
  return is_short(axis->input) && is_short(axis->output) && is_short(axis->kernel) && is_short(axis->stride) &&
         is_short(axis->pad_before);
}

static mslite_status pool_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  pool_derived *own = derived;
  mslite_stored_pool pool;
  const mslite_status status = mslite_stored_pool_prepare(node, &pool, schedule);
  if (status != MSLITE_OK) return status;
  const mslite_pooling *g = &pool.geometry;
  const mslite_axis *height = &g->height, *width = &g->width;
  if (!axis_is_short(height) || !axis_is_short(width) || !is_short(g->channels) ||
      height->kernel * width->kernel > INT32_MAX / 512 || mslite_element_count(node->inputs[0]) > INT32_MAX ||
      mslite_element_count(node->outputs[0]) > INT32_MAX) {
    return MSLITE_ERROR_UNSUPPORTED;
  }
  memset(own, 0, sizeof *own);
  own->x_rows = (int16_t)height->input;
  own->x_columns = (int16_t)width->input;
  own->y_rows = (int16_t)height->output;
  own->y_columns = (int16_t)width->output;
  own->channels = (int16_t)g->channels;
  own->kernel_rows = (int16_t)height->kernel;
  own->kernel_columns = (int16_t)width->kernel;
  own->stride_rows = (int16_t)height->stride;
  own->stride_columns = (int16_t)width->stride;
  own->pad_rows = (int16_t)height->pad_before;
  own->pad_columns = (int16_t)width->pad_before;
  own->domain = (int16_t)pool.domain;
  own->zero = (int8_t)pool.to_zero;
  own->low = (int8_t)pool.low;
  own->high = (int8_t)pool.high;
  own->average = g->average;
  return MSLITE_OK;
}

/* Finds the taps [begin, end) inside of `size`, for a window whose first tap is at `first`. */
MICRO_INLINE int32_t taps_inside(int32_t first, int32_t kernel, int32_t size, int32_t *begin) {
  const int32_t end = size - first < kernel ? size - first : kernel;
  *begin = first < 0 ? -first : 0;
  return end > *begin ? end - *begin : 0;
}

/* Returns the average of `count` integers with this sum. */
MICRO_INLINE int32_t average_of(const pool_derived *own, int32_t sum, int32_t count) {
  sum += own->domain * count;
  return (sum > 0 ? sum + count / 2 : sum - count / 2) / count - own->domain;
}

#if MICRO_DSP
enum { TOGETHER = 4, MAX_TAPS = 255 }; /* channels; taps whose sum fits 16 bits */

/* Computes windows of `rows` x `columns` of four channels. */
MICRO_INLINE void pool_four(const pool_derived *own, const int8_t *x, int32_t rows, int32_t columns, int8_t *y) {
  const int32_t channels = own->channels, gap = (own->x_columns - columns) * channels, count = rows * columns;
  int32_t values[TOGETHER];
  if (own->average) {
    int32_t even = 0, odd = 0;
    for (; rows > 0; --rows, x += gap) {
      for (int32_t j = columns; j > 0; --j, x += channels) {
        const uint32_t four = micro_load(x);
        even = micro_add_even_bytes(even, four);
        odd = micro_add_odd_bytes(odd, four);
      }
    }
    values[0] = average_of(own, (int16_t)even, count);
    values[1] = average_of(own, (int16_t)odd, count);
    values[2] = average_of(own, even >> 16, count);
    values[3] = average_of(own, odd >> 16, count);
  } else {
    uint32_t most = 0x80808080U;
    for (; rows > 0; --rows, x += gap) {
      for (int32_t j = columns; j > 0; --j, x += channels) most = micro_most_bytes(most, micro_load(x));
    }
    for (int32_t i = 0; i < TOGETHER; ++i) values[i] = (int8_t)(most >> 8 * i);
  }
  const int32_t low = own->low, high = own->high;
  for (int32_t i = 0; i < TOGETHER; ++i) y[i] = (int8_t)mslite_clamp(values[i], low, high);
}
#endif

/* Computes one pixel: windows of `rows` x `columns` of each channel. */
MICRO_SHARED void pool_pixel(const pool_derived *own, const int8_t *x, int32_t rows, int32_t columns, int8_t *y) {
  const int32_t channels = own->channels, gap = (own->x_columns - columns) * channels, count = rows * columns;
#if MICRO_DSP
  if (channels >= TOGETHER && count <= MAX_TAPS) {
    for (int32_t c = 0; c < channels; c += TOGETHER) {
      /* The last four may include channels that are already done. */
      if (c > channels - TOGETHER) c = channels - TOGETHER;
      pool_four(own, x + c, rows, columns, y + c);
    }
    return;
  }
#endif
  for (int32_t c = 0; c < channels; ++c) {
    const int8_t *at = x + c;
    int32_t value = own->average ? 0 : INT8_MIN;
    for (int32_t i = rows; i > 0; --i, at += gap) {
      if (own->average) {
        for (int32_t j = columns; j > 0; --j, at += channels) value += *at;
      } else {
        for (int32_t j = columns; j > 0; --j, at += channels) value = *at > value ? *at : value;
      }
    }
    if (own->average) value = average_of(own, value, count);
    y[c] = (int8_t)mslite_clamp(value, own->low, own->high);
  }
}

static void pool_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const pool_derived *own = run->derived;
  const int32_t image = part / own->y_rows, row = part - image * own->y_rows, channels = own->channels;
  const int8_t *x = (const int8_t *)run->inputs[0] + image * own->x_rows * own->x_columns * channels;
  int8_t *y = (int8_t *)run->outputs[0] + part * own->y_columns * channels;
  int32_t top, left;
  const int32_t first_row = row * own->stride_rows - own->pad_rows;
  const int32_t rows = taps_inside(first_row, own->kernel_rows, own->x_rows, &top);
  int32_t first_column = -own->pad_columns;
  for (int32_t column = own->y_columns; column > 0; --column, y += channels, first_column += own->stride_columns) {
    const int32_t columns = taps_inside(first_column, own->kernel_columns, own->x_columns, &left);
    if (rows == 0 || columns == 0) {
      memset(y, mslite_clamp(own->zero, own->low, own->high), (size_t)channels);
    } else {
      pool_pixel(own, x + ((first_row + top) * own->x_columns + first_column + left) * channels, rows, columns, y);
    }
  }
}

/* Parts read no row above their window. */
static int64_t pool_lead(const mslite_node *node, const void *derived, int32_t input) {
  if (input != 0) return -1;
  const pool_derived *own = derived;
  const int64_t x_row = (int64_t)own->x_columns * own->channels, y_row = (int64_t)own->y_columns * own->channels;
  int64_t lead = 0;
  for (int64_t image = 0; image < node->inputs[0]->dims[0]; ++image) {
    for (int64_t row = 0; row < own->y_rows; ++row) {
      int64_t first = row * own->stride_rows - own->pad_rows;
      first = first < 0 ? 0 : first > own->x_rows ? own->x_rows : first;
      const int64_t over = (image * own->y_rows + row + 1) * y_row - (image * own->x_rows + first) * x_row;
      if (over > lead) lead = over;
    }
  }
  return lead;
}

#define POOL(function, operator_)                                   \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function) = { \
      .name = MSLITE_ISA_STRING(function),                          \
      .op = MSLITE_OP_##operator_,                                  \
      .isa = MSLITE_THIS_ISA,                                       \
      .derived_size = sizeof(pool_derived),                         \
      .support = pool_support,                                      \
      .prepare = pool_prepare,                                      \
      .run = pool_run,                                              \
      .quantized = 1,                                               \
      .lead = pool_lead,                                            \
  };

POOL(average_pool_int8, AvgPoolFusion)
POOL(maximum_pool_int8, MaxPoolFusion)
POOL(average_pool_extended_int8, AvgPoolExtended)
POOL(maximum_pool_extended_int8, MaxPoolExtended)
