/* Multiplies float rows by a matrix of weights, on microcontrollers. Shared by convolutions and matmuls: y[c] =
 * bias[c] + sum over k of x[k] * w[k][c].
 *
 * Packed weights are as large as those in the file: blocks of four channels, each [terms][4], and the remaining
 * channels as one block [terms][rest]. */
#ifndef MSLITE_PRODUCT_F32_MICRO_H
#define MSLITE_PRODUCT_F32_MICRO_H

#include "simd/micro_float.h"

/* Pixels that share a load of weights. Processors without an FPU do not have registers for more than one. */
enum { MICRO_FLOAT_PIXELS = MICRO_DSP ? 4 : 1 };

/* Adjacent pixels, with all channels of a group. The window of a pixel has `rows` rows of `taps` taps of `length`
 * floats. */
typedef struct {
  const float *x;        /* the first float of the first pixel's window */
  const float *w;        /* the group's weights */
  const float *bias;     /* NULL: none */
  const float *residual; /* NULL: none; same layout as y */
  float *y;
  int32_t pixels;         /* 1 to MICRO_FLOAT_PIXELS */
  int32_t x_step, y_step; /* floats between pixels */
  int32_t rows, taps, length;
  int32_t x_row, x_tap;   /* floats between rows and between taps */
  int32_t w_first, w_row; /* the window's first term, and terms between rows */
  int32_t terms;          /* in a whole window */
  int32_t w_step;         /* 0: weights are packed; otherwise they are [terms][w_step] */
  int32_t channels;
  float low, high; /* results are clamped to this range */
} micro_float_tile;

#define micro_float_products MSLITE_ISA_NAME(mslite_micro_float_products)
void micro_float_products(const micro_float_tile *tile);

/* Packs w[c * channel_step + k * term_step]. */
#define micro_float_pack MSLITE_ISA_NAME(mslite_micro_float_pack)
void micro_float_pack(const float *w, int64_t channels, int64_t terms, int64_t channel_step, int64_t term_step,
                      float *packed);

/* Sets the bounds of activations that only clamp. Returns false for others. */
#define micro_float_limits MSLITE_ISA_NAME(mslite_micro_float_limits)
bool micro_float_limits(int32_t activation, float *low, float *high);

#endif
