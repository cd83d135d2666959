/* Products of stored int8 rows with packed constant weights, on microcontrollers: what convolutions and matrix products
 * have in common. y[c] = stored(bias[c] + sum over k of x[k] * w[c][k]).
 *
 * Packed weights: the table of channels (math/channels_micro.h), then
 *   micro, mve  int8_t w[channels][terms]
 *   dsp         int16_t h[(channels + 1) / 2][(terms + 3) / 4][4]: two channels in one: h = 256 * w[2i + 1] + w[2i], of
 *               the terms 0, 2, 1, 3 of each four.
 *
 * dsp: with x as pairs of 16 bits, both += x * h is 256 times the odd channel's sum plus the even channel's; and
 * low += x * w[2i], whose weights are the low bytes of h, is the even channel's alone. (both - low) / 256 is then the
 * odd channel's: half as many bytes are widened as there would be for each channel on its own. `both` wraps, the
 * difference is exact: of MICRO_SEGMENT terms the odd channel's sum is below 2^23. */
#ifndef MSLITE_PRODUCT_MICRO_H
#define MSLITE_PRODUCT_MICRO_H

#include "math/channels_micro.h"
#include "simd/micro.h"
#if MICRO_MVE
#include "simd/micro_mve.h"
#endif

/* MICRO_PIXELS: rows of x at a time. MICRO_STAGES: rows are copied before the first result is written. */
#if MICRO_MVE
#define MICRO_PIXELS 1
#else
#define MICRO_PIXELS 2
#endif
#if MICRO_DSP && !MICRO_MVE
#define MICRO_STAGES 1
#else
#define MICRO_STAGES 0
#endif
enum { MICRO_SEGMENT = 504 }; /* 504 * 128 * 128 < 2^23 */

/* What is derived of a layer. */
typedef struct {
  int32_t channels, terms;
  int16_t nudge; /* 2 * zero point of y + 1 */
  int8_t low, high;
  int8_t rounding;
  int8_t is_limited; /* low and high are not those of int8 */
} micro_layer;

/* Bytes of the weights behind the table. */
#define micro_weights_size MSLITE_ISA_NAME(mslite_micro_weights_size)
int64_t micro_weights_size(int64_t channels, int64_t terms);

/* Whether weights w[c * channel_step + k * term_step] have a packed form. */
#define micro_weights_fit MSLITE_ISA_NAME(mslite_micro_weights_fit)
bool micro_weights_fit(const int8_t *w, int64_t channels, int64_t terms, int64_t channel_step, int64_t term_step);

#define micro_pack_weights MSLITE_ISA_NAME(mslite_micro_pack_weights)
void micro_pack_weights(const int8_t *w, int64_t channels, int64_t terms, int64_t channel_step, int64_t term_step,
                        void *to);

/* Bytes of the scratch memory for staged rows, a multiple of 4. */
static inline int64_t micro_staging_size(int64_t rows, int64_t terms) {
  return MICRO_STAGES ? (rows < MICRO_PIXELS ? rows : MICRO_PIXELS) * ((terms + 3) / 4 * 8) : 0;
}

static inline void micro_make_layer(micro_layer *layer, int64_t channels, int64_t terms, int32_t y_zero, int32_t low,
                                    int32_t high, int32_t rounding) {
  layer->channels = (int32_t)channels;
  layer->terms = (int32_t)terms;
  layer->nudge = (int16_t)(2 * y_zero + 1);
  layer->low = (int8_t)low;
  layer->high = (int8_t)high;
  layer->rounding = (int8_t)rounding;
  layer->is_limited = low > INT8_MIN || high < INT8_MAX;
}

/* ---- run ---- */

/* A layer, ready to run. */
typedef struct {
  const micro_layer *layer;
  const int32_t *bias, *multiplier;
  const int8_t *shift;
  const int32_t *weights;
#if MICRO_STAGES
  int32_t *staged;
#else
  const int8_t *x[MICRO_PIXELS];
#endif
} micro_product;

