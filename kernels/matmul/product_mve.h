/* Products for microcontrollers with Helium; included by matmul/product_micro.h.
 *
 * Packed weights, of each four channels (missing ones of the last four are zeros):
 *   int32_t bias[4]
 *   int8_t w[terms / 16][4][16]
 *   int8_t w[4][terms % 16]
 *   int32_t multiplier[4]
 *   int8_t shift[4]
 * and 12 bytes behind the last. */
#ifndef MSLITE_PRODUCT_MVE_H
#define MSLITE_PRODUCT_MVE_H

#include "simd/micro_mve.h"

MICRO_INLINE void micro_stage(micro_product *p, int32_t i, int32_t rows, const int8_t *from) {
  (void)i;
  (void)rows;
  p->x[0] = from;
}

/* Limits `count` results to [low, high]. */
MICRO_SHARED void micro_limit(const micro_layer *layer, int8_t *y, int32_t count) {
  const micro_i8x16 low = micro_set_i8x16(layer->low), high = micro_set_i8x16(layer->high);
  for (; count > 0; count -= 16, y += 16) {
    const micro_i8x16 v = micro_load_first_i8x16(y, count);
    micro_store_first_i8x16(y, micro_min_i8x16(micro_max_i8x16(v, low), high), count);
  }
}

/* The results of one row. */
MICRO_SHARED void micro_run_single(const micro_product *p, int8_t *y) {
  const micro_layer *layer = p->layer;
  const uint32_t terms = (uint32_t)layer->terms;
  const int32_t whole = (int32_t)(terms >> 4), over = (int32_t)(terms & 15U), zero = layer->nudge >> 1;
  const int8_t *const row = p->x[0], *w = (const int8_t *)p->packed;
  const micro_i8x16 tail = micro_load_first_i8x16(row + 16 * whole, over);
  int8_t *const last = y + (uint32_t)(layer->channels - 1) / 4 * 4;
  for (;;) {
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
      /* What is read too much is multiplied by zeros. */
      sum0 = micro_add_products(sum0, tail, micro_load_i8x16(w));
      w += over;
      sum1 = micro_add_products(sum1, tail, micro_load_i8x16(w));
      w += over;
      sum2 = micro_add_products(sum2, tail, micro_load_i8x16(w));
      w += over;
      sum3 = micro_add_products(sum3, tail, micro_load_i8x16(w));
      w += over;
    }
    micro_i32x4 steps = micro_make_i32x4(sum0, sum1, sum2, sum3);
    const micro_i32x4 multiplier = micro_load_i32x4((const int32_t *)(const void *)w);
    const micro_i32x4 shift = micro_load_bytes(w + 16);
    if (layer->rounding == MICRO_ROUNDS_TWICE) {
      steps = micro_steps_twice(steps, multiplier, shift);
    } else if (layer->rounding == MICRO_ROUNDS_ONCE) {
      steps = micro_steps_once(steps, multiplier, shift);
    } else {
      steps = micro_steps_other(steps, multiplier, shift, layer->rounding, layer->nudge);
    }
    steps = micro_limit_i32x4(micro_add_n_i32x4(steps, zero), multiplier);
    if (y == last) {
      micro_store_first_bytes(y, steps, (layer->channels - 1) % 4 + 1);
      break;
    }
    micro_store_bytes(y, steps);
    w += 20;
    y += 4;
  }
  if (layer->is_limited) micro_limit(layer, y - (layer->channels - 1) / 4 * 4, layer->channels);
}

#endif
