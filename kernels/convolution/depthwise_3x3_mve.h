/* 3 x 3 depthwise convolution with Helium: a window is one vector of 16 bytes, four rows of three columns, of which
 * each output row uses three rows. Sixteen channels are staged together, interleaved by rows. */
#ifndef MSLITE_DEPTHWISE_3X3_MVE_H
#define MSLITE_DEPTHWISE_3X3_MVE_H

#include "convolution/depthwise_micro.h"
#include "simd/micro_mve_memory.h"

enum {
  STAGED = 1, /* fewest channels */
  LANES = 16,
  COLUMN_BYTES = 4 * LANES, /* per staged column: four rows of 16 channels */
  TILE = 12                 /* most output columns per tile */
};

/* Stages `count` columns, beginning at `column` (padding outside of x), of four rows beginning at `row`, of
 * `channels` channels at x. */
MICRO_SHARED void stage_rows(const mslite_micro_depthwise *own, const int8_t *x, int32_t row, int32_t column,
                             int32_t count, int32_t channels, int8_t *to) {
  const int32_t columns = own->x_columns;
  int8_t padding[LANES];
  memset(padding, own->x_zero, sizeof padding);
  const int32_t end = column + count;
  while (column < end) {
    const bool inside = column >= 0 && column < columns;
    int32_t stop = inside ? columns : column < 0 ? 0 : end;
    if (stop > end) stop = end;
    const int8_t *at[4];
    int32_t step[4];
    for (int32_t i = 0; i < 4; ++i) {
      const bool is_padding = !inside || (uint32_t)(row + i) >= (uint32_t)own->x_rows;
      at[i] = is_padding ? padding : x + ((row + i) * columns + column) * own->channels;
      step[i] = is_padding ? 0 : own->channels;
    }
    const int8_t *a = at[0], *b = at[1], *c = at[2], *d = at[3];
    for (; column < stop; ++column, to += COLUMN_BYTES) {
      micro_store_interleaved(to, micro_load_first_i8x16(a, channels), micro_load_first_i8x16(b, channels),
                              micro_load_first_i8x16(c, channels), micro_load_first_i8x16(d, channels));
      a += step[0];
      b += step[1];
      c += step[2];
      d += step[3];
    }
  }
}

/* The taps of a channel are packed by columns. Lane 4 i + j of a window is row j of column i. */
static const uint8_t first_taps[16] = {0, 1, 2, 0, 3, 4, 5, 0, 6, 7, 8, 0, 0, 0, 0, 0};
static const uint8_t second_taps[16] = {0, 0, 1, 2, 0, 3, 4, 5, 0, 6, 7, 8, 0, 0, 0, 0};
static const uint32_t window_columns[4] = {0, COLUMN_BYTES, 2 * COLUMN_BYTES, 2 * COLUMN_BYTES};
enum { FIRST_LANES = 0x0777, SECOND_LANES = 0x0EEE };

/* Computes the sums of a channel's windows: both rows of a column are adjacent. */
MICRO_SHARED void sum_two_rows(const int8_t *x, const int8_t *w, int32_t *sums, const int32_t *end) {
  const micro_i8x16 first = micro_pick_i8x16(w, micro_load_u8x16(first_taps), FIRST_LANES);
  const micro_i8x16 second = micro_pick_i8x16(w, micro_load_u8x16(second_taps), SECOND_LANES);
  const micro_u32x4 columns = micro_load_u32x4(window_columns);
  do {
    const micro_i8x16 window = micro_pick_fours(x, columns);
    sums[0] = micro_add_products(0, window, first);
    sums[1] = micro_add_products(0, window, second);
    x += COLUMN_BYTES;
    sums += 2;
  } while (sums != end);
}

MICRO_SHARED void sum_row(const int8_t *x, int32_t step, const int8_t *w, int32_t *sums, const int32_t *end) {
  const micro_i8x16 taps = micro_pick_i8x16(w, micro_load_u8x16(first_taps), FIRST_LANES);
  const micro_u32x4 columns = micro_load_u32x4(window_columns);
  do {
    *sums++ = micro_add_products(0, micro_pick_fours(x, columns), taps);
    x += step;
  } while (sums != end);
}

/* Stores `count` sums of a channel: those of one vector at `offsets` from y, the next ones `advance` further. */
MICRO_SHARED void store_windows(const mslite_micro_depthwise *own, const int32_t *sums, int32_t count, int32_t bias,
                                int32_t multiplier, int32_t shift, int8_t *y, const uint32_t *offsets, int32_t advance,
                                micro_lanes lanes) {
  const micro_u32x4 places = micro_load_u32x4(offsets);
  const micro_i32x4 low = micro_set_i32x4(own->low), high = micro_set_i32x4(own->high);
  const micro_i32x4 added = micro_set_i32x4(bias), zero = micro_set_i32x4(own->nudge >> 1);
  const micro_i32x4 factors = micro_set_i32x4(multiplier), shifts = micro_set_i32x4(shift);
  for (; count > 0; count -= 4, sums += 4, y += advance) {
    const micro_i32x4 total = micro_add_i32x4(micro_load_i32x4(sums), added);
    micro_i32x4 steps = own->rounding == MICRO_ROUNDS_TWICE
                            ? micro_steps_twice(total, factors, shifts)
                            : micro_steps_other(total, factors, shifts, own->rounding, own->nudge);
    steps = micro_min_i32x4(micro_max_i32x4(micro_add_i32x4(steps, zero), low), high);
    micro_scatter_bytes(y, places, steps, (micro_lanes)(lanes & micro_first_words(count)));
  }
}

static void depthwise_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const mslite_micro_depthwise *own = run->derived;
  const micro_depthwise_part at = micro_depthwise_begin(run, part);
  const int32_t channels = at.outputs, stride = own->stride_columns, rows = own->rows;
  int32_t *const sums = run->scratch;
  int8_t *const bytes = (int8_t *)(sums + 2 * own->tile);
  /* Four sums are two columns of two rows, or four columns. */
  const uint32_t step = (uint32_t)channels, next = rows == 1 ? step : (uint32_t)(own->y_columns * channels);
  const uint32_t offsets[4] = {0, next, rows == 1 ? 2 * step : step, rows == 1 ? 3 * step : step + next};
  const micro_lanes lanes = rows == 1 || at.row + 1 < own->y_rows ? 0xFFFF : 0x0F0F;
  for (int32_t column = 0; column < own->y_columns; column += own->tile) {
    const int32_t rest = own->y_columns - column, count = rest < own->tile ? rest : own->tile;
    for (int32_t first = 0; first < channels; first += LANES) {
      const int32_t staged = channels - first < LANES ? channels - first : LANES;
      stage_rows(own, at.x + first, at.x_row, column * stride - own->pad_columns, (count - 1) * stride + 3, staged,
                 bytes);
      for (int32_t i = 0; i < staged; ++i) {
        const int32_t c = first + i;
        if (rows == 1) {
          sum_row(bytes + 4 * i, COLUMN_BYTES * stride, at.taps + 9 * c, sums, sums + count);
        } else {
          sum_two_rows(bytes + 4 * i, at.taps + 9 * c, sums, sums + 2 * count);
        }
        store_windows(own, sums, rows * count, at.bias[c], at.multiplier[c], at.shift[c], at.y + column * channels + c,
                      offsets, 4 / rows * channels, lanes);
      }
    }
  }
}

#endif
