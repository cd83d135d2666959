/* Rows of 8-bit integers, whose zero points and scales are known only at run time, times packed weights, on
 * microcontrollers. Shared by ConvInteger and MatMulInteger with the seven operands of matmul/integer_product.h.
 *
 * Packed weights:
 *   int32_t sum[channels]      of the channel's weights
 *   int8_t w[channels][terms] */
#ifndef MSLITE_INTEGER_ROWS_MICRO_H
#define MSLITE_INTEGER_ROWS_MICRO_H

#include "matmul/integer_product.h"
#include "simd/micro.h"

/* Rows are first widened to words of two terms. */
enum { MICRO_INTEGER_STAGES = MICRO_DSP && !MICRO_MVE };

typedef struct {
  int32_t channels, terms;
  int16_t has_scales;   /* per-channel scales; otherwise one scale */
  int16_t scales_apart; /* as in matmul/integer_product.h */
} micro_integer_layer;

/* Two rows, or only the first of them, and the addresses of their results. */
typedef struct {
  const int8_t *x[2];
  int32_t zero[2];
  float scale[2]; /* scale of the row */
  float *y[2];
} micro_integer_pair;

/* Returns whether both factors are signed, the weights are constant without a zero point, and all operands exist. */
#define micro_integer_fits MSLITE_ISA_NAME(mslite_micro_integer_fits)
bool micro_integer_fits(const mslite_node *node);

static inline int64_t micro_integer_packed_size(int64_t channels, int64_t terms) { return channels * (4 + terms); }

/* Packs w[channel * channel_step + term * term_step]. */
#define micro_integer_pack MSLITE_ISA_NAME(mslite_micro_integer_pack)
void micro_integer_pack(const int8_t *w, int64_t channels, int64_t terms, int64_t channel_step, int64_t term_step,
                        void *packed);

/* Returns the bytes of scratch memory for micro_integer_rows: a multiple of 8. */
static inline int64_t micro_integer_staging(int64_t terms) { return MICRO_INTEGER_STAGES ? (terms + 3) / 4 * 16 : 0; }

#define micro_integer_rows MSLITE_ISA_NAME(mslite_micro_integer_rows)
void micro_integer_rows(const mslite_run *run, const micro_integer_layer *layer, const micro_integer_pair *pair,
                        int32_t rows);

#endif
