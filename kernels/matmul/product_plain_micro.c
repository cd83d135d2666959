/* Matmuls on microcontrollers in plain C.
 *
 * Packed weights:
 *   int32_t bias[channels]
 *   int32_t multiplier[n]    n = channels, or 4 if all are equal
 *   int8_t shift[n]          padded with zeros to a multiple of 4 bytes
 *   int8_t w[channels][terms] */
#include "matmul/product_finish.h"

#if !MICRO_DSP
void micro_run_pair(const micro_product *p, int8_t *y0, int8_t *y1) {
  const micro_layer *layer = p->layer;
  const int32_t factors = layer->has_one ? 4 : layer->channels, step = layer->has_one ? 0 : 2;
  const int32_t *bias = p->packed, *multiplier = bias + layer->channels;
  const int8_t *shift = (const int8_t *)(multiplier + factors), *w = shift + (factors + 3) / 4 * 4;
  for (int32_t rest = layer->channels; rest > 0; rest -= 2) {
    const int32_t count = rest < 2 ? 1 : 2;
    const int8_t *v = count == 2 ? w + layer->terms : w, *const end = w + layer->terms;
    const int8_t *a = p->x[0], *b = p->x[1];
    int32_t sum00 = bias[0], sum01 = bias[count - 1], sum10 = sum00, sum11 = sum01;
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
    multiplier += step;
    shift += step;
    y0 += 2;
    y1 += 2;
  }
}

void micro_run_single(const micro_product *p, int8_t *y) {
  const micro_layer *layer = p->layer;
  const int32_t factors = layer->has_one ? 4 : layer->channels, step = layer->has_one ? 0 : 1;
  const int32_t *bias = p->packed, *multiplier = bias + layer->channels;
  const int8_t *shift = (const int8_t *)(multiplier + factors), *w = shift + (factors + 3) / 4 * 4;
  for (int32_t rest = layer->channels; rest > 0; --rest, multiplier += step, shift += step) {
    const int8_t *x = p->x[0], *const end = w + layer->terms;
    int32_t sum = *bias++;
    while (w != end) sum = micro_add(sum, *x++ * *w++);
    micro_finish(layer, multiplier, shift, &sum, 1, y++);
  }
}

#endif
