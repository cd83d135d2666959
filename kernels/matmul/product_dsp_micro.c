/* Matmuls on microcontrollers with DSP instructions.
 *
 * Packed weights, for each pair of channels (a single last one is paired with zeros):
 *   int32_t bias                   of the even channel
 *   int16_t h[(terms + 3) / 4][4]  two channels in one: h = 256 * w[2i + 1] + w[2i], terms 0, 2, 1, 3 of each four
 *   int32_t bias                   of the odd channel
 * followed, with n channels, or n = 4 if all are equal, by
 *   int32_t multiplier[n]          n padded to a multiple of 2
 *   int8_t shift[n]                n padded to a multiple of 4
 *
 * x is read as pairs of 16 bits. both += x * h is 256 times the odd channel's sum plus the even channel's. low += x
 * * w[2i], whose weights are the low bytes of h, is the even channel's sum. (both - low) / 256 is then the odd
 * channel's. So only half as many bytes are widened as with separate channels. `both` wraps around; the difference
 * is exact while the odd channel's sum is below 2^23, which always holds for MICRO_SEGMENT terms. */
#include "matmul/product_finish.h"

#if MICRO_STAGES
enum { MICRO_SEGMENT = 496 / 2 }; /* words, whole groups of eight; 496 * 128 * 128 < 2^23 */

/* As pairs: row i's words 2j and 2j + 1 are at offset `rows` * 2j + 2i. */
void micro_stage(micro_product *p, int32_t i, int32_t rows, const int8_t *from) {
  int32_t *to = p->staged + 2 * i;
  const int32_t step = 2 * rows, terms = p->layer->terms;
  const int8_t *const end = from + terms / 8 * 8;
  while (from != end) {
    const uint32_t four = micro_load(from), next = micro_load(from + 4);
    to[0] = micro_even_pair(four);
    to[1] = micro_odd_pair(four);
    to += step;
    to[0] = micro_even_pair(next);
    to[1] = micro_odd_pair(next);
    to += step;
    from += 8;
  }
  if ((terms & 4) != 0) {
    const uint32_t four = micro_load(from);
    to[0] = micro_even_pair(four);
    to[1] = micro_odd_pair(four);
    to += step;
    from += 4;
  }
  if ((terms & 3) != 0) {
    uint32_t four = 0;
    for (int32_t rest = terms & 3; rest > 0; --rest) four = four << 8 | (uint8_t)from[rest - 1];
    to[0] = micro_even_pair(four);
    to[1] = micro_odd_pair(four);
  }
}

/* Four terms of two channels and two rows, at the words `at`. */
#define MICRO_GROUP(at)                                                                               \
  {                                                                                                   \
    const int32_t h0 = w[at], h1 = w[(at) + 1];                                                       \
    const int32_t a0 = x[2 * (at)], a1 = x[2 * (at) + 1], b0 = x[2 * (at) + 2], b1 = x[2 * (at) + 3]; \
    both0 = micro_add_pair(h0, a0, both0);                                                            \
    both1 = micro_add_pair(h0, b0, both1);                                                            \
    const int32_t w0 = micro_even_pair((uint32_t)h0);                                                 \
    low0 = micro_add_pair(w0, a0, low0);                                                              \
    low1 = micro_add_pair(w0, b0, low1);                                                              \
    both0 = micro_add_pair(h1, a1, both0);                                                            \
    both1 = micro_add_pair(h1, b1, both1);                                                            \
    const int32_t w1 = micro_even_pair((uint32_t)h1);                                                 \
    low0 = micro_add_pair(w1, a1, low0);                                                              \
    low1 = micro_add_pair(w1, b1, low1);                                                              \
  }

/* Clamps `count` results to [low, high]. */
MICRO_SHARED void micro_limit(const micro_layer *layer, int8_t *y, int32_t count) {
  for (; count > 0; --count, ++y) *y = (int8_t)mslite_clamp(*y, layer->low, layer->high);
}

/* Returns the address of the factors, after the pairs of channels. */
MICRO_INLINE const int32_t *micro_multipliers_at(const micro_product *p, int32_t words) {
  return p->packed + (p->layer->channels + 1) / 2 * (words + 2);
}
MICRO_INLINE const int8_t *micro_shifts_at(const micro_layer *layer, const int32_t *multipliers) {
  return (const int8_t *)(multipliers + (layer->has_one ? 4 : (layer->channels + 1) / 2 * 2));
}

