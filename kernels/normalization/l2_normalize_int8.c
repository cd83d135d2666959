/* L2NormalizeFusion of quantized integers along the last axis, with results in units of 1/128, in TensorFlow Lite's
 * reference arithmetic. The scale of the input has no effect, only its zero point. */
#include "math/fixed_functions.h"
#include "movement.h"
#include "quantized.h"

enum { PART_WORK = 16384 };

typedef struct {
  int64_t rows, per_part, size;
  int32_t zero;
  /* The source model's type is unsigned: values are multiplied by 128 before they are rescaled. */
  int32_t is_unsigned;
} l2_derived;

static int32_t support(const mslite_node *node) {
  const mslite_L2NormalizeFusion *params = node->params;
  const mslite_tensor *x = node->inputs[0], *y = node->outputs[0];
  if (!mslite_is_quantized(x, MSLITE_INT8) || !mslite_is_quantized(y, MSLITE_INT8)) return 0;
  if (params->axis.count != 1 || params->activation_type != MSLITE_ACTIVATION_TYPE_NO_ACTIVATION) return 0;
  if (params->axis.at[0] != -1 && params->axis.at[0] != x->rank - 1) return 0;
  if (x->quant->zero_point < INT8_MIN || x->quant->zero_point > INT8_MAX) return 0;
  return y->quant->scale == 1.0 / 128.0 && y->quant->zero_point == 0;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0];
  l2_derived *numbers = derived;
  if (x->rank < 1) return MSLITE_ERROR_SHAPE;
  numbers->size = x->dims[x->rank - 1];
  numbers->rows = numbers->size == 0 ? 0 : mslite_element_count(x) / numbers->size;
  numbers->per_part = numbers->size < PART_WORK ? PART_WORK / (numbers->size + 1) + 1 : 1;
  numbers->zero = x->quant->zero_point;
  numbers->is_unsigned = x->quant->source_type == MSLITE_UINT8;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->rows + numbers->per_part - 1) / numbers->per_part);
  return MSLITE_OK;
}

static void normalize_row(const l2_derived *numbers, const int8_t *x, int8_t *y) {
  uint32_t squares = 0;
  for (int64_t c = 0; c < numbers->size; ++c) {
    const int32_t value = x[c] - numbers->zero;
    squares += (uint32_t)(value * value);
  }
  mslite_multiplier inverse = mslite_inverse_root((int32_t)squares);
  if (!numbers->is_unsigned) inverse.shift += 7;
  for (int64_t c = 0; c < numbers->size; ++c) {
    const int32_t value = x[c] - numbers->zero;
    const int32_t q = mslite_rescale(numbers->is_unsigned ? 128 * value : value, inverse);
    y[c] = (int8_t)mslite_clamp(q, INT8_MIN, INT8_MAX);
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const l2_derived *numbers = run->derived;
  const int64_t begin = (int64_t)part * numbers->per_part;
  const int64_t end = numbers->rows - begin < numbers->per_part ? numbers->rows : begin + numbers->per_part;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t at = row * numbers->size;
    normalize_row(numbers, (const int8_t *)run->inputs[0] + at, (int8_t *)run->outputs[0] + at);
  }
}

MSLITE_QUANTIZED_KERNEL(l2_normalize_int8, L2NormalizeFusion, l2_derived, support, prepare, run_part, NULL)
