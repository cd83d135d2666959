/* Matmuls on microcontrollers with Helium.
 *
 * Packed weights, for each four channels:
 *   int32_t bias[4]
 *   int8_t w[terms / 16][4][16]
 *   int8_t w[4][terms % 16]
 * for the `rest` channels after the last four:
 *   int32_t bias[rest]
 *   int8_t w[rest][terms]          padded with zeros to a multiple of 4 bytes
 * followed, once if all channels have the same factor, otherwise for each four channels, by:
 *   int32_t multiplier[4]
 *   int8_t shift[4]
 * and for the rest, unless all channels have the same factor, multiplier[rest] and shift[rest], padded as well. */
#include "matmul/product_micro.h"

#if MICRO_MVE
#include "matmul/pair_mve_micro.h"

/* Rescales four sums. */
MICRO_INLINE micro_i32x4 micro_steps(const micro_layer *layer, micro_i32x4 sums, micro_i32x4 multiplier,
                                     micro_i32x4 shift) {
  if (layer->rounding == MICRO_ROUNDS_TWICE) return micro_steps_twice(sums, multiplier, shift);
  if (layer->rounding == MICRO_ROUNDS_ONCE) return micro_steps_once(sums, multiplier, shift);
  return micro_steps_other(sums, multiplier, shift, layer->rounding, layer->nudge);
}

/* The limits of quantized results. */
typedef struct {
  micro_i32x4 zero, low, high;
} micro_limits;

MICRO_INLINE micro_limits micro_limits_of(const micro_layer *layer) {
  const micro_limits own = {micro_set_i32x4(layer->nudge >> 1), micro_set_i32x4(layer->low),
                            micro_set_i32x4(layer->high)};
  return own;
}

/* Returns quantized results in the low bytes of the lanes. */
MICRO_INLINE micro_i32x4 micro_finish(const micro_limits *own, micro_i32x4 steps) {
  return micro_min_i32x4(micro_max_i32x4(micro_add_i32x4(steps, own->zero), own->low), own->high);
}

/* The factors of the channels from some index on. `step` is the distance to the next four; 0: all have the same
 * factor. */
typedef struct {
  const int8_t *at;
  int32_t step;
} micro_factors_at;

MICRO_INLINE micro_factors_at micro_first_factors(const micro_product *p) {
  const micro_layer *layer = p->layer;
  const int32_t rest = layer->channels & 3;
  const int32_t size = (layer->channels >> 2) * (16 + 4 * layer->terms) + rest * (4 + layer->terms);
  const micro_factors_at first = {(const int8_t *)p->packed + ((size + 3) & ~3), layer->has_one ? 0 : 20};
  return first;
}

/* Stores the results for the sums of `count` channels, four or fewer, with these factors. */
MICRO_SHARED void micro_store_results(const micro_layer *layer, const int8_t *factors, micro_i32x4 sums, int32_t count,
                                      int8_t *y) {
  const micro_limits limits = micro_limits_of(layer);
  const int8_t *const shifts = factors + 4 * (layer->has_one ? 4 : count);
  const micro_i32x4 multiplier = micro_load_first_i32x4((const int32_t *)(const void *)factors, count);
  const micro_i32x4 shift = micro_load_first_bytes(shifts, count);
  micro_store_first_bytes(y, micro_finish(&limits, micro_steps(layer, sums, multiplier, shift)), count);
}

/* Computes the results of a row for the channels after the last four, whose biases are at `w`. */
MICRO_SHARED void micro_run_rest(const micro_layer *layer, const int8_t *x, const int8_t *w, const int8_t *factors,
                                 int8_t *y) {
  const int32_t rest = layer->channels & 3, terms = layer->terms;
  const int32_t *bias = (const int32_t *)(const void *)w;
  int32_t sums[4] = {0};
  w += 4 * rest;
  for (int32_t c = 0; c < rest; ++c, w += terms) {
    int32_t sum = bias[c], k = 0;
    for (; k <= terms - 16; k += 16) sum = micro_add_products(sum, micro_load_i8x16(w + k), micro_load_i8x16(x + k));
    const micro_i8x16 v = micro_load_first_i8x16(w + k, terms - k);
    sums[c] = micro_add_products(sum, v, micro_load_first_i8x16(x + k, terms - k));
  }
  micro_store_results(layer, factors, micro_load_i32x4(sums), rest, y);
}