/* For layers whose odd channels have sums below 2^23. */
void micro_run_pair(const micro_product *p, int8_t *y0, int8_t *y1) {
  const micro_layer *layer = p->layer;
  const int32_t words = (layer->terms + 3) / 4 * 2, step = layer->has_one ? 0 : 2;
  const int32_t *w = p->packed, *multiplier = micro_multipliers_at(p, words);
  const int8_t *shift = micro_shifts_at(layer, multiplier);
  const int8_t *const last = y0 + layer->channels;
  /* Before these, both channels of a pair exist and are rounded twice. */
  const int8_t *const usual = layer->rounding == MICRO_ROUNDS_TWICE ? y0 + (layer->channels & ~1) : y0;
  do {
    int32_t low0 = *w++, low1 = low0, both0 = low0, both1 = low0;
    const int32_t *x = p->staged, *const end = w + words, *const fours = w + (words & ~7);
    for (; w != fours; w += 8, x += 16) {
      MICRO_GROUP(0)
      MICRO_GROUP(2)
      MICRO_GROUP(4)
      MICRO_GROUP(6)
    }
    if ((words & 4) != 0) {
      MICRO_GROUP(0)
      MICRO_GROUP(2)
      w += 4;
      x += 8;
    }
    if ((words & 2) != 0) {
      MICRO_GROUP(0)
    }
    w = end;
    const int32_t nudge = layer->nudge, bias = *w++;
    const int32_t odd0 = micro_add(bias, micro_subtract(both0, low0) >> 8);
    const int32_t odd1 = micro_add(bias, micro_subtract(both1, low1) >> 8);
    if (y0 < usual) {
      int32_t factor = multiplier[0], right = shift[0];
      y0[0] = (int8_t)micro_requantized(micro_rescale_twice(low0, factor, right), nudge);
      y1[0] = (int8_t)micro_requantized(micro_rescale_twice(low1, factor, right), nudge);
      factor = multiplier[1];
      right = shift[1];
      y0[1] = (int8_t)micro_requantized(micro_rescale_twice(odd0, factor, right), nudge);
      y1[1] = (int8_t)micro_requantized(micro_rescale_twice(odd1, factor, right), nudge);
    } else {
      const int32_t sums0[2] = {low0, odd0}, sums1[2] = {low1, odd1}, count = last - y0 == 1 ? 1 : 2;
      micro_finish(layer, multiplier, shift, sums0, count, y0);
      micro_finish(layer, multiplier, shift, sums1, count, y1);
    }
    multiplier += step;
    shift += step;
    y0 += 2;
    y1 += 2;
  } while (y0 < last);
  if (layer->is_limited) {
    const int32_t passed = (layer->channels + 1) & ~1;
    micro_limit(layer, y0 - passed, layer->channels);
    micro_limit(layer, y1 - passed, layer->channels);
  }
}

#undef MICRO_GROUP
/* Four terms of four channels. */
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

void micro_run_single(const micro_product *p, int8_t *y) {
  const micro_layer *layer = p->layer;
  const int32_t words = (layer->terms + 3) / 4 * 2, step = layer->has_one ? 0 : 4;
  const int32_t *w = p->packed, *multiplier = micro_multipliers_at(p, words);
  const int8_t *shift = micro_shifts_at(layer, multiplier);
  for (int32_t rest = layer->channels; rest > 0; rest -= 4, multiplier += step, shift += step, y += 4) {
    const int32_t *v = rest > 2 ? w + words + 2 : w; /* the next pair of channels, if there is one */
    int32_t sums[4];
    sums[1] = w[words + 1];
    sums[3] = v[words + 1];
    int32_t low0 = *w++, low1 = *v++, both0 = low0, both1 = low1;
    const int32_t *x = p->staged;
    for (int32_t left = words; left > 0;) {
      const int32_t now = left > MICRO_SEGMENT ? MICRO_SEGMENT : left;
      for (const int32_t *const fours = w + (now & ~7); w != fours; w += 8, v += 8, x += 8) {
        MICRO_GROUP(0)
        MICRO_GROUP(2)
        MICRO_GROUP(4)
        MICRO_GROUP(6)
      }
      for (const int32_t *const end = w + (now & 6); w != end; w += 2, v += 2, x += 2) {
        MICRO_GROUP(0)
      }
      left -= now;
      sums[1] = micro_add(sums[1], micro_subtract(both0, low0) >> 8);
      sums[3] = micro_add(sums[3], micro_subtract(both1, low1) >> 8);
      both0 = low0;
      both1 = low1;
    }
    if (layer->rounding == MICRO_ROUNDS_ONCE && !layer->is_limited && rest >= 4) {
      const int32_t nudge = layer->nudge;
      y[0] = (int8_t)micro_requantized(micro_rescale_once(low0, multiplier[0], shift[0]), nudge);
      y[1] = (int8_t)micro_requantized(micro_rescale_once(sums[1], multiplier[1], shift[1]), nudge);
      y[2] = (int8_t)micro_requantized(micro_rescale_once(low1, multiplier[2], shift[2]), nudge);
      y[3] = (int8_t)micro_requantized(micro_rescale_once(sums[3], multiplier[3], shift[3]), nudge);
    } else {
      sums[0] = low0;
      sums[2] = low1;
      micro_finish(layer, multiplier, shift, sums, rest < 4 ? rest : 4, y);
    }
    w = v + 1;
  }
}
#undef MICRO_GROUP

#endif