MICRO_INLINE void micro_begin(micro_product *p, const micro_layer *layer, const void *packed, void *staging) {
  p->layer = layer;
  p->bias = packed;
  p->multiplier = p->bias + layer->channels;
  p->shift = (const int8_t *)(p->multiplier + layer->channels);
  p->weights = p->multiplier + layer->channels + (layer->channels + 3) / 4;
#if MICRO_STAGES
  p->staged = staging;
#else
  (void)staging;
#endif
}

#if !MICRO_MVE
/* Results of `count` channels from `first` on, of one row. */
MICRO_SHARED void micro_finish(const micro_product *p, int32_t first, int32_t count, const int32_t *sums, int8_t *y) {
  const micro_layer *layer = p->layer;
  for (int32_t i = first; i < first + count; ++i) {
    const int32_t sum = sums[i - first], multiplier = p->multiplier[i], shift = p->shift[i];
    int32_t twice;
    if (layer->rounding == MICRO_ROUNDS_ONCE) {
      twice = micro_rescale_once(sum, multiplier, shift);
    } else if (layer->rounding == MICRO_ROUNDS_TWICE) {
      twice = micro_rescale_twice(sum, multiplier, shift);
    } else {
      twice = micro_rescale_other(sum, multiplier, shift, layer->rounding, layer->nudge);
    }
    y[i] = (int8_t)mslite_limit(micro_stored(twice, layer->nudge), layer->low, layer->high);
  }
}

/* The results of channels `c` and `c` + 1 for two rows. */
MICRO_INLINE void micro_finish_pair(const micro_product *p, int32_t c, const int32_t *sums0, const int32_t *sums1,
                                    int8_t *y0, int8_t *y1) {
  const micro_layer *layer = p->layer;
  const int32_t count = c + 1 < layer->channels ? 2 : 1;
  if (layer->rounding != MICRO_ROUNDS_TWICE || layer->is_limited || count == 1) {
    micro_finish(p, c, count, sums0, y0);
    micro_finish(p, c, count, sums1, y1);
    return;
  }
  const int32_t nudge = layer->nudge;
  int32_t multiplier = p->multiplier[c], shift = p->shift[c];
  y0[c] = (int8_t)micro_stored(micro_rescale_twice(sums0[0], multiplier, shift), nudge);
  y1[c] = (int8_t)micro_stored(micro_rescale_twice(sums1[0], multiplier, shift), nudge);
  multiplier = p->multiplier[c + 1];
  shift = p->shift[c + 1];
  y0[c + 1] = (int8_t)micro_stored(micro_rescale_twice(sums0[1], multiplier, shift), nudge);
  y1[c + 1] = (int8_t)micro_stored(micro_rescale_twice(sums1[1], multiplier, shift), nudge);
}
#endif

#if MICRO_STAGES

/* Takes row `i` of `rows`, as pairs: row i's words 2j and 2j + 1 lie `rows` * 2j + 2i words from the beginning. */
MICRO_SHARED void micro_stage(micro_product *p, int32_t i, int32_t rows, const int8_t *from) {
  int32_t *to = p->staged + 2 * i;
  int32_t rest = p->layer->terms;
  for (; rest >= 4; rest -= 4, from += 4, to += 2 * rows) {
    const uint32_t four = micro_load(from);
    to[0] = micro_even_pair(four);
    to[1] = micro_odd_pair(four);
  }
  if (rest == 0) return;
  uint32_t four = 0;
  for (; rest > 0; --rest) four = four << 8 | (uint8_t)from[rest - 1];
  to[0] = micro_even_pair(four);
  to[1] = micro_odd_pair(four);
}

