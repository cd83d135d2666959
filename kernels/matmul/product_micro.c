/* Packs int8 weights for microcontrollers. Runs only on the host. */
#include "matmul/product_micro.h"

static int32_t weight_at(const micro_weights *weights, int64_t channel, int64_t term) {
  if (channel >= weights->channels || term >= weights->terms) return 0;
  return weights->w[channel * weights->channel_step + term * weights->term_step];
}

/* Returns whether micro_run_pair can run the layer. */
static bool has_pairs(const micro_weights *weights, int32_t rounding) {
  if (!MICRO_STAGES) return true;
  if (rounding != MICRO_ROUNDS_TWICE && rounding != MICRO_ROUNDS_WIDE) return false;
  for (int64_t c = 1; c < weights->channels; c += 2) {
    int64_t magnitude = 0;
    for (int64_t k = 0; k < weights->terms; ++k) {
      const int32_t value = weight_at(weights, c, k);
      magnitude += value < 0 ? -value : value;
    }
    if (magnitude * 128 >= (int64_t)1 << 23) return false;
  }
  return true;
}

void micro_make_layer(const mslite_node *node, const micro_weights *weights, int32_t y_zero, int32_t low, int32_t high,
                      micro_layer *layer) {
  memset(layer, 0, sizeof *layer);
  layer->channels = (int32_t)weights->channels;
  layer->terms = (int32_t)weights->terms;
  layer->nudge = (int16_t)(2 * y_zero + 1);
  layer->low = (int8_t)low;
  layer->high = (int8_t)high;
  const micro_factors factors = micro_factors_of(node, weights->channels, weights->channel_of, weights->once);
  layer->rounding = (int8_t)factors.rounding;
  layer->has_one = factors.has_one;
  layer->is_limited = low > INT8_MIN || high < INT8_MAX;
  layer->rows = has_pairs(weights, layer->rounding) ? MICRO_ROWS : 1;
}

static micro_factors factors_of(const mslite_node *node, const micro_weights *weights) {
  return micro_factors_of(node, weights->channels, weights->channel_of, weights->once);
}

static int64_t round_up(int64_t count, int64_t to) { return (count + to - 1) / to * to; }

#if MICRO_STAGES
int64_t micro_packed_size(const mslite_node *node, const micro_weights *weights) {
  const int64_t channels = weights->channels, factors = factors_of(node, weights).has_one ? 4 : channels;
  return round_up(channels, 2) / 2 * (round_up(weights->terms, 4) * 2 + 8) + round_up(factors, 2) * 4 +
         round_up(factors, 4);
}

bool micro_weights_fit(const mslite_node *node, const micro_weights *weights) {
  for (int64_t c = 0; c < weights->channels; c += 2) {
    for (int64_t k = 0; k < weights->terms; ++k) {
      /* 256 * -128 plus a negative value does not fit 16 bits. */
      if (weight_at(weights, c + 1, k) == INT8_MIN && weight_at(weights, c, k) < 0) return false;
    }
  }
  return factors_of(node, weights).rounding >= 0;
}

void micro_pack(const mslite_node *node, const micro_weights *weights, void *packed) {
  const int64_t padded = round_up(weights->terms, 4), channels = weights->channels;
  const micro_factors factors = factors_of(node, weights);
  memset(packed, 0, (size_t)micro_packed_size(node, weights));
  int32_t *to = packed;
  for (int64_t c = 0; c < channels; c += 2) {
    *to++ = micro_make_numbers(node, c, weights->channel_of, &factors).bias;
    int16_t *next = (int16_t *)(void *)to;
    for (int64_t i = 0; i < padded; ++i) {
      const int64_t k = i / 4 * 4 + i % 2 * 2 + i % 4 / 2; /* 0, 2, 1, 3 */
      *next++ = (int16_t)(256 * weight_at(weights, c + 1, k) + weight_at(weights, c, k));
    }
    to += padded / 2;
    *to++ = c + 1 < channels ? micro_make_numbers(node, c + 1, weights->channel_of, &factors).bias : 0;
  }
  const int64_t count = factors.has_one ? 4 : channels;
  int8_t *const shift = (int8_t *)(to + round_up(count, 2));
  for (int64_t i = 0; i < count; ++i) {
    const micro_numbers numbers = micro_make_numbers(node, i < channels ? i : 0, weights->channel_of, &factors);
    to[i] = numbers.multiplier;
    shift[i] = numbers.shift;
  }
}
#elif MICRO_MVE
enum { FACTORS = 20 }; /* bytes per four channels */

