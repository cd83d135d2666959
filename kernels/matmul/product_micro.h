/* Products of stored int8 rows with packed constant weights, on microcontrollers: what convolutions and matrix products
 * have in common. y[c] = stored(bias[c] + sum over k of x[k] * w[c][k]).
 *
 * Packed weights: see matmul/product_plain_micro.c, product_dsp_micro.c and product_mve_micro.c. */
#ifndef MSLITE_PRODUCT_MICRO_H
#define MSLITE_PRODUCT_MICRO_H

#include "math/channels_micro.h"
#include "simd/micro.h"

/* MICRO_ROWS: rows of x at a time, at most. MICRO_STAGES: rows are copied before the first result is written. */
#define MICRO_ROWS 2
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
  int8_t has_one;    /* multiplier and shift for all channels: then there are four equal ones */
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
int64_t micro_packed_size(const mslite_node *node, const micro_weights *weights);

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

/* Takes row `i` of `rows`; where rows are not staged it stays where it is until the results are there. */
#if MICRO_STAGES
#define micro_stage MSLITE_ISA_NAME(mslite_micro_stage)
void micro_stage(micro_product *p, int32_t i, int32_t rows, const int8_t *from);
#else
MICRO_INLINE void micro_stage(micro_product *p, int32_t i, int32_t rows, const int8_t *from) {
  (void)rows;
  p->x[i] = from;
}
#endif

/* The results of one row, and of two. */
#define micro_run_single MSLITE_ISA_NAME(mslite_micro_run_single)
void micro_run_single(const micro_product *p, int8_t *y);
#define micro_run_pair MSLITE_ISA_NAME(mslite_micro_run_pair)
void micro_run_pair(const micro_product *p, int8_t *y0, int8_t *y1);

MICRO_INLINE void micro_run_rows(const micro_product *p, int32_t rows, int8_t *y0, int8_t *y1) {
  if (rows == 2) {
    micro_run_pair(p, y0, y1);
  } else {
    micro_run_single(p, y0);
  }
}

#endif
