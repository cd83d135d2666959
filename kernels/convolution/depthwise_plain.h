/* Depthwise convolution of any window in plain C. */
#ifndef MSLITE_DEPTHWISE_PLAIN_H
#define MSLITE_DEPTHWISE_PLAIN_H

#include "convolution/depthwise_micro.h"

enum { FEWEST_CHANNELS = 1, MOST_COLUMNS = 32 };

static int64_t depthwise_scratch(mslite_micro_depthwise *own) {
  micro_depthwise_tile(own, MOST_COLUMNS);
  return 4 * own->tile;
}

static void depthwise_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const mslite_micro_depthwise *own = run->derived;
  const micro_depthwise_part at = micro_depthwise_begin(run, part);
  const int32_t channels = own->channels, columns = own->kernel_columns, zero = own->x_zero;
  const int32_t across = own->dilation_columns * channels, down = own->dilation_rows * own->x_columns * channels;
  const micro_span rows = micro_taps_inside(at.x_row, own->kernel_rows, own->dilation_rows, own->x_rows);
  int32_t *const sums = run->scratch;
  for (int32_t column = 0; column < own->y_columns; column += own->tile) {
    const int32_t rest = own->y_columns - column, count = rest < own->tile ? rest : own->tile;
    const micro_places places = micro_depthwise_places(1, false, count, at.outputs, 0);
    for (int32_t o = 0; o < at.outputs; ++o) {
      const int8_t *const taps = at.taps + o * own->kernel_rows * columns;
      const int8_t *const plane = at.x + o / own->multiplier;
      int32_t x_column = column * own->stride_columns - own->pad_columns;
      for (int32_t i = 0; i < count; ++i, x_column += own->stride_columns) {
        const micro_span inside = micro_taps_inside(x_column, columns, own->dilation_columns, own->x_columns);
        int32_t sum = at.bias[o];
        for (int32_t ky = 0; ky < own->kernel_rows; ++ky) {
          const int8_t *w = taps + ky * columns;
          const bool is_row = ky >= rows.begin && ky < rows.end;
          const int8_t *x = plane + at.x_row * own->x_columns * channels + x_column * channels + ky * down;
          for (int32_t kx = 0; kx < columns; ++kx, x += across) {
            const int32_t value = is_row && kx >= inside.begin && kx < inside.end ? *x : zero;
            sum = micro_add(sum, value * w[kx]);
          }
        }
        sums[i] = sum;
      }
      micro_depthwise_store(own, sums, at.multiplier[o], at.shift[o], at.y + column * at.outputs + o, &places);
    }
  }
}

#endif