/* The results of two staged rows. */
MICRO_SHARED void micro_run_pair(const micro_product *p, int8_t *y0, int8_t *y1) {
  const int32_t *w = p->weights, words = (p->layer->terms + 3) / 4 * 2;
  for (int32_t c = 0; c < p->layer->channels; c += 2) {
    int32_t low0 = p->bias[c], low1 = low0, both0 = low0, both1 = low0;
    int32_t odd0 = p->bias[c + 1], odd1 = odd0;
    const int32_t *x = p->staged, *const row_end = w + words;
    do {
      const int32_t *const end = row_end - w > MICRO_SEGMENT / 2 ? w + MICRO_SEGMENT / 2 : row_end;
#define MICRO_GROUP(at)                                       \
  {                                                           \
    const int32_t h0 = w[at], h1 = w[(at) + 1];               \
    const int32_t a0 = x[2 * (at)], a1 = x[2 * (at) + 1];     \
    const int32_t b0 = x[2 * (at) + 2], b1 = x[2 * (at) + 3]; \
    both0 = micro_add_pair(h0, a0, both0);                    \
    both1 = micro_add_pair(h0, b0, both1);                    \
    const int32_t w0 = micro_even_pair((uint32_t)h0);         \
    low0 = micro_add_pair(w0, a0, low0);                      \
    low1 = micro_add_pair(w0, b0, low1);                      \
    both0 = micro_add_pair(h1, a1, both0);                    \
    both1 = micro_add_pair(h1, b1, both1);                    \
    const int32_t w1 = micro_even_pair((uint32_t)h1);         \
    low0 = micro_add_pair(w1, a1, low0);                      \
    low1 = micro_add_pair(w1, b1, low1);                      \
  }
      if ((end - w) & 2) {
        MICRO_GROUP(0)
        w += 2;
        x += 4;
      }
      while (w != end) {
        MICRO_GROUP(0)
        MICRO_GROUP(2)
        w += 4;
        x += 8;
      }
#undef MICRO_GROUP
      odd0 = micro_add(odd0, micro_subtract(both0, low0) >> 8);
      odd1 = micro_add(odd1, micro_subtract(both1, low1) >> 8);
      both0 = low0;
      both1 = low1;
    } while (w != row_end);
    const int32_t sums0[2] = {low0, odd0}, sums1[2] = {low1, odd1};
    micro_finish_pair(p, c, sums0, sums1, y0, y1);
  }
}

/* The results of one row, staged alone. */
MICRO_SHARED void micro_run_single(const micro_product *p, int8_t *y) {
  const int32_t words = (p->layer->terms + 3) / 4 * 2;
  const int32_t *w = p->weights;
  for (int32_t c = 0; c < p->layer->channels; c += 4) {
    const int32_t count = p->layer->channels - c < 4 ? p->layer->channels - c : 4;
    const int32_t *v = count > 2 ? w + words : w;
    int32_t low0 = p->bias[c], both0 = low0, odd0 = p->bias[c + 1], low1 = 0, odd1 = 0;
    if (count > 2) {
      low1 = p->bias[c + 2];
      odd1 = p->bias[c + 3];
    }
    int32_t both1 = low1;
    const int32_t *x = p->staged, *const row_end = w + words;
    do {
      const int32_t *const end = row_end - w > MICRO_SEGMENT / 2 ? w + MICRO_SEGMENT / 2 : row_end;
#define MICRO_GROUP(at)                         \
  {                                             \
    int32_t h0 = w[at], h1 = w[(at) + 1];       \
    const int32_t a0 = x[at], a1 = x[(at) + 1]; \
    both0 = micro_add_pair(h0, a0, both0);      \
    both0 = micro_add_pair(h1, a1, both0);      \
    h0 = micro_even_pair((uint32_t)h0);         \
    h1 = micro_even_pair((uint32_t)h1);         \
    low0 = micro_add_pair(h0, a0, low0);        \
    low0 = micro_add_pair(h1, a1, low0);        \
    h0 = v[at];                                 \
    h1 = v[(at) + 1];                           \
    both1 = micro_add_pair(h0, a0, both1);      \
    both1 = micro_add_pair(h1, a1, both1);      \
    h0 = micro_even_pair((uint32_t)h0);         \
    h1 = micro_even_pair((uint32_t)h1);         \
    low1 = micro_add_pair(h0, a0, low1);        \
    low1 = micro_add_pair(h1, a1, low1);        \
  }
      if ((end - w) & 2) {
        MICRO_GROUP(0)
        w += 2;
        v += 2;
        x += 2;
      }
      while (w != end) {
        MICRO_GROUP(0)
        MICRO_GROUP(2)
        w += 4;
        v += 4;
        x += 4;
      }
#undef MICRO_GROUP
      odd0 = micro_add(odd0, micro_subtract(both0, low0) >> 8);
      odd1 = micro_add(odd1, micro_subtract(both1, low1) >> 8);
      both0 = low0;
      both1 = low1;
    } while (w != row_end);
    const int32_t sums[4] = {low0, odd0, low1, odd1};
    micro_finish(p, c, count, sums, y);
    w = v;
  }
}

