/* The packed form of int8 weights for microcontrollers. Runs on the host only. */
#include "matmul/product_micro.h"

#if MICRO_STAGES
int64_t micro_weights_size(int64_t channels, int64_t terms) { return (channels + 1) / 2 * ((terms + 3) / 4 * 8); }

bool micro_weights_fit(const int8_t *w, int64_t channels, int64_t terms, int64_t channel_step, int64_t term_step) {
  for (int64_t c = 1; c < channels; c += 2) {
    for (int64_t k = 0; k < terms; ++k) {
      /* 256 * -128 less something is no integer of 16 bits. */
      const int8_t *even = w + (c - 1) * channel_step + k * term_step;
      if (even[channel_step] == INT8_MIN && *even < 0) return false;
    }
  }
  return true;
}

void micro_pack_weights(const int8_t *w, int64_t channels, int64_t terms, int64_t channel_step, int64_t term_step,
                        void *to) {
  int16_t *next = to;
  for (int64_t c = 0; c < channels; c += 2) {
    for (int64_t i = 0; i < (terms + 3) / 4 * 4; ++i) {
      const int64_t k = i / 4 * 4 + i % 2 * 2 + i % 4 / 2; /* 0, 2, 1, 3 */
      const int8_t *even = w + c * channel_step + k * term_step;
      const int32_t low = k < terms ? even[0] : 0, high = k < terms && c + 1 < channels ? even[channel_step] : 0;
      *next++ = (int16_t)(256 * high + low);
    }
  }
}
#else
int64_t micro_weights_size(int64_t channels, int64_t terms) { return channels * terms; }

bool micro_weights_fit(const int8_t *w, int64_t channels, int64_t terms, int64_t channel_step, int64_t term_step) {
  (void)w, (void)channels, (void)terms, (void)channel_step, (void)term_step;
  return true;
}

void micro_pack_weights(const int8_t *w, int64_t channels, int64_t terms, int64_t channel_step, int64_t term_step,
                        void *to) {
  int8_t *next = to;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t k = 0; k < terms; ++k) *next++ = w[c * channel_step + k * term_step];
  }
}
#endif
