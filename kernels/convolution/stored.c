#include "convolution/stored.h"

#include <string.h>

#include "quantized.h"

static void attributes_of(const mslite_node *node, mslite_convolution_attributes *attributes) {
  mslite_convolution_read(node->op, node->params, attributes);
}

int64_t mslite_stored_channels(const mslite_node *node) {
  mslite_convolution_attributes attributes;
  attributes_of(node, &attributes);
  const int64_t *dims = node->inputs[1]->dims;
  if (!attributes.transposed) return dims[0];
  return attributes.group < 1 || attributes.group > INT32_MAX || dims[3] > INT32_MAX ? -1 : dims[3] * attributes.group;
}

bool mslite_quantized_convolution_fits(const mslite_node *node, int32_t type) {
  if (node->input_count < 2 || node->output_count != 1 || node->inputs[1] == NULL) return false;
  if (!mslite_is_quantized(node->inputs[0], type) || !mslite_is_quantized(node->outputs[0], type)) return false;
  const mslite_tensor *weight = node->inputs[1];
  if (weight->rank != 4 || weight->data == NULL) return false;
  const int64_t channels = mslite_stored_channels(node);
  if (channels < 1 || !mslite_is_quantized_weight(weight, MSLITE_INT8, channels)) return false;
  if (!mslite_is_quantized_bias(node, 2, channels, type == MSLITE_INT16)) return false;
  mslite_convolution_attributes attributes;
  attributes_of(node, &attributes);
  int32_t low, high;
  return mslite_quantized_limits(type, attributes.activation, node->outputs[0]->quant, &low, &high);
}

mslite_stored_channel mslite_stored_channel_of(const mslite_node *node, int64_t channel) {
  const mslite_quant *x = node->inputs[0]->quant, *weight = mslite_quant_of(node->inputs[1], channel);
  const mslite_tensor *bias = node->input_count > 2 ? node->inputs[2] : NULL;
  mslite_stored_channel numbers;
  const mslite_quant *y = node->outputs[0]->quant;
  const double factor = mslite_matmul_scale(x, weight, y, x->source_type == MSLITE_UINT8);
  numbers.factor = mslite_result_multiplier(y, factor);
  numbers.weight_zero = weight->zero_point;
  numbers.bias = 0;
  if (bias != NULL) {
    numbers.bias =
        bias->type == MSLITE_INT64 ? ((const int64_t *)bias->data)[channel] : ((const int32_t *)bias->data)[channel];
  }
  return numbers;
}

mslite_stored_numbers mslite_stored_numbers_of(const mslite_node *node) {
  mslite_convolution_attributes attributes;
  attributes_of(node, &attributes);
  const mslite_tensor *x = node->inputs[0], *y = node->outputs[0];
  const mslite_tensor *bias = node->input_count > 2 ? node->inputs[2] : NULL;
  mslite_stored_numbers numbers;
  memset(&numbers, 0, sizeof numbers); /* padding bytes, too, because generated C contains them */
  numbers.x_zero = x->quant->zero_point;
  numbers.y_zero = y->quant->zero_point;
  /* TensorFlow Lite sums in the width of the bias; ONNX has only 32-bit biases. */
  numbers.wide = x->type == MSLITE_INT16 && (bias == NULL || bias->type == MSLITE_INT64 || y->quant->rounds_even);
  if (!mslite_quantized_limits(y->type, attributes.activation, y->quant, &numbers.low, &numbers.high)) {
    numbers.low = numbers.high = numbers.y_zero;
  }
  return numbers;
}
