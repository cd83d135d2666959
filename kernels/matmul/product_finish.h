/* Converts sums to results one by one, for matmul/product_plain_micro.c and product_dsp_micro.c. */
#ifndef MSLITE_PRODUCT_FINISH_H
#define MSLITE_PRODUCT_FINISH_H

#include "matmul/product_micro.h"

/* Stores the results of `count` channels of one row. */
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
    *y++ = (int8_t)mslite_clamp(micro_requantized(twice, layer->nudge), layer->low, layer->high);
  }
}

#endif
