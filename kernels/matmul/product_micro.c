/* The packed form of int8 weights for microcontrollers. Runs on the host only. */
#include "matmul/product_micro.h"

static int32_t weight_at(const micro_weights *weights, int64_t channel, int64_t term) {
  if (channel >= weights->channels || term >= weights->terms) return 0;
  return weights->w[channel * weights->channel_step + term * weights->term_step];
}

/* Whether the layer can be run by micro_run_pair. */
static bool has_pairs(const micro_weights *weights, int32_t rounding) {
  if (!MICRO_STAGES) return true;
  if ((rounding != MICRO_ROUNDS_TWICE && rounding != MICRO_ROUNDS_WIDE) || weights->channels % 2 != 0) return false;
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
  layer->rounding = (int8_t)micro_make_table(node, weights->channels, weights->channel_of, weights->once, NULL);
  layer->is_limited = low > INT8_MIN || high < INT8_MAX;
  layer->rows = has_pairs(weights, layer->rounding) ? MICRO_ROWS : 1;
}

#if MICRO_STAGES
int64_t micro_packed_size(int64_t channels, int64_t terms) {
  return (channels + 1) / 2 * ((terms + 3) / 4 * 8 + 16) + (channels + 3) / 4 * 4;
}

bool micro_weights_fit(const mslite_node *node, const micro_weights *weights) {
  for (int64_t c = 0; c < weights->channels; c += 2) {
    for (int64_t k = 0; k < weights->terms; ++k) {
      /* 256 * -128 less something is no integer of 16 bits. */
      if (weight_at(weights, c + 1, k) == INT8_MIN && weight_at(weights, c, k) < 0) return false;
    }
  }
  return micro_make_table(node, weights->channels, weights->channel_of, weights->once, NULL) >= 0;
}

void micro_pack(const mslite_node *node, const micro_weights *weights, void *packed) {
  const int64_t padded = (weights->terms + 3) / 4 * 4, channels = weights->channels;
  const int32_t rounding = micro_make_table(node, channels, weights->channel_of, weights->once, NULL);
  memset(packed, 0, (size_t)micro_packed_size(channels, weights->terms));
  int32_t *to = packed;
  int8_t *shift = (int8_t *)packed + (channels + 1) / 2 * (padded * 2 + 16);
  for (int64_t c = 0; c < channels; c += 2) {
    int32_t *const behind = to + 1 + padded / 2;
    for (int32_t i = 0; i < 2 && c + i < channels; ++i) {
      const micro_numbers numbers = micro_make_numbers(node, c + i, weights->channel_of, rounding);
      *(i == 0 ? to : behind) = numbers.bias;
      behind[1 + i] = numbers.multiplier;
      *shift++ = numbers.shift;
    }
    int16_t *next = (int16_t *)(void *)(to + 1);
    for (int64_t i = 0; i < padded; ++i) {
      const int64_t k = i / 4 * 4 + i % 2 * 2 + i % 4 / 2; /* 0, 2, 1, 3 */
      *next++ = (int16_t)(256 * weight_at(weights, c + 1, k) + weight_at(weights, c, k));
    }
    to = behind + 3;
  }
}
#elif MICRO_MVE
int64_t micro_packed_size(int64_t channels, int64_t terms) { return (channels + 3) / 4 * (36 + 4 * terms) + 12; }

bool micro_weights_fit(const mslite_node *node, const micro_weights *weights) {
  return micro_make_table(node, weights->channels, weights->channel_of, weights->once, NULL) >= 0;
}

void micro_pack(const mslite_node *node, const micro_weights *weights, void *packed) {
  const int64_t channels = weights->channels, terms = weights->terms;
  const int32_t rounding = micro_make_table(node, channels, weights->channel_of, weights->once, NULL);
  memset(packed, 0, (size_t)micro_packed_size(channels, terms));
  int8_t *to = packed;
  for (int64_t c = 0; c < channels; c += 4, to += 36 + 4 * terms) {
    int32_t *const bias = (int32_t *)(void *)to, *const multiplier = bias + 4 + terms;
    int8_t *const shift = (int8_t *)(multiplier + 4), *const w = to + 16;
    for (int32_t i = 0; i < 4 && c + i < channels; ++i) {
      const micro_numbers numbers = micro_make_numbers(node, c + i, weights->channel_of, rounding);
      bias[i] = numbers.bias;
      multiplier[i] = numbers.multiplier;
      shift[i] = numbers.shift;
      for (int64_t k = 0; k < terms; ++k) {
        const int64_t chunk = k / 16 * 16, width = terms - chunk < 16 ? terms - chunk : 16;
        w[4 * chunk + i * width + k - chunk] = (int8_t)weight_at(weights, c + i, k);
      }
    }
  }
}
#else
int64_t micro_packed_size(int64_t channels, int64_t terms) { return micro_table_size(channels) + channels * terms; }

bool micro_weights_fit(const mslite_node *node, const micro_weights *weights) {
  return micro_make_table(node, weights->channels, weights->channel_of, weights->once, NULL) >= 0;
}

void micro_pack(const mslite_node *node, const micro_weights *weights, void *packed) {
  micro_make_table(node, weights->channels, weights->channel_of, weights->once, packed);
  int8_t *next = (int8_t *)packed + micro_table_size(weights->channels);
  for (int64_t c = 0; c < weights->channels; ++c) {
    for (int64_t k = 0; k < weights->terms; ++k)
      *next++ = weights->w[c * weights->channel_step + k * weights->term_step];
  }
}
#endif
