/* Sums over rows of [row][channel], for gradient kernels: one part is some rows of some channels. Runs of a few rows
 * are summed in float32, the runs in float64. Each part writes its own sums, which a later phase adds in order. */
#ifndef MSLITE_TRAINING_CHANNEL_SUMS_H
#define MSLITE_TRAINING_CHANNEL_SUMS_H

#include "kernel.h"
#include "simd/simd.h"

enum {
  CHANNEL_BLOCK = 64, /* the last one may be up to twice as large, so that it has at least one vector */
  CHANNEL_VECTORS = 4,
  CHANNEL_RUN = 16,       /* rows per float32 sum */
  CHANNEL_PART = 1 << 15, /* elements */
  CHANNEL_MOST_ROW_BLOCKS = 16
};

typedef struct {
  int64_t rows, channels;
  int64_t row_block, row_blocks;
  int64_t channel_blocks;
} channel_plan;

/* Returns false if the number of parts would exceed 32 bits. */
static inline bool channel_plan_of(int64_t rows, int64_t channels, channel_plan *plan) {
  plan->rows = rows;
  plan->channels = channels;
  plan->channel_blocks = channels < CHANNEL_BLOCK ? channels > 0 : channels / CHANNEL_BLOCK;
  int64_t blocks = rows * (channels < CHANNEL_BLOCK ? channels : CHANNEL_BLOCK) / CHANNEL_PART;
  if (blocks > CHANNEL_MOST_ROW_BLOCKS) blocks = CHANNEL_MOST_ROW_BLOCKS;
  if (blocks < 1) blocks = 1;
  plan->row_block = rows < 1 ? 1 : (rows + blocks - 1) / blocks;
  plan->row_blocks = rows < 1 ? 1 : (rows + plan->row_block - 1) / plan->row_block;
  return plan->channel_blocks <= INT32_MAX / CHANNEL_MOST_ROW_BLOCKS;
}

static inline int32_t channel_parts(const channel_plan *plan) {
  return (int32_t)(plan->row_blocks * plan->channel_blocks);
}

/* The rows and channels of one part. */
typedef struct {
  int64_t block, first_row, rows;
  int64_t channel, channels;
} channel_part;

static inline channel_part channel_part_of(const channel_plan *plan, int32_t part) {
  channel_part found;
  const int64_t across = part % plan->channel_blocks;
  found.block = part / plan->channel_blocks;
  found.first_row = found.block * plan->row_block;
  found.rows = plan->rows - found.first_row < plan->row_block ? plan->rows - found.first_row : plan->row_block;
  found.channel = across * CHANNEL_BLOCK;
  found.channels = across + 1 == plan->channel_blocks ? plan->channels - found.channel : CHANNEL_BLOCK;
  return found;
}

/* Adds sum to total, for lanes [first, last). */
SIMD_INLINE void channel_add(double *total, simd_f32 sum, int64_t first, int64_t last) {
  float values[SIMD_WIDTH];
  simd_store_f32(values, sum);
  for (int64_t i = first; i < last; ++i) total[i] += (double)values[i];
}

enum { CHANNEL_PLAIN, CHANNEL_SQUARES, CHANNEL_PRODUCTS };

/* For `vectors` vectors of channels: sums of a only, of d = a - center and d d, or of a and a (b - center).
 * `skipped` lanes belong to the previous vector. */
SIMD_INLINE void channel_sum_vectors(const int32_t kind, const float *a, const float *b, const float *center,
                                     int64_t step, int64_t rows, const int32_t vectors, const int32_t lanes,
                                     int64_t skipped, double *first, double *second) {
  simd_f32 middle[CHANNEL_VECTORS];
  SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
    middle[v] = kind == CHANNEL_PLAIN ? simd_set(0.0f) : simd_load_lanes_f32(center + v * SIMD_WIDTH, lanes);
  }
  for (int64_t row = 0; row < rows; row += CHANNEL_RUN) {
    const int64_t count = rows - row < CHANNEL_RUN ? rows - row : CHANNEL_RUN;
    simd_f32 sum[CHANNEL_VECTORS], other[CHANNEL_VECTORS];
    SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) sum[v] = other[v] = simd_set(0.0f);
    for (int64_t i = 0; i < count; ++i, a += step, b += step) {
      SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
        const simd_f32 value = simd_load_lanes_f32(a + v * SIMD_WIDTH, lanes);
        if (kind == CHANNEL_PLAIN) {
          sum[v] += value;
        } else if (kind == CHANNEL_SQUARES) {
          const simd_f32 distance = value - middle[v];
          sum[v] += distance;
          other[v] = simd_fma(distance, distance, other[v]);
        } else {
          sum[v] += value;
          other[v] = simd_fma(value, simd_load_lanes_f32(b + v * SIMD_WIDTH, lanes) - middle[v], other[v]);
        }
      }
    }
    SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
      channel_add(first + v * SIMD_WIDTH, sum[v], skipped, lanes);
      if (kind != CHANNEL_PLAIN) channel_add(second + v * SIMD_WIDTH, other[v], skipped, lanes);
    }
  }
}

/* Computes the sums of one part, for `rows` rows. a, b, center, `first` and `second` point to the part's first
 * channel. */
SIMD_INLINE void channel_sum(const int32_t kind, const float *a, const float *b, const float *center, int64_t step,
                             int64_t rows, int64_t channels, double *first, double *second) {
  for (int64_t c = 0; c < channels; ++c) first[c] = 0.0;
  if (kind != CHANNEL_PLAIN) {
    for (int64_t c = 0; c < channels; ++c) second[c] = 0.0;
  }
  int64_t c = 0;
  for (; c + CHANNEL_VECTORS * SIMD_WIDTH <= channels; c += CHANNEL_VECTORS * SIMD_WIDTH) {
    channel_sum_vectors(kind, a + c, b + c, center + c, step, rows, CHANNEL_VECTORS, SIMD_WIDTH, 0, first + c,
                        second + c);
  }
  for (; c + SIMD_WIDTH <= channels; c += SIMD_WIDTH) {
    channel_sum_vectors(kind, a + c, b + c, center + c, step, rows, 1, SIMD_WIDTH, 0, first + c, second + c);
  }
  if (c == channels) return;
  const int64_t begin = channels < SIMD_WIDTH ? 0 : channels - SIMD_WIDTH;
  const int32_t lanes = channels < SIMD_WIDTH ? (int32_t)channels : SIMD_WIDTH;
  channel_sum_vectors(kind, a + begin, b + begin, center + begin, step, rows, 1, lanes, c - begin, first + begin,
                      second + begin);
}

#endif