/* Returns the bytes of biases and weights. */
static int64_t sums_size(const micro_weights *weights) {
  const int64_t rest = weights->channels % 4;
  return weights->channels / 4 * (16 + 4 * weights->terms) + round_up(rest * (4 + weights->terms), 4);
}

int64_t micro_packed_size(const mslite_node *node, const micro_weights *weights) {
  const int64_t rest = weights->channels % 4;
  const int64_t factors = weights->channels / 4 * FACTORS + (rest == 0 ? 0 : 4 * rest + 4);
  return sums_size(weights) + (factors_of(node, weights).has_one ? FACTORS : factors);
}

bool micro_weights_fit(const mslite_node *node, const micro_weights *weights) {
  return factors_of(node, weights).rounding >= 0;
}

void micro_pack(const mslite_node *node, const micro_weights *weights, void *packed) {
  const int64_t channels = weights->channels, terms = weights->terms;
  const micro_factors factors = factors_of(node, weights);
  memset(packed, 0, (size_t)micro_packed_size(node, weights));
  int8_t *const behind = (int8_t *)packed + sums_size(weights);
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t first = c / 4 * 4, count = channels - first < 4 ? channels - first : 4;
    int8_t *const group = (int8_t *)packed + c / 4 * (16 + 4 * terms), *const w = group + 4 * count;
    const micro_numbers numbers = micro_make_numbers(node, c, weights->channel_of, &factors);
    ((int32_t *)(void *)group)[c - first] = numbers.bias;
    if (!factors.has_one) {
      int8_t *const block = behind + c / 4 * FACTORS;
      ((int32_t *)(void *)block)[c - first] = numbers.multiplier;
      block[4 * count + c - first] = numbers.shift;
    }
    for (int64_t k = 0; k < terms; ++k) {
      const int64_t chunk = k / 16 * 16, width = terms - chunk < 16 ? terms - chunk : 16;
      const int64_t at = count == 4 ? 4 * chunk + (c - first) * width + k - chunk : (c - first) * terms + k;
      w[at] = (int8_t)weight_at(weights, c, k);
    }
  }
  for (int64_t i = 0; i < 4 && factors.has_one; ++i) {
    ((int32_t *)(void *)behind)[i] = factors.one.multiplier;
    behind[16 + i] = factors.one.shift;
  }
}
#else
int64_t micro_packed_size(const mslite_node *node, const micro_weights *weights) {
  const int64_t channels = weights->channels, factors = factors_of(node, weights).has_one ? 4 : channels;
  return (channels + factors) * 4 + round_up(factors, 4) + channels * weights->terms;
}

bool micro_weights_fit(const mslite_node *node, const micro_weights *weights) {
  return factors_of(node, weights).rounding >= 0;
}

void micro_pack(const mslite_node *node, const micro_weights *weights, void *packed) {
  const int64_t channels = weights->channels;
  const micro_factors factors = factors_of(node, weights);
  const int64_t count = factors.has_one ? 4 : channels;
  memset(packed, 0, (size_t)micro_packed_size(node, weights));
  int32_t *const bias = packed, *const multiplier = bias + channels;
  int8_t *const shift = (int8_t *)(multiplier + count), *next = shift + round_up(count, 4);
  for (int64_t c = 0; c < channels || c < count; ++c) {
    const micro_numbers numbers =
        c < channels ? micro_make_numbers(node, c, weights->channel_of, &factors) : factors.one;
    if (c < channels) bias[c] = numbers.bias;
    if (c < count) {
      multiplier[c] = numbers.multiplier;
      shift[c] = numbers.shift;
    }
    for (int64_t k = 0; k < weights->terms && c < channels; ++k) *next++ = (int8_t)weight_at(weights, c, k);
  }
}
#endif
