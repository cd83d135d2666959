/* What the kernels on stored integers ask of their operands' records. */
#ifndef MSLITE_QUANTIZED_H
#define MSLITE_QUANTIZED_H

#include "kernel.h"
#include "math/fixed_point.h"

#ifdef __cplusplus
extern "C" {
#endif

/* True for a tensor of `type` with one possible record, whose zero point `type` can hold. */
bool mslite_is_stored(const mslite_tensor *tensor, int32_t type);

/* True for a constant of `type` with one record, or one for each of `channels`. */
bool mslite_is_stored_weight(const mslite_tensor *tensor, int32_t type, int64_t channels);

/* True for an absent bias, or a constant of `channels` integers of 32 bits (or 64, where `wide`). */
bool mslite_is_stored_bias(const mslite_node *node, int32_t index, int64_t channels, bool wide);

/* The record of channel `channel`. */
static inline const mslite_quant *mslite_record_of(const mslite_tensor *tensor, int64_t channel) {
  return &tensor->quant[tensor->quant_count > 1 ? channel : 0];
}

/* True when some record of the tensor has a zero point other than 0. */
bool mslite_has_zero_points(const mslite_tensor *tensor);

/* What a sum of products of stored integers is multiplied with to give steps of y: scale(a) * scale(b) / scale(y), in
 * float64. `narrow`: the product is rounded to float32 first, as TensorFlow Lite has it in products of two activations
 * and in convolutions of unsigned integers. */
double mslite_product_scale(const mslite_quant *a, const mslite_quant *b, const mslite_quant *y, bool narrow);

/* The factor `real` of sums on their way to results with the record `y`: rounded as the source model's are. Every
 * kernel that has a choice makes it here. */
mslite_multiplier mslite_result_multiplier(const mslite_quant *y, double real);

/* The integer q of record `x` in steps of record `y`, half to even, before it is limited to a type: in float32, as ONNX
 * defines the two casts that it stands for. */
int64_t mslite_requantize_even(const mslite_quant *x, const mslite_quant *y, int32_t q);

/* The stored integers that a result of `type` with `record` is limited to by its fused activation. False: the
 * activation is no clamp. */
bool mslite_stored_limits(int32_t type, int32_t activation, const mslite_quant *record, int32_t *low, int32_t *high);

#ifdef __cplusplus
}
#endif

#endif