#elif MICRO_MVE

MICRO_INLINE void micro_stage(micro_product *p, int32_t i, int32_t rows, const int8_t *from) {
  (void)i;
  (void)rows;
  p->x[0] = from;
}

/* The results of one row. */
MICRO_SHARED void micro_run_single(const micro_product *p, int8_t *y) {
  const micro_layer *layer = p->layer;
  const int32_t terms = layer->terms;
  const int8_t *w0 = (const int8_t *)p->weights;
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
    sums = micro_add_i32x4(sums, micro_load_first_i32x4(p->bias + c, count));
    const micro_i32x4 multiplier = micro_load_first_i32x4(p->multiplier + c, count);
    const micro_i32x4 shift = micro_load_first_bytes(p->shift + c, count);
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

#else

MICRO_INLINE void micro_stage(micro_product *p, int32_t i, int32_t rows, const int8_t *from) {
  (void)rows;
  p->x[i] = from;
}

/* The results of two rows. */
MICRO_SHARED void micro_run_pair(const micro_product *p, int8_t *y0, int8_t *y1) {
  const int32_t terms = p->layer->terms;
  const int8_t *w = (const int8_t *)p->weights;
  for (int32_t c = 0; c < p->layer->channels; c += 2) {
    const int8_t *v = c + 1 < p->layer->channels ? w + terms : w, *const end = w + terms;
    const int8_t *a = p->x[0], *b = p->x[1];
    int32_t sum00 = p->bias[c], sum01 = p->bias[c + 1], sum10 = sum00, sum11 = sum01;
    while (w != end) {
      const int32_t x0 = *a++, x1 = *b++, w0 = *w++, w1 = *v++;
      sum00 = micro_add(sum00, x0 * w0);
      sum01 = micro_add(sum01, x0 * w1);
      sum10 = micro_add(sum10, x1 * w0);
      sum11 = micro_add(sum11, x1 * w1);
    }
    const int32_t sums0[2] = {sum00, sum01}, sums1[2] = {sum10, sum11};
    micro_finish_pair(p, c, sums0, sums1, y0, y1);
    w = v;
  }
}

/* The results of one row. */
MICRO_SHARED void micro_run_single(const micro_product *p, int8_t *y) {
  const int8_t *w = (const int8_t *)p->weights;
  for (int32_t c = 0; c < p->layer->channels; ++c) {
    const int8_t *x = p->x[0], *const end = w + p->layer->terms;
    int32_t sum = p->bias[c];
    while (w != end) sum = micro_add(sum, *x++ * *w++);
    micro_finish(p, c, 1, &sum, y);
  }
}

#endif

/* The results of `rows` staged rows. */
MICRO_INLINE void micro_run_rows(const micro_product *p, int32_t rows, int8_t *y0, int8_t *y1) {
#if MICRO_MVE
  (void)rows;
  (void)y1;
#else
  if (rows == 2) {
    micro_run_pair(p, y0, y1);
    return;
  }
#endif
  micro_run_single(p, y0);
}

#endif
