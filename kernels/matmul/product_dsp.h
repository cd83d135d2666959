/* Products for microcontrollers with the DSP instructions; included by matmul/product_micro.h.
 *
 * Packed weights, of each pair of channels (an odd last one is paired with zeros):
 *   int32_t bias                    of the even channel
 *   int16_t h[(terms + 3) / 4][4]   two channels in one: h = 256 * w[2i + 1] + w[2i], terms 0, 2, 1, 3 of each four
 *   int32_t bias                    of the odd channel
 *   int32_t multiplier[2]
 * and then int8_t shift[channels], filled up to a multiple of 4 bytes.
 *
 * Let x be pairs of 16 bits. both += x * h is 256 times the odd channel's sum plus the even channel's, and
 * low += x * w[2i], whose weights are the low bytes of h, is the even channel's alone; (both - low) / 256 is then the
 * odd channel's. So half as many bytes are widened as if each channel were on its own. `both` wraps, the difference is
 * exact while the odd channel's sum is below 2^23: that of MICRO_SEGMENT always is. */
#ifndef MSLITE_PRODUCT_DSP_H
#define MSLITE_PRODUCT_DSP_H

enum { MICRO_SEGMENT = 504 / 2 }; /* words; 504 * 128 * 128 < 2^23 */

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

/* Takes row `i` of `rows`, as pairs: row i's words 2j and 2j + 1 lie `rows` * 2j + 2i words from the beginning. */
MICRO_SHARED void micro_stage(micro_product *p, int32_t i, int32_t rows, const int8_t *from) {
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

/* Runs MICRO_GROUP over all words of a row: four groups of two words at a time, the first time as many as are over.
 * `rows`: of x. */
#define MICRO_ALL_GROUPS(w, v, x, rows, begin, end)      \
  {                                                      \
    const int32_t over = (int32_t)((end) - (begin)) & 7; \
    const int32_t first = over == 0 ? 8 : over;          \
    w += first;                                          \
    v += first;                                          \
    x += (rows)*first;                                   \
    switch (over) {                                      \
      default:                                           \
        for (;;) {                                       \
          MICRO_GROUP(-8)                                \
          /* fall through */                             \
          case 6:                                        \
            MICRO_GROUP(-6)                              \
            /* fall through */                           \
          case 4:                                        \
            MICRO_GROUP(-4)                              \
            /* fall through */                           \
          case 2:                                        \
            MICRO_GROUP(-2)                              \
            if (w == (end)) break;                       \
            w += 8;                                      \
            v += 8;                                      \
            x += (rows)*8;                               \
        }                                                \
    }                                                    \
  }

/* Four terms of two staged rows. */
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

/* Limits `count` results to [low, high]. */
MICRO_SHARED void micro_limit(const micro_layer *layer, int8_t *y, int32_t count) {
  for (; count > 0; --count, ++y) *y = (int8_t)mslite_limit(*y, layer->low, layer->high);
}

/* The results of two staged rows, of layers that take two at a time. */
MICRO_SHARED void micro_run_pair(const micro_product *p, int8_t *y0, int8_t *y1) {
  const micro_layer *layer = p->layer;
  const int32_t words = (layer->terms + 3) / 4 * 2;
  const int32_t *w = p->packed;
  const int8_t *shift = (const int8_t *)(w + layer->channels / 2 * (words + 4)), *const last = shift + layer->channels;
  do {
    int32_t low0 = *w++, low1 = low0, both0 = low0, both1 = low0, unused = 0;
    const int32_t *x = p->staged, *const begin = w, *const end = w + words;
    MICRO_ALL_GROUPS(w, unused, x, 2, begin, end)
    (void)unused;
    const int32_t nudge = layer->nudge, odd0 = micro_add(w[0], micro_subtract(both0, low0) >> 8);
    const int32_t odd1 = micro_add(w[0], micro_subtract(both1, low1) >> 8);
    if (layer->rounding == MICRO_ROUNDS_TWICE) {
      int32_t multiplier = w[1], right = shift[0];
      y0[0] = (int8_t)micro_stored(micro_rescale_twice(low0, multiplier, right), nudge);
      y1[0] = (int8_t)micro_stored(micro_rescale_twice(low1, multiplier, right), nudge);
      multiplier = w[2];
      right = shift[1];
      y0[1] = (int8_t)micro_stored(micro_rescale_twice(odd0, multiplier, right), nudge);
      y1[1] = (int8_t)micro_stored(micro_rescale_twice(odd1, multiplier, right), nudge);
    } else {
      const int32_t sums0[2] = {low0, odd0}, sums1[2] = {low1, odd1};
      micro_finish(layer, w + 1, shift, sums0, 2, y0);
      micro_finish(layer, w + 1, shift, sums1, 2, y1);
    }
    w += 3;
    shift += 2;
    y0 += 2;
    y1 += 2;
  } while (shift != last);
  if (layer->is_limited) {
    micro_limit(layer, y0 - layer->channels, layer->channels);
    micro_limit(layer, y1 - layer->channels, layer->channels);
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

/* The results of one row, staged alone. */
MICRO_SHARED void micro_run_single(const micro_product *p, int8_t *y) {
  const micro_layer *layer = p->layer;
  const int32_t words = (layer->terms + 3) / 4 * 2;
  const int32_t *w = p->packed;
  const int8_t *shift = (const int8_t *)(w + (layer->channels + 1) / 2 * (words + 4));
  for (int32_t rest = layer->channels; rest > 0; rest -= 4) {
    const int32_t *v = rest > 2 ? w + words + 4 : w; /* the next pair of channels, if there is one */
    int32_t sums[4];
    sums[1] = w[words + 1];
    sums[3] = v[words + 1];
    int32_t low0 = *w++, low1 = *v++, both0 = low0, both1 = low1;
    const int32_t *x = p->staged, *const row_end = w + words;
    do {
      const int32_t *const begin = w, *const end = row_end - w > MICRO_SEGMENT ? w + MICRO_SEGMENT : row_end;
      MICRO_ALL_GROUPS(w, v, x, 1, begin, end)
      sums[1] = micro_add(sums[1], micro_subtract(both0, low0) >> 8);
      sums[3] = micro_add(sums[3], micro_subtract(both1, low1) >> 8);
      both0 = low0;
      both1 = low1;
    } while (w != row_end);
    if (layer->rounding == MICRO_ROUNDS_ONCE && !layer->is_limited && rest >= 4) {
      const int32_t nudge = layer->nudge;
      y[0] = (int8_t)micro_stored(micro_rescale_once(low0, w[1], shift[0]), nudge);
      y[1] = (int8_t)micro_stored(micro_rescale_once(sums[1], w[2], shift[1]), nudge);
      y[2] = (int8_t)micro_stored(micro_rescale_once(low1, v[1], shift[2]), nudge);
      y[3] = (int8_t)micro_stored(micro_rescale_once(sums[3], v[2], shift[3]), nudge);
    } else {
      sums[0] = low0;
      sums[2] = low1;
      micro_finish(layer, w + 1, shift, sums, rest < 2 ? rest : 2, y);
      if (rest > 2) micro_finish(layer, v + 1, shift + 2, sums + 2, rest < 4 ? 1 : 2, y + 2);
    }
    w = v + 3;
    shift += 4;
    y += 4;
  }
}
#undef MICRO_GROUP
#undef MICRO_ALL_GROUPS

#endif
