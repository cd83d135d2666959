#include "quantized.h"

#include <math.h>

static bool is_possible(const mslite_quant *record) { return record->scale > 0 && record->scale < (double)INFINITY; }

bool mslite_is_quantized(const mslite_tensor *tensor, int32_t type) {
  if (tensor == NULL || tensor->type != type || tensor->quant_count != 1 || !is_possible(tensor->quant)) return false;
  /* Padding is stored as the zero point. */
  const int32_t most = type == MSLITE_INT8 ? INT8_MAX : INT16_MAX;
  return tensor->quant->zero_point >= -most - 1 && tensor->quant->zero_point <= most;
}

bool mslite_is_quantized_weight(const mslite_tensor *tensor, int32_t type, int64_t channels) {
  if (tensor == NULL || tensor->type != type || tensor->data == NULL || tensor->quant_count < 1) return false;
  if (tensor->quant_count > 1 && tensor->quant_count != channels) return false;
  for (int32_t i = 0; i < tensor->quant_count; ++i) {
    const mslite_quant *record = &tensor->quant[i];
    /* A channel of zeros may have scale 0. */
    if (!is_possible(record) && record->scale != 0) return false;
    if (record->zero_point < INT8_MIN || record->zero_point > INT8_MAX) return false;
  }
  return true;
}

bool mslite_is_quantized_bias(const mslite_node *node, int32_t index, int64_t channels, bool wide) {
  const mslite_tensor *bias = index < node->input_count ? node->inputs[index] : NULL;
  if (bias == NULL) return true;
  const bool has_type = bias->type == MSLITE_INT32 || (wide && bias->type == MSLITE_INT64);
  return has_type && bias->data != NULL && mslite_element_count(bias) == channels;
}

bool mslite_has_zero_points(const mslite_tensor *tensor) {
  for (int32_t i = 0; i < tensor->quant_count; ++i) {
    if (tensor->quant[i].zero_point != 0) return true;
  }
  return false;
}

double mslite_matmul_scale(const mslite_quant *a, const mslite_quant *b, const mslite_quant *y, bool narrow) {
  const double product = narrow ? (double)((float)a->scale * (float)b->scale) : a->scale * b->scale;
  const double real = product / y->scale, most = 1e30; /* scales come from files */
  return real < most ? real : most;
}

int64_t mslite_requantize_even(const mslite_quant *x, const mslite_quant *y, int32_t q) {
  const float most = 4294967296.0F, real = (float)x->scale * (float)((int64_t)q - x->zero_point);
  const float steps = rintf(real / (float)y->scale);
  return (int64_t)(steps > -most ? steps < most ? steps : most : -most) + y->zero_point;
}

mslite_multiplier mslite_result_multiplier(const mslite_quant *y, double real) {
  return y->rounds_even ? mslite_make_even_multiplier(real) : mslite_make_multiplier(real);
}

/* Returns the quantized integer nearest to a bound, in float32 like TensorFlow Lite. */
static int64_t stored_bound(float bound, const mslite_quant *record) {
  const float steps = roundf(bound / (float)record->scale);
  const float largest = 1e9F;
  return record->zero_point + (int64_t)(steps > -largest ? steps < largest ? steps : largest : -largest);
}

bool mslite_quantized_limits(int32_t type, int32_t activation, const mslite_quant *record, int32_t *low,
                             int32_t *high) {
  const int64_t least = type == MSLITE_INT16 ? INT16_MIN : INT8_MIN, most = type == MSLITE_INT16 ? INT16_MAX : INT8_MAX;
  int64_t from = least, to = most;
  switch (activation) {
    case MSLITE_ACTIVATION_TYPE_NO_ACTIVATION:
      break;
    case MSLITE_ACTIVATION_TYPE_RELU:
      from = stored_bound(0.0F, record);
      break;
    case MSLITE_ACTIVATION_TYPE_RELU6:
      from = stored_bound(0.0F, record);
      to = stored_bound(6.0F, record);
      break;
    case MSLITE_ACTIVATION_TYPE_RELU1:
      from = stored_bound(-1.0F, record);
      to = stored_bound(1.0F, record);
      break;
    default:
      return false;
  }
  /* If the bounds exclude every value, the upper one is used, because it is applied last. */
  if (from < least) from = least;
  if (to > most) to = most;
  if (from > to) from = to;
  *low = (int32_t)(from < least ? least : from);
  *high = (int32_t)(to < least ? least : to);
  return true;
}
