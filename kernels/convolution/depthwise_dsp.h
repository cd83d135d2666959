/* Depthwise convolution of any window with the DSP extension: windows are runs of words, which each contain two
 * rows. */
#ifndef MSLITE_DEPTHWISE_DSP_H
#define MSLITE_DEPTHWISE_DSP_H

#include "convolution/depthwise_stage.h"

enum { MIN_CHANNELS = STAGED, TILE_BYTES = 2048 };

/* Returns the pairs of rows in a window. */
MICRO_INLINE int32_t pairs_of(const mslite_micro_depthwise *own) { return (own->kernel_rows + 1) >> 1; }

/* Returns the columns of x that `count` output columns read. */
MICRO_INLINE int32_t columns_of(const mslite_micro_depthwise *own, int32_t count) {
  return (count - 1) * own->stride_columns + (own->kernel_columns - 1) * own->dilation_columns + 1;
}

/* Scratch memory: the sums, the taps of one output as words, and the staged columns of four channels. */
static int64_t depthwise_scratch(mslite_micro_depthwise *own) {
  const int32_t pairs = pairs_of(own), fixed = (columns_of(own, 1) - 1) * pairs * STAGED * 4;
  const int32_t each = own->stride_columns * pairs * STAGED * 4;
  int32_t most = (TILE_BYTES - fixed) / each;
  if (most > 24) most = 24;
  micro_depthwise_tile(own, most < 1 ? 1 : most);
  return 4 * (own->tile + own->kernel_columns * pairs + (int64_t)columns_of(own, own->tile) * pairs * STAGED);
}

/* Widens the taps of an output, packed by columns. */
MICRO_SHARED void widen_taps(const mslite_micro_depthwise *own, const int8_t *from, int32_t *to) {
  for (int32_t column = own->kernel_columns; column > 0; --column) {
    int32_t rows = own->kernel_rows;
    for (; rows >= 2; rows -= 2, from += 2) *to++ = micro_join_low(from[0], from[1]);
    if (rows > 0) *to++ = micro_join_low(*from++, 0);
  }
}

/* Computes the sums of windows that are `step` words apart. A window has `runs` runs of `length` words, `gap` apart. */
MICRO_SHARED void sum_windows(const int32_t *x, int32_t step, int32_t runs, int32_t length, int32_t gap,
                              const int32_t *taps, int32_t bias, int32_t *sums, const int32_t *end) {
  for (; sums != end; x += step) {
    const int32_t *w = taps, *from = x;
    int32_t sum = bias;
    for (int32_t i = runs; i > 0; --i, from += gap - length) {
      int32_t rest = length;
      for (; rest >= 4; rest -= 4, w += 4, from += 4) {
        sum = micro_add_pair(from[0], w[0], sum);
        sum = micro_add_pair(from[1], w[1], sum);
        sum = micro_add_pair(from[2], w[2], sum);
        sum = micro_add_pair(from[3], w[3], sum);
      }
      for (; rest > 0; --rest) sum = micro_add_pair(*from++, *w++, sum);
    }
    *sums++ = sum;
  }
}

MICRO_SHARED void stage_columns(const row_pair *rows, int32_t first, int32_t *to, int32_t column_step,
                                int32_t channel_step, int32_t count) {
  stage_pair(rows, first, to, column_step, channel_step, count);
}

static void depthwise_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const mslite_micro_depthwise *own = run->derived;
  const micro_depthwise_part at = micro_depthwise_begin(run, part);
  const int32_t pairs = pairs_of(own), window = own->kernel_columns * pairs,
                taps = own->kernel_columns * own->kernel_rows;
  const bool is_dense = own->dilation_columns == 1;
  const uint32_t padding = zero_bytes(own);
  const int32_t zero_pair = micro_even_pair(padding);
  int32_t *const sums = run->scratch, *const widened = sums + own->tile, *const words = widened + window;
  for (int32_t column = 0; column < own->y_columns; column += own->tile) {
    const int32_t rest = own->y_columns - column, count = rest < own->tile ? rest : own->tile;
    const int32_t x_column = column * own->stride_columns - own->pad_columns, x_count = columns_of(own, count);
    const int32_t plane = x_count * pairs;
    const micro_places places = micro_depthwise_places(1, false, count, at.outputs, 0);
    const inside columns = inside_of(own, x_column, x_count);
    /* The padding around x is the same for all channels, so it is filled once. */
    for (int32_t i = 0; i < STAGED; ++i) {
      fill_pairs(words + i * plane, zero_pair, columns.begin * pairs);
      fill_pairs(words + i * plane + columns.end * pairs, zero_pair, (x_count - columns.end) * pairs);
    }
    for (int32_t first = 0; first < own->channels; first += STAGED) {
      if (first > own->channels - STAGED) first = own->channels - STAGED;
      for (int32_t p = 0; p < pairs; ++p) {
        const row_pair rows = rows_at(own, at.x, at.x_row + 2 * p * own->dilation_rows, x_column + columns.begin,
                                      (const int8_t *)&padding);
        stage_columns(&rows, first, words + columns.begin * pairs + p, pairs, plane, columns.end - columns.begin);
      }
      const int32_t outputs = STAGED * own->multiplier;
      for (int32_t i = 0; i < outputs; ++i) {
        const int32_t o = first * own->multiplier + i;
        widen_taps(own, at.taps + o * taps, widened);
        sum_windows(words + i / own->multiplier * plane, own->stride_columns * pairs,
                    is_dense ? 1 : own->kernel_columns, is_dense ? window : pairs, own->dilation_columns * pairs,
                    widened, at.bias[o], sums, sums + count);
        micro_depthwise_store(own, sums, at.multiplier[o], at.shift[o], at.y + column * at.outputs + o, &places);
      }
    }
  }
}

#endif
