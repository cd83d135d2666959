/* Depthwise convolution with the DSP extension: stages rows of x as words of two 16-bit values. */
#ifndef MSLITE_DEPTHWISE_STAGE_H
#define MSLITE_DEPTHWISE_STAGE_H

#include "convolution/depthwise_micro.h"
#include "simd/micro_dsp.h"

enum {
  STAGED = 4 /* channels that are staged together: the bytes of a word */
};

/* The columns of a tile that are inside of x, counted from its first. */
typedef struct {
  int32_t begin, end;
} inside;

MICRO_INLINE inside inside_of(const mslite_micro_depthwise *own, int32_t column, int32_t count) {
  inside at = {-column, own->x_columns - column};
  if (at.begin < 0) at.begin = 0;
  if (at.end > count) at.end = count;
  if (at.begin > count) at.begin = count;
  if (at.end < at.begin) at.end = at.begin;
  return at;
}

/* Two rows of x. Each may be padding; then its pointer does not advance. */
typedef struct {
  const int8_t *above, *below;
  int32_t above_step, below_step;
} row_pair;

MICRO_INLINE row_pair rows_at(const mslite_micro_depthwise *own, const int8_t *x, int32_t row, int32_t column,
                              const int8_t *padding) {
  const int32_t below = row + own->dilation_rows, channels = own->channels;
  row_pair pair = {padding, padding, 0, 0};
  if (row >= 0 && row < own->x_rows) {
    pair.above = x + (row * own->x_columns + column) * channels;
    pair.above_step = channels;
  }
  if (below >= 0 && below < own->x_rows) {
    pair.below = x + (below * own->x_columns + column) * channels;
    pair.below_step = channels;
  }
  return pair;
}

/* Stages `count` columns of two rows of the four channels from `first` on. Steps between columns and channels are in
 * words. */
MICRO_INLINE void stage_pair(const row_pair *rows, int32_t first, int32_t *to, int32_t column_step,
                             int32_t channel_step, int32_t count) {
  const int32_t above_step = rows->above_step, below_step = rows->below_step;
  const int8_t *above = rows->above, *below = rows->below;
  if (above_step != 0) above += first;
  if (below_step != 0) below += first;
  for (; count > 0; --count) {
    const uint32_t a = micro_load(above), b = micro_load(below);
    const int32_t a_even = micro_even_pair(a), b_even = micro_even_pair(b);
    const int32_t a_odd = micro_odd_bytes(a), b_odd = micro_odd_bytes(b);
    to[0] = micro_join_low(a_even, b_even);
    to[channel_step] = micro_join_low(a_odd, b_odd);
    to[2 * channel_step] = micro_join_high(a_even, b_even);
    to[3 * channel_step] = micro_join_high(a_odd, b_odd);
    above += above_step;
    below += below_step;
    to += column_step;
  }
}

/* Returns a word of four zero points. */
MICRO_INLINE uint32_t zero_bytes(const mslite_micro_depthwise *own) { return (uint8_t)own->x_zero * 0x01010101U; }

MICRO_INLINE void fill_pairs(int32_t *to, int32_t pair, int32_t count) {
  for (; count > 0; --count) *to++ = pair;
}

#endif
