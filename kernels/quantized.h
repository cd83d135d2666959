/* What the kernels on quantized integers require of their operands' quantization parameters. */
#ifndef MSLITE_QUANTIZED_H
#define MSLITE_QUANTIZED_H

#include "kernel.h"
#include "math/fixed_point.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns whether the tensor has this type and valid per-tensor quantization parameters, with a zero point within
 * the type. */
bool mslite_is_quantized(const mslite_tensor *tensor, int32_t type);

/* Returns whether the tensor is a constant of `type`, quantized per tensor or for each of `channels`. */
bool mslite_is_quantized_weight(const mslite_tensor *tensor, int32_t type, int64_t channels);

/* Returns whether the bias is absent, or a constant of `channels` 32-bit integers (or 64-bit if `wide`). */
bool mslite_is_quantized_bias(const mslite_node *node, int32_t index, int64_t channels, bool wide);

/* Returns the quantization parameters of channel `channel`. */
static inline const mslite_quant *mslite_quant_of(const mslite_tensor *tensor, int64_t channel) {
  return &tensor->quant[tensor->quant_count > 1 ? channel : 0];
}

/* Returns whether any zero point of the tensor is not 0. */
bool mslite_has_zero_points(const mslite_tensor *tensor);

/* Returns the factor that converts sums of products of quantized integers to steps of y: scale(a) * scale(b) /
 * scale(y), in float64. `narrow`: the product is rounded to float32 first, as in TensorFlow Lite for matmuls of two
 * activations and for convolutions of unsigned integers. */
double mslite_matmul_scale(const mslite_quant *a, const mslite_quant *b, const mslite_quant *y, bool narrow);

/* Returns the multiplier for the factor `real` of sums whose results have the quantization parameters `y`, with the
 * rounding of the source model. All kernels that support several roundings call it. */
mslite_multiplier mslite_result_multiplier(const mslite_quant *y, double real);

/* Returns integer q with parameters `x` in steps of parameters `y`, rounded half to even, not yet clamped: in
 * float32, as ONNX defines the two casts. */
int64_t mslite_requantize_even(const mslite_quant *x, const mslite_quant *y, int32_t q);

/* Sets the integers that a result of `type` is clamped to by its fused activation. Returns false if the activation
 * is not a clamp. */
bool mslite_quantized_limits(int32_t type, int32_t activation, const mslite_quant *record, int32_t *low, int32_t *high);

#ifdef __cplusplus
}
#endif

#endif
