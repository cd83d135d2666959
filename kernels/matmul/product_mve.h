/* Products for microcontrollers with Helium; included by matmul/product_micro.h. */
#ifndef MSLITE_PRODUCT_MVE_H
#define MSLITE_PRODUCT_MVE_H

#include "simd/micro_mve.h"

MICRO_INLINE void micro_stage(micro_product *p, int32_t i, int32_t rows, const int8_t *from) {
  (void)i;
  (void)rows;
  p->x[0] = from;
}

/* The results of one row. */
MICRO_SHARED void micro_run_single(const micro_product *p, int8_t *y) {
  const micro_layer *layer = p->layer;
  const int32_t terms = layer->terms;
  const int32_t *bias = p->packed, *multipliers = bias + layer->channels;
  const int8_t *shifts = (const int8_t *)(multipliers + layer->channels);
  const int8_t *w0 = shifts + (layer->channels + 3) / 4 * 4;
  for (int32_t c = 0; c < layer->channels; c += 4) {
    const int32_t count = layer->channels - c;
    const int8_t *w1 = count > 1 ? w0 + terms : w0, *w2 = count > 2 ? w1 + terms : w0,
                 *w3 = count > 3 ? w2 + terms : w0;
    const int8_t *x = p->x[0];
    int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    for (int32_t i = terms / 16; i > 0; --i, x += 16, w0 += 16, w1 += 16, w2 += 16, w3 += 16) {
      const micro_i8x16 v = micro_load_i8x16(x);
      sum0 = micro_add_products(sum0, v, micro_load_i8x16(w0));
      sum1 = micro_add_products(sum1, v, micro_load_i8x16(w1));
      sum2 = micro_add_products(sum2, v, micro_load_i8x16(w2));
      sum3 = micro_add_products(sum3, v, micro_load_i8x16(w3));
    }
    const int32_t rest = terms % 16;
    if (rest != 0) {
      const micro_i8x16 v = micro_load_first_i8x16(x, rest);
      sum0 = micro_add_products(sum0, v, micro_load_first_i8x16(w0, rest));
      sum1 = micro_add_products(sum1, v, micro_load_first_i8x16(w1, rest));
      sum2 = micro_add_products(sum2, v, micro_load_first_i8x16(w2, rest));
      sum3 = micro_add_products(sum3, v, micro_load_first_i8x16(w3, rest));
    }
    micro_i32x4 sums = micro_make_i32x4(sum0, sum1, sum2, sum3);
    sums = micro_add_i32x4(sums, micro_load_first_i32x4(bias + c, count));
    const micro_i32x4 multiplier = micro_load_first_i32x4(multipliers + c, count);
    const micro_i32x4 shift = micro_load_first_bytes(shifts + c, count);
    micro_i32x4 steps;
    if (layer->rounding == MICRO_ROUNDS_TWICE) {
      steps = micro_steps_twice(sums, multiplier, shift);
    } else if (layer->rounding == MICRO_ROUNDS_ONCE) {
      steps = micro_steps_once(sums, multiplier, shift);
    } else {
      steps = micro_steps_other(sums, multiplier, shift, layer->rounding, layer->nudge);
    }
    steps = micro_add_i32x4(steps, micro_set_i32x4(layer->nudge >> 1));
    steps = micro_max_i32x4(steps, micro_set_i32x4(layer->low));
    steps = micro_min_i32x4(steps, micro_set_i32x4(layer->high));
    micro_store_first_bytes(y + c, steps, count);
    w0 = w3 + rest;
  }
}

#endif