void micro_run_pair(const micro_product *p, int8_t *y0, int8_t *y1) {
  const micro_layer *layer = p->layer;
  const micro_limits limits = micro_limits_of(layer);
  const int8_t *w = (const int8_t *)p->packed;
  micro_factors_at factors = micro_first_factors(p);
  micro_row_pair rows;
  micro_cut_pair(&rows, p);
  for (const int8_t *const end = y0 + (layer->channels & ~3); y0 != end; y0 += 4, y1 += 4) {
    micro_i32x4 sums0, sums1;
    w = micro_sum_pair(&rows, w, &sums0, &sums1);
    const micro_i32x4 multiplier = micro_load_i32x4((const int32_t *)(const void *)factors.at);
    const micro_i32x4 shift = micro_load_bytes(factors.at + 16);
    if (layer->rounding == MICRO_ROUNDS_TWICE) {
      sums0 = micro_steps_twice(sums0, multiplier, shift);
      sums1 = micro_steps_twice(sums1, multiplier, shift);
    } else {
      sums0 = micro_steps(layer, sums0, multiplier, shift);
      sums1 = micro_steps(layer, sums1, multiplier, shift);
    }
    micro_store_bytes(y0, micro_finish(&limits, sums0));
    micro_store_bytes(y1, micro_finish(&limits, sums1));
    factors.at += factors.step;
  }
  if ((layer->channels & 3) != 0) {
    micro_run_rest(layer, p->x[0], w, factors.at, y0);
    micro_run_rest(layer, p->x[1], w, factors.at, y1);
  }
}

void micro_run_single(const micro_product *p, int8_t *y) {
  const micro_layer *layer = p->layer;
  const int32_t whole = layer->terms >> 4, over = layer->terms & 15;
  const int8_t *const row = p->x[0], *w = (const int8_t *)p->packed;
  const micro_limits limits = micro_limits_of(layer);
  micro_factors_at factors = micro_first_factors(p);
  const micro_i8x16 tail = micro_load_first_i8x16(row + 16 * whole, over);
  for (const int8_t *const end = y + (layer->channels & ~3); y != end; y += 4) {
    const int32_t *bias = (const int32_t *)(const void *)w;
    int32_t sum0 = bias[0], sum1 = bias[1], sum2 = bias[2], sum3 = bias[3];
    w += 16;
    const int8_t *x = row;
    for (int32_t i = whole; i > 0; --i) {
      const micro_i8x16 v = micro_load_i8x16(x);
      sum1 = micro_add_products(sum1, v, micro_load_i8x16(w + 16));
      sum2 = micro_add_products(sum2, v, micro_load_i8x16(w + 32));
      sum3 = micro_add_products(sum3, v, micro_load_i8x16(w + 48));
      sum0 = micro_add_products(sum0, v, micro_load_i8x16(w));
      x += 16;
      w += 64;
    }
    if (over != 0) {
      /* Bytes that are read beyond the terms are multiplied by zeros. */
      sum0 = micro_add_products(sum0, tail, micro_load_i8x16(w));
      w += over;
      sum1 = micro_add_products(sum1, tail, micro_load_i8x16(w));
      w += over;
      sum2 = micro_add_products(sum2, tail, micro_load_i8x16(w));
      w += over;
      sum3 = micro_add_products(sum3, tail, micro_load_i8x16(w));
      w += over;
    }
    const micro_i32x4 multiplier = micro_load_i32x4((const int32_t *)(const void *)factors.at);
    const micro_i32x4 shift = micro_load_bytes(factors.at + 16);
    const micro_i32x4 steps = micro_steps(layer, micro_make_i32x4(sum0, sum1, sum2, sum3), multiplier, shift);
    micro_store_bytes(y, micro_finish(&limits, steps));
    factors.at += factors.step;
  }
  if ((layer->channels & 3) != 0) micro_run_rest(layer, row, w, factors.at, y);
}

#endif
