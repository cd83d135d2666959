/* Depthwise convolution of any window in plain C. */
#ifndef MSLITE_DEPTHWISE_PLAIN_H
#define MSLITE_DEPTHWISE_PLAIN_H

#include "convolution/depthwise_micro.h"

enum { MIN_CHANNELS = 1, MAX_COLUMNS = 32 };

static int64_t depthwise_scratch(mslite_micro_depthwise *own) {
  micro_depthwise_tile(own, MAX_COLUMNS);
  return 4 * own->tile;
}

/* The taps of windows that are inside of x, in `rows` rows. */
typedef struct {
  int32_t across, down;     /* distance between taps in x */
  int32_t rows, row_length; /* of the taps; the length includes those outside */
  int32_t zero;
} window_taps;

/* Returns the sum of products of the taps at `w`, `columns` per row, and the values at x minus the zero point. */
MICRO_SHARED int32_t sum_taps(const window_taps *of, const int8_t *x, const int8_t *w, int32_t columns) {
  const int32_t across = of->across, zero = of->zero, down = of->down, w_step = of->row_length;
  int32_t sum = 0;
  for (int32_t rows = of->rows; rows > 0; --rows, x += down, w += w_step) {
    if (columns == 3) {
      sum = micro_add(sum, (x[0] - zero) * w[0]);
      sum = micro_add(sum, (x[across] - zero) * w[1]);
      sum = micro_add(sum, (x[2 * across] - zero) * w[2]);
    } else {
      const int8_t *from = x;
      for (int32_t i = 0; i < columns; ++i, from += across) sum = micro_add(sum, (*from - zero) * w[i]);
    }
  }
  return sum;
}

static void depthwise_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const mslite_micro_depthwise *own = run->derived;
  const micro_depthwise_part at = micro_depthwise_begin(run, part);
  const int32_t channels = own->channels, columns = own->kernel_columns, zero = own->x_zero;
  const micro_span rows = micro_taps_inside(at.x_row, own->kernel_rows, own->dilation_rows, own->x_rows);
  const int32_t taps_count = own->kernel_rows * columns;
  const int32_t first_row = (at.x_row + rows.begin * own->dilation_rows) * own->x_columns;
  const int32_t whole_columns = own->x_columns - (columns - 1) * own->dilation_columns;
  const window_taps window = {own->dilation_columns * channels, own->dilation_rows * own->x_columns * channels,
                              rows.end - rows.begin, columns, zero};
  int32_t *const sums = run->scratch;
  for (int32_t column = 0; column < own->y_columns; column += own->tile) {
    const int32_t rest = own->y_columns - column, count = rest < own->tile ? rest : own->tile;
    const micro_places places = micro_depthwise_places(1, false, count, at.outputs, 0);
    for (int32_t o = 0; o < at.outputs; ++o) {
      const int8_t *const taps = at.taps + o * taps_count, *const w = taps + rows.begin * columns;
      /* The bias includes -zero for each tap, so padding adds nothing. */
      int32_t all = 0;
      for (int32_t i = 0; i < taps_count; ++i) all += taps[i];
      const int32_t bias = micro_add(at.bias[o], zero * all);
      const int8_t *const row = at.x + o / own->multiplier;
      int32_t x_column = column * own->stride_columns - own->pad_columns;
      for (int32_t i = 0; i < count; ++i, x_column += own->stride_columns) {
        micro_span inside = {0, columns};
        if (x_column < 0 || x_column >= whole_columns) {
          inside = micro_taps_inside(x_column, columns, own->dilation_columns, own->x_columns);
        }
        int32_t sum = bias;
        if (window.rows > 0 && inside.begin < inside.end) {
          const int8_t *x = row + (first_row + x_column + inside.begin * own->dilation_columns) * channels;
          sum = micro_add(sum, sum_taps(&window, x, w + inside.begin, inside.end - inside.begin));
        }
        sums[i] = sum;
      }
      micro_depthwise_store(own, sums, at.multiplier[o], at.shift[o], at.y + column * at.outputs + o, &places);
    }
  }
}

#endif
