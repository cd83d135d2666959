/* Products of stored int8 rows with packed constant weights, on microcontrollers: what convolutions and matrix products
 * have in common. y[c] = stored(bias[c] + sum over k of x[k] * w[c][k]).
 *
 * Packed weights: the table of channels (math/channels_micro.h), then int8_t w[channels][terms]; for dsp and
 * mve see matmul/product_dsp.h and product_mve.h. */
#ifndef MSLITE_PRODUCT_MICRO_H
#define MSLITE_PRODUCT_MICRO_H

#include "math/channels_micro.h"
#include "simd/micro.h"

/* MICRO_ROWS: rows of x at a time, at most. MICRO_STAGES: rows are copied before the first result is written. */
#if MICRO_MVE
#define MICRO_ROWS 1
#else
#define MICRO_ROWS 2
#endif
#if MICRO_DSP && !MICRO_MVE
#define MICRO_STAGES 1
#else
#define MICRO_STAGES 0
#endif

/* What is derived of a layer. */
typedef struct {
  int32_t channels, terms;
  int16_t nudge; /* 2 * zero point of y + 1 */
  int8_t low, high;
  int8_t rounding;
  int8_t rows;       /* of x at a time */
  int8_t is_limited; /* low and high are not those of int8 */
} micro_layer;

/* How the weights of a layer lie before packing: w[c * channel_step + k * term_step]. */
typedef struct {
  const int8_t *w;
  int64_t channels, terms, channel_step, term_step;
  micro_channel_of channel_of;
  bool once; /* rounded once */
} micro_weights;

/* Whether the weights have a packed form. */
#define micro_weights_fit MSLITE_ISA_NAME(mslite_micro_weights_fit)
bool micro_weights_fit(const mslite_node *node, const micro_weights *weights);

#define micro_packed_size MSLITE_ISA_NAME(mslite_micro_packed_size)
int64_t micro_packed_size(int64_t channels, int64_t terms);

#define micro_pack MSLITE_ISA_NAME(mslite_micro_pack)
void micro_pack(const mslite_node *node, const micro_weights *weights, void *packed);

#define micro_make_layer MSLITE_ISA_NAME(mslite_micro_make_layer)
void micro_make_layer(const mslite_node *node, const micro_weights *weights, int32_t y_zero, int32_t low, int32_t high,
                      micro_layer *layer);

/* Bytes of the scratch memory for staged rows, a multiple of 4. */
static inline int64_t micro_staging_size(const micro_layer *layer, int64_t rows) {
  return MICRO_STAGES ? (rows < layer->rows ? rows : layer->rows) * (((int64_t)layer->terms + 3) / 4 * 8) : 0;
}

/* ---- run ---- */

/* A layer, ready to run. */
typedef struct {
  const micro_layer *layer;
  const int32_t *packed;
#if MICRO_STAGES
  int32_t *staged;
#else
  const int8_t *x[MICRO_ROWS];
#endif
} micro_product;

MICRO_INLINE void micro_begin(micro_product *p, const micro_layer *layer, const void *packed, void *staging) {
  p->layer = layer;
  p->packed = packed;
#if MICRO_STAGES
  p->staged = staging;
#else
  (void)staging;
#endif
}

#if MICRO_STAGES
#include "matmul/product_dsp.h"
#elif MICRO_MVE
#include "matmul/product_mve.h"
#else
#include "matmul/product_plain.h"
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
