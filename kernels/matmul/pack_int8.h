/* The packed form of int8 weights for the GEMM of quantized integers: the parameters of each output channel, then
 * panels. Portable: any host packs for any target, whose panels are described by an mslite_int8_layout.
 *
 * With x' = x + offset, the form in which the target multiplies activations:
 *   sum (x - x_zero)(w - w_zero) + bias = sum x' w - w_zero sum x' + folded bias
 *   folded bias = bias - x_zero' sum w + k x_zero' w_zero, with 32-bit wraparound */
#ifndef MSLITE_MATMUL_PACK_INT8_H
#define MSLITE_MATMUL_PACK_INT8_H

#include "kernel.h"
#include "math/fixed_point.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  int32_t columns; /* per panel */
  int32_t depth;   /* adjacent k that are stored together, column by column */
  int32_t offset;  /* added to activations */
  int32_t woven;   /* columns whose first halves of such k are stored together, before their second halves; or 1 */
} mslite_int8_layout;

/* One output channel before packing. */
typedef struct {
  int32_t bias;
  int32_t weight_zero;
  mslite_multiplier factor; /* of fixed-point results */
  double scale;             /* of results that are rounded once, in float64 */
} mslite_int8_channel;

/* The weights w[groups][n][k], with element (g, n, k) at source[g * group_step + n * n_step + k * k_step]. */
typedef struct {
  int64_t groups, n, k;
  int64_t group_step, n_step, k_step;
  int32_t x_zero; /* of the activations */
  uint8_t flip;   /* 128: the weights are unsigned and stored as signed integers minus 128; otherwise 0 */
} mslite_int8_weights;

/* Offsets in bytes in the packed form. Arrays of channels have `padded` entries per group; channels that do not
 * exist are zeros. */
typedef struct {
  int64_t units;  /* of k: at least one, of zeros */
  int64_t padded; /* n, padded to whole panels */
  /* int32_t. value and shift are the multiplier; for results that are rounded once, value is a clamp of the sum. */
  int64_t bias, value, shift, zero;
  int64_t scale; /* double */
  int64_t panels, group_bytes;
  /* int32_t: 1 if a column has -128 twice among weights whose products a woven layout adds in 16 bits. */
  int64_t overflows;
  int64_t bytes;
} mslite_int8_packed;

void mslite_plan_int8(int64_t groups, int64_t n, int64_t k, const mslite_int8_layout *layout, mslite_int8_packed *plan);

/* `channel` returns the parameters of output channel `index`, counted over all groups. */
void mslite_pack_int8(const mslite_node *node, const int8_t *source, const mslite_int8_weights *weights,
                      const mslite_int8_layout *layout,
                      mslite_int8_channel (*channel)(const mslite_node *node, int64_t index), void *packed);

#ifdef __cplusplus
}
#endif

#endif
