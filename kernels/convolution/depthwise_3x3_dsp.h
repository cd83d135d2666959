/* 3 x 3 depthwise convolution with the DSP extension: two output rows at a time at stride 1, otherwise one. */
#ifndef MSLITE_DEPTHWISE_3X3_DSP_H
#define MSLITE_DEPTHWISE_3X3_DSP_H

#include "convolution/depthwise_stage.h"

enum {
  TILE = 24,  /* most output columns per tile */
  COLUMN = 8, /* words per staged column: two pairs of rows of four channels */
  COLUMN_BYTES = COLUMN * 4
};

/* A column of taps is packed as upper, lower, middle; the fourth byte that is read is not used. The first two become
 * one pair, the last two, swapped, another. */
#define READ_TAPS(w)                                                                                           \
  const uint32_t word0 = micro_load(w), word1 = micro_load((w) + 3), word2 = micro_load((w) + 6);              \
  const int32_t upper0 = micro_even_pair(word0), lower0 = micro_join_low_high(micro_odd_bytes(word0), upper0); \
  const int32_t upper1 = micro_even_pair(word1), lower1 = micro_join_low_high(micro_odd_bytes(word1), upper1); \
  const int32_t upper2 = micro_even_pair(word2), lower2 = micro_join_low_high(micro_odd_bytes(word2), upper2)

/* Computes the sums of output columns of two rows, alternating, up to `end`. */
MICRO_SHARED void sum_two_rows(const int32_t *x, const int8_t *w, int32_t bias, int32_t *sums, const int32_t *end) {
  READ_TAPS(w);
  do {
    int32_t first = bias, second = bias;
    const int32_t above0 = x[0], below0 = x[1];
    first = micro_add_pair(above0, upper0, first);
    second = micro_add_high_low(above0, upper0, second);
    first = micro_add_low_low(below0, lower0, first);
    second = micro_add_crossed(below0, lower0, second);
    const int32_t above1 = x[COLUMN], below1 = x[COLUMN + 1];
    first = micro_add_pair(above1, upper1, first);
    second = micro_add_high_low(above1, upper1, second);
    first = micro_add_low_low(below1, lower1, first);
    second = micro_add_crossed(below1, lower1, second);
    const int32_t above2 = x[2 * COLUMN], below2 = x[2 * COLUMN + 1];
    first = micro_add_pair(above2, upper2, first);
    second = micro_add_high_low(above2, upper2, second);
    first = micro_add_low_low(below2, lower2, first);
    second = micro_add_crossed(below2, lower2, second);
    x += COLUMN;
    sums[0] = first;
    sums[1] = second;
    sums += 2;
  } while (sums != end);
}

MICRO_SHARED void sum_row(const int32_t *x, int32_t step, const int8_t *w, int32_t bias, int32_t *sums,
                          const int32_t *end) {
  READ_TAPS(w);
  do {
    int32_t sum = micro_add_pair(x[0], upper0, bias);
    sum = micro_add_low_low(x[1], lower0, sum);
    sum = micro_add_pair(x[COLUMN], upper1, sum);
    sum = micro_add_low_low(x[COLUMN + 1], lower1, sum);
    sum = micro_add_pair(x[2 * COLUMN], upper2, sum);
    sum = micro_add_low_low(x[2 * COLUMN + 1], lower2, sum);
    x += step;
    *sums++ = sum;
  } while (sums != end);
}

MICRO_SHARED void stage_3x3(const row_pair *rows, int32_t first, int32_t *to, int32_t count) {
  stage_pair(rows, first, to, COLUMN, 2, count);
}

static void depthwise_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const mslite_micro_depthwise *own = run->derived;
  const micro_depthwise_part at = micro_depthwise_begin(run, part);
  const int32_t channels = at.outputs, stride = own->stride_columns;
  const uint32_t padding = zero_bytes(own);
  const int32_t zero_pair = micro_even_pair(padding);
  int32_t *const sums = run->scratch, *const words = sums + 2 * own->tile;
  for (int32_t column = 0; column < own->y_columns; column += own->tile) {
    const int32_t rest = own->y_columns - column, count = rest < own->tile ? rest : own->tile;
    const int32_t x_column = column * stride - own->pad_columns, x_count = (count - 1) * stride + 3;
    const micro_places places =
        micro_depthwise_places(own->rows, at.row + 1 < own->y_rows, count, channels, own->y_columns * channels);
    /* The padding around x is the same for all channels, so it is filled once. */
    const inside columns = inside_of(own, x_column, x_count);
    fill_pairs(words, zero_pair, columns.begin * COLUMN);
    fill_pairs(words + columns.end * COLUMN, zero_pair, (x_count - columns.end) * COLUMN);
    const row_pair upper = rows_at(own, at.x, at.x_row, x_column + columns.begin, (const int8_t *)&padding);
    const row_pair lower = rows_at(own, at.x, at.x_row + 2, x_column + columns.begin, (const int8_t *)&padding);
    int32_t *const staged = words + columns.begin * COLUMN, x_inside = columns.end - columns.begin;
    for (int32_t first = 0; first < channels; first += STAGED) {
      /* The last four may include channels that are already done. */
      if (first > channels - STAGED) first = channels - STAGED;
      stage_3x3(&upper, first, staged, x_inside);
      stage_3x3(&lower, first, staged + 1, x_inside);
      for (int32_t i = 0; i < STAGED; ++i) {
        const int32_t c = first + i;
        if (own->rows == 1) {
          sum_row(words + 2 * i, COLUMN * stride, at.taps + 9 * c, at.bias[c], sums, sums + count);
        } else {
          sum_two_rows(words + 2 * i, at.taps + 9 * c, at.bias[c], sums, sums + 2 * count);
        }
        micro_depthwise_store(own, sums, at.multiplier[c], at.shift[c], at.y + column * channels + c, &places);
      }
    }
  }
}

#endif
