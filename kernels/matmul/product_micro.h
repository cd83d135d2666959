/* Multiplies quantized int8 rows by packed constant weights, on microcontrollers. Shared by convolutions and
 * matmuls: y[c] = stored(bias[c] + sum over k of x[k] * w[c][k]).
 *
 * For the packed weights see matmul/product_plain_micro.c, product_dsp_micro.c and product_mve_micro.c. */
#ifndef MSLITE_PRODUCT_MICRO_H
#define MSLITE_PRODUCT_MICRO_H

#include "math/channels_micro.h"
#include "simd/micro.h"

/* MICRO_ROWS: most rows of x at a time. MICRO_STAGES: rows are copied before the first result is written. */
#define MICRO_ROWS 2
#if MICRO_DSP && !MICRO_MVE
#define MICRO_STAGES 1
#else
#define MICRO_STAGES 0
#endif

/* The parameters of a layer. */
typedef struct {
  int32_t channels, terms;
  int16_t nudge; /* 2 * zero point of y + 1 */
  int8_t low, high;
  int8_t rounding;
  int8_t rows;       /* rows of x at a time */
  int8_t is_limited; /* low and high differ from those of int8 */
  int8_t has_one;    /* all channels have the same multiplier and shift, which are stored four times */
} micro_layer;

/* The weights of a layer before packing: w[c * channel_step + k * term_step]. */
typedef struct {
  const int8_t *w;
  int64_t channels, terms, channel_step, term_step;
  micro_channel_of channel_of;
  bool once; /* rounded once */
} micro_weights;

/* Returns whether the weights have a packed form. */
#define micro_weights_fit MSLITE_ISA_NAME(mslite_micro_weights_fit)
bool micro_weights_fit(const mslite_node *node, const micro_weights *weights);

#define micro_packed_size MSLITE_ISA_NAME(mslite_micro_packed_size)
int64_t micro_packed_size(const mslite_node *node, const micro_weights *weights);

#define micro_pack MSLITE_ISA_NAME(mslite_micro_pack)
void micro_pack(const mslite_node *node, const micro_weights *weights, void *packed);

#define micro_make_layer MSLITE_ISA_NAME(mslite_micro_make_layer)
void micro_make_layer(const mslite_node *node, const micro_weights *weights, int32_t y_zero, int32_t low, int32_t high,
                      micro_layer *layer);

/* Returns the bytes of scratch memory for staged rows, a multiple of 4. */
static inline int64_t micro_staging_size(const micro_layer *layer, int64_t rows) {
  return MICRO_STAGES ? (rows < layer->rows ? rows : layer->rows) * (((int64_t)layer->terms + 3) / 4 * 8) : 0;
}

/* ---- run ---- */

/* The state of a layer while it runs. */
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

/* Takes row `i` of `rows`. If rows are not staged, the row must not change until its results are computed. */
#if MICRO_STAGES
#define micro_stage MSLITE_ISA_NAME(mslite_micro_stage)
void micro_stage(micro_product *p, int32_t i, int32_t rows, const int8_t *from);
#else
MICRO_INLINE void micro_stage(micro_product *p, int32_t i, int32_t rows, const int8_t *from) {
  (void)rows;
  p->x[i] = from;
}
#endif

/* Compute the results of one row, and of two. */
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
