/* Shared by the depthwise convolutions of quantized int8 on microcontrollers.
 * Packed weight: the table of channels (math/channels_micro.h), then the taps of each channel, in the kernel's
 * order. */
#ifndef MSLITE_DEPTHWISE_MICRO_H
#define MSLITE_DEPTHWISE_MICRO_H

#include "convolution/stored.h"
#include "math/channels_micro.h"

typedef struct {
  int16_t x_rows, x_columns, y_rows, y_columns;
  int16_t channels;   /* of x */
  int16_t multiplier; /* outputs per channel of x */
  int16_t kernel_rows, kernel_columns;
  int16_t stride_rows, stride_columns;
  int16_t dilation_rows, dilation_columns;
  int16_t pad_rows, pad_columns; /* before the first */
  int16_t rows;                  /* output rows of one part */
  int16_t blocks;                /* parts per image */
  int16_t tile;                  /* output columns that are computed together */
  int16_t nudge;                 /* 2 * zero point of y + 1 */
  int8_t x_zero, low, high;
  int8_t rounding;
  int8_t is_limited; /* low and high differ from those of int8 */
} mslite_micro_depthwise;

/* Returns whether the node is a depthwise convolution whose parameters fit the struct above. */
#define micro_depthwise_fits MSLITE_ISA_NAME(mslite_micro_depthwise_fits)
bool micro_depthwise_fits(const mslite_node *node);

/* Fills all members except for `tile`. A part is `rows` output rows. */
#define micro_depthwise_prepare MSLITE_ISA_NAME(mslite_micro_depthwise_prepare)
mslite_status micro_depthwise_prepare(const mslite_node *node, mslite_micro_depthwise *own, int32_t rows,
                                      mslite_schedule *schedule);

/* Sets tiles of at most `most` columns, of equal widths as far as possible. */
static inline void micro_depthwise_tile(mslite_micro_depthwise *own, int32_t most) {
  const int32_t tiles = (own->y_columns + most - 1) / most;
  own->tile = (int16_t)(tiles == 0 ? 1 : (own->y_columns + tiles - 1) / tiles);
}

/* Returns `lead` (kernel.h) for parts that read no row above their first window and none below their last. */
#define micro_depthwise_lead MSLITE_ISA_NAME(mslite_micro_depthwise_lead)
int64_t micro_depthwise_lead(const mslite_node *node, const void *derived, int32_t input);

/* ---- run ---- */

/* The state of a part while it runs. */
typedef struct {
  const int8_t *x; /* the image */
  int8_t *y;       /* the part's first row */
  const int32_t *bias, *multiplier;
  const int8_t *shift, *taps;
  int32_t row, x_row; /* the part's first row, and the row that its first tap reads */
  int32_t outputs;    /* channels of y */
} micro_depthwise_part;

MICRO_INLINE micro_depthwise_part micro_depthwise_begin(const mslite_run *run, int32_t part) {
  const mslite_micro_depthwise *own = run->derived;
  const int32_t image = part / own->blocks;
  micro_depthwise_part at;
  at.outputs = own->channels * own->multiplier;
  at.row = (part - image * own->blocks) * own->rows;
  at.x_row = at.row * own->stride_rows - own->pad_rows;
  at.x = (const int8_t *)run->inputs[0] + image * own->x_rows * own->x_columns * own->channels;
  at.y = (int8_t *)run->outputs[0] + (image * own->y_rows + at.row) * own->y_columns * at.outputs;
  at.bias = run->inputs[1];
  at.multiplier = at.bias + at.outputs;
  at.shift = (const int8_t *)(at.multiplier + at.outputs);
  at.taps = at.shift + (at.outputs + 3) / 4 * 4;
  return at;
}

/* The places of the results of a channel's sums: the second of each pair is `next` bytes after the first, and a pair
 * is `advance` bytes after the previous one. The last one may be single. */
typedef struct {
  int32_t next, advance, pairs, single;
} micro_places;

/* Stores sums as results. If `next` is 0, the second of each pair is overwritten by the first. */
MICRO_SHARED void micro_depthwise_store(const mslite_micro_depthwise *own, const int32_t *sums, int32_t multiplier,
                                        int32_t shift, int8_t *y, const micro_places *places) {
  const int32_t nudge = own->nudge, next = places->next, advance = places->advance;
  if (own->rounding != MICRO_ROUNDS_TWICE || own->is_limited) {
    for (int32_t i = 2 * places->pairs + places->single - 1; i >= 0; --i) {
      const int32_t twice = own->rounding == MICRO_ROUNDS_TWICE
                                ? micro_rescale_twice(sums[i], multiplier, shift)
                                : micro_rescale_other(sums[i], multiplier, shift, own->rounding, nudge);
      y[(i >> 1) * advance + (i & 1) * next] =
          (int8_t)mslite_clamp(micro_requantized(twice, nudge), own->low, own->high);
    }
    return;
  }
  for (int32_t i = places->pairs; i > 0; --i, sums += 2, y += advance) {
    y[next] = (int8_t)micro_requantized(micro_rescale_twice(sums[1], multiplier, shift), nudge);
    y[0] = (int8_t)micro_requantized(micro_rescale_twice(sums[0], multiplier, shift), nudge);
  }
  if (places->single) y[0] = (int8_t)micro_requantized(micro_rescale_twice(sums[0], multiplier, shift), nudge);
}

/* Returns the places of `count` columns of one or two rows, `step` bytes apart. */
MICRO_INLINE micro_places micro_depthwise_places(int32_t rows, bool has_second, int32_t count, int32_t step,
                                                 int32_t row_step) {
  const micro_places two = {has_second ? row_step : 0, step, count, 0};
  const micro_places one = {step, 2 * step, count >> 1, count & 1};
  return rows == 2 ? two : one;
}

#endif
