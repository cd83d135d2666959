/* Whether the assembly tiles of depthwise convolution give the bits of the compiled ones: every kernel and stride,
 * numbers of channels and rows, with and without bias and limits. The source is included, because tiles are nobody
 * else's business. */
#include "convolution/depthwise_vector.c"

#include <stdio.h>

enum { CHANNELS = 45, COLUMNS = 11, ROWS = 5 };

static float x[ROWS * COLUMNS * CHANNELS], w[ROWS * ROWS * (CHANNELS + SIMD_WIDTH)], bias[CHANNELS];
static float assembled[DEPTHWISE_TILE * CHANNELS], compiled[DEPTHWISE_TILE * CHANNELS];
static uint32_t state = 1;

static uint32_t random_bits(void) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

static void fill(float *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = (float)((int32_t)(random_bits() % 20001u) - 10000) / 1024.0f;
}

/* One tile both ways; 1 where they differ. */
static int differ(const int32_t kernel, const int32_t stride) {
  const uint32_t kind = random_bits();
  depthwise_tile tile = {
      .x = x,
      .x_step = CHANNELS,
      .x_row = COLUMNS * CHANNELS,
      .w = w,
      .w_step = CHANNELS + SIMD_WIDTH,
      .rows = 1 + random_bits() % (uint32_t)kernel,
      .bias = (kind & 1u) != 0 ? bias : NULL,
      .y_step = CHANNELS,
      .channels = 2 * SIMD_WIDTH + random_bits() % (CHANNELS - 2 * SIMD_WIDTH + 1),
      .low = (kind & 2u) != 0 ? -4.0f : -INFINITY,
      .high = (kind & 4u) != 0 ? 6.0f : INFINITY,
  };
  memset(assembled, 0, sizeof assembled);
  memset(compiled, 0, sizeof compiled);
  tile.y = assembled;
  const int64_t done = depthwise_arm64(&tile, kernel, stride);
  tile.y = compiled;
  for (int64_t c = 0; c < done; c += SIMD_WIDTH) {
    if (kernel == 3 && stride == 1) depthwise_lanes(&tile, c, DEPTHWISE_TILE, 3, 1, 1, SIMD_WIDTH);
    if (kernel == 3 && stride == 2) depthwise_lanes(&tile, c, DEPTHWISE_TILE, 3, 2, 1, SIMD_WIDTH);
    if (kernel == 5 && stride == 1) depthwise_lanes(&tile, c, DEPTHWISE_TILE, 5, 1, 1, SIMD_WIDTH);
    if (kernel == 5 && stride == 2) depthwise_lanes(&tile, c, DEPTHWISE_TILE, 5, 2, 1, SIMD_WIDTH);
  }
  if (done == tile.channels / (2 * SIMD_WIDTH) * (2 * SIMD_WIDTH) && memcmp(assembled, compiled, sizeof compiled) == 0)
    return 0;
  printf("kernel %d, stride %d, %d rows, %d channels, kind %u: other bits\n", (int)kernel, (int)stride, (int)tile.rows,
         (int)tile.channels, (unsigned)(kind & 7u));
  return 1;
}

int main(void) {
  int failures = 0, compared = 0;
  fill(x, (int64_t)(sizeof x / sizeof *x));
  fill(w, (int64_t)(sizeof w / sizeof *w));
  fill(bias, CHANNELS);
  for (int32_t kernel = 3; kernel <= 5; kernel += 2) {
    for (int32_t stride = 1; stride <= 2; ++stride) {
      for (int32_t i = 0; i < 200; ++i, ++compared) failures += differ(kernel, stride);
    }
  }
  printf("%d tiles compared, %d with other bits\n", compared, failures);
  return failures > 0;
}
