/* Products for microcontrollers in plain C; included by matmul/product_micro.h. */
#ifndef MSLITE_PRODUCT_PLAIN_H
#define MSLITE_PRODUCT_PLAIN_H

/* Results of `count` channels of one row. */
MICRO_SHARED void micro_finish(const micro_layer *layer, const int32_t *multiplier, const int8_t *shift,
                               const int32_t *sums, int32_t count, int8_t *y) {
  for (; count > 0; --count) {
    const int32_t sum = *sums++, factor = *multiplier++, right = *shift++;
    int32_t twice;
    if (layer->rounding == MICRO_ROUNDS_ONCE) {
      twice = micro_rescale_once(sum, factor, right);
    } else if (layer->rounding == MICRO_ROUNDS_TWICE) {
      twice = micro_rescale_twice(sum, factor, right);
    } else {
      twice = micro_rescale_other(sum, factor, right, layer->rounding, layer->nudge);
    }
    *y++ = (int8_t)mslite_limit(micro_stored(twice, layer->nudge), layer->low, layer->high);
  }
}

MICRO_INLINE void micro_stage(micro_product *p, int32_t i, int32_t rows, const int8_t *from) {
  (void)rows;
  p->x[i] = from;
}

/* The results of rows `a` and `b`: two channels of both at a time. */
MICRO_SHARED void micro_run_pair(const micro_product *p, int8_t *y0, int8_t *y1) {
  const micro_layer *layer = p->layer;
  const int32_t *bias = p->packed, *multiplier = bias + layer->channels;
  const int8_t *shift = (const int8_t *)(multiplier + layer->channels);
  const int8_t *w = shift + (layer->channels + 3) / 4 * 4;
  for (int32_t rest = layer->channels; rest > 0; rest -= 2) {
    const int32_t count = rest < 2 ? 1 : 2;
    const int8_t *v = count == 2 ? w + layer->terms : w, *const end = w + layer->terms;
    const int8_t *a = p->x[0], *b = p->x[1];
    int32_t sum00 = bias[0], sum01 = bias[1], sum10 = sum00, sum11 = sum01;
    while (w != end) {
      const int32_t x0 = *a++, x1 = *b++, w0 = *w++, w1 = *v++;
      sum00 = micro_add(sum00, x0 * w0);
      sum01 = micro_add(sum01, x0 * w1);
      sum10 = micro_add(sum10, x1 * w0);
      sum11 = micro_add(sum11, x1 * w1);
    }
    const int32_t sums0[2] = {sum00, sum01}, sums1[2] = {sum10, sum11};
    micro_finish(layer, multiplier, shift, sums0, count, y0);
    micro_finish(layer, multiplier, shift, sums1, count, y1);
    w = v;
    bias += 2;
    multiplier += 2;
    shift += 2;
    y0 += 2;
    y1 += 2;
  }
}

/* The results of one row. */
MICRO_SHARED void micro_run_single(const micro_product *p, int8_t *y) {
  const micro_layer *layer = p->layer;
  const int32_t *bias = p->packed, *multiplier = bias + layer->channels;
  const int8_t *shift = (const int8_t *)(multiplier + layer->channels);
  const int8_t *w = shift + (layer->channels + 3) / 4 * 4;
  for (int32_t c = 0; c < layer->channels; ++c) {
    const int8_t *x = p->x[0], *const end = w + layer->terms;
    int32_t sum = bias[c];
    while (w != end) sum = micro_add(sum, *x++ * *w++);
    micro_finish(layer, multiplier + c, shift + c, &sum, 1, y + c);
  }
}

#endif
