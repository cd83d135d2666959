/* Decides which binary operators on quantized integers are supported, and computes their parameters. */
#include <math.h>
#include <string.h>

#include "arithmetic/binary_int8.h"
#include "math/float_bits.h"
#include "math/scalar_math.h"
#include "quantized.h"

/* Returns the operation of a node, and sets its fused activation. */
static int32_t operation_of(const mslite_node *node, int32_t *activation) {
  *activation = MSLITE_ACTIVATION_TYPE_NO_ACTIVATION;
  switch (node->op) {
    case MSLITE_OP_AddFusion:
      *activation = ((const mslite_AddFusion *)node->params)->activation_type;
      return MSLITE_STORED_ADD;
    case MSLITE_OP_SubFusion:
      *activation = ((const mslite_SubFusion *)node->params)->activation_type;
      return MSLITE_STORED_SUB;
    case MSLITE_OP_MulFusion:
      *activation = ((const mslite_MulFusion *)node->params)->activation_type;
      return MSLITE_STORED_MUL;
    case MSLITE_OP_DivFusion:
      *activation = ((const mslite_DivFusion *)node->params)->activation_type;
      return MSLITE_STORED_DIV;
    case MSLITE_OP_Eltwise:
      switch (((const mslite_Eltwise *)node->params)->mode) {
        case MSLITE_ELTWISE_MODE_PROD:
          return MSLITE_STORED_MUL;
        case MSLITE_ELTWISE_MODE_SUM:
          return MSLITE_STORED_ADD;
        case MSLITE_ELTWISE_MODE_MAXIMUM:
          return MSLITE_STORED_MAX;
        default:
          return MSLITE_STORED_NONE;
      }
    case MSLITE_OP_RealDiv:
      return MSLITE_STORED_DIV;
    case MSLITE_OP_SquaredDifference:
      return MSLITE_STORED_SQUARED;
    case MSLITE_OP_Maximum:
      return MSLITE_STORED_MAX;
    case MSLITE_OP_Minimum:
      return MSLITE_STORED_MIN;
    default:
      return MSLITE_STORED_PRELU;
  }
}

static bool same_record(const mslite_tensor *a, const mslite_tensor *b) {
  return a->quant[0].scale == b->quant[0].scale && a->quant[0].zero_point == b->quant[0].zero_point;
}

/* Returns whether the operation has a variant that rounds half to even; see set_even. */
static bool rounds_to_even(int32_t operation) {
  return operation == MSLITE_STORED_ADD || operation == MSLITE_STORED_SUB || operation == MSLITE_STORED_MUL;
}

static bool has_zero_in_range(const mslite_tensor *tensor) {
  const int32_t zero = tensor->quant->zero_point;
  return tensor->type == MSLITE_INT8 ? zero >= INT8_MIN && zero <= INT8_MAX : zero >= INT16_MIN && zero <= INT16_MAX;
}

int32_t mslite_support_binary_int8(const mslite_node *node) {
  if (node->input_count != 2) return 0;
  const mslite_tensor *a = node->inputs[0], *b = node->inputs[1], *y = node->outputs[0];
  int32_t activation, low, high;
  const int32_t operation = operation_of(node, &activation), type = y->type;
  if (operation == MSLITE_STORED_NONE || (type != MSLITE_INT8 && type != MSLITE_INT16)) return 0;
  if (!mslite_is_quantized(y, type) || !mslite_is_quantized(a, type)) return 0;
  if (!mslite_is_quantized(b, type) && !(operation == MSLITE_STORED_PRELU && mslite_is_quantized(b, MSLITE_INT8)))
    return 0;
  if (!mslite_quantized_limits(type, activation, y->quant, &low, &high)) return 0;
  if (!has_zero_in_range(a) || !has_zero_in_range(b) || !has_zero_in_range(y)) return 0;
  /* The reference's quotients of small integers differ from the results of other frameworks. */
  if (operation == MSLITE_STORED_DIV && y->quant->rounds_even) return 0;
  /* Values are compared as stored integers. */
  if (operation == MSLITE_STORED_MAX || operation == MSLITE_STORED_MIN) return same_record(a, b) && same_record(a, y);
  const bool symmetric = a->quant->zero_point == 0 && y->quant->zero_point == 0 &&
                         (b->quant->zero_point == 0 || operation == MSLITE_STORED_PRELU);
  if (y->quant->rounds_even && rounds_to_even(operation)) return 1;
  return type == MSLITE_INT8 || (symmetric && operation != MSLITE_STORED_SQUARED);
}

/* Finds the power of two that equals `scale`, with a tolerance of a thousandth in the logarithm. */
static bool power_of(float scale, int32_t *power) {
  const float logarithm = (float)(mslite_log((double)scale) * 1.4426950408889634), nearest = roundf(logarithm);
  *power = (int32_t)nearest;
  return fabsf(logarithm - nearest) < 1e-3F;
}

/* Returns whether the scales are powers of two and at most one operand must be shifted, to the right. */
static bool only_shifts(float a, float b, float y, mslite_binary_int8 *numbers) {
  int32_t power_a, power_b, power_y;
  if (!power_of(a, &power_a) || !power_of(b, &power_b) || !power_of(y, &power_y)) return false;
  numbers->a.shift = power_a - power_y;
  numbers->b.shift = power_b - power_y;
  if (numbers->a.shift > 0 || numbers->b.shift > 0 || numbers->a.shift < -31 || numbers->b.shift < -31) return false;
  return numbers->a.shift == 0 || numbers->b.shift == 0;
}

static void set_shared_scale(mslite_binary_int8 *numbers, float a, float b) {
  const double shared = 2.0 * (double)(a > b ? a : b);
  numbers->a = mslite_make_multiplier((double)a / shared);
  numbers->b = mslite_make_multiplier((double)b / shared);
}

/* Returns false if the operation has no variant that rounds half to even. */
static bool set_even(mslite_binary_int8 *numbers, float a, float b, float y) {
  switch (numbers->operation) {
    case MSLITE_STORED_SUB:
      b = -b;
      numbers->operation = MSLITE_STORED_ADD_EVEN;
      break;
    case MSLITE_STORED_ADD:
      numbers->operation = MSLITE_STORED_ADD_EVEN;
      break;
    case MSLITE_STORED_MUL:
      numbers->operation = MSLITE_STORED_MUL_EVEN;
      break;
    default:
      return false;
  }
  numbers->a.value = (int32_t)mslite_bits_of_float(a);
  numbers->b.value = (int32_t)mslite_bits_of_float(b);
  numbers->y.value = (int32_t)mslite_bits_of_float(y);
  return true;
}

void mslite_set_binary_int8(const mslite_node *node, mslite_binary_int8 *numbers) {
  const mslite_tensor *a = node->inputs[0], *b = node->inputs[1], *y = node->outputs[0];
  memset(numbers, 0, sizeof *numbers);
  int32_t activation;
  numbers->operation = operation_of(node, &activation);
  numbers->type = y->type;
  numbers->size = mslite_type_size(y->type);
  numbers->size_b = mslite_type_size(b->type);
  numbers->zero_a = a->quant->zero_point;
  numbers->zero_b = b->quant->zero_point;
  numbers->zero_y = y->quant->zero_point;
  mslite_quantized_limits(y->type, activation, y->quant, &numbers->low, &numbers->high);
  /* Scales are multiplied in float32, as the reference does. */
  const float scale_a = (float)a->quant->scale, scale_b = (float)b->quant->scale, scale_y = (float)y->quant->scale;
  const double shared = 2.0 * (double)(scale_a > scale_b ? scale_a : scale_b);
  if (y->quant->rounds_even && set_even(numbers, scale_a, scale_b, scale_y)) return;
  switch (numbers->operation) {
    case MSLITE_STORED_ADD:
    case MSLITE_STORED_SUB:
      if (y->type == MSLITE_INT16 && only_shifts(scale_a, scale_b, scale_y, numbers)) {
        numbers->operation =
            numbers->operation == MSLITE_STORED_ADD ? MSLITE_STORED_ADD_POWERS : MSLITE_STORED_SUB_POWERS;
        break;
      }
      numbers->left = y->type == MSLITE_INT16 ? 15 : 20;
      set_shared_scale(numbers, scale_a, scale_b);
      numbers->y = mslite_make_multiplier(shared / ((double)(1 << numbers->left) * (double)scale_y));
      break;
    case MSLITE_STORED_SQUARED:
      numbers->left = 7;
      set_shared_scale(numbers, scale_a, scale_b);
      numbers->y = mslite_make_multiplier(shared * shared / ((double)(1 << 14) * (double)scale_y));
      break;
    case MSLITE_STORED_MUL:
      numbers->y = mslite_make_multiplier((double)(scale_a * scale_b / scale_y));
      break;
    case MSLITE_STORED_DIV:
      numbers->y = mslite_make_multiplier((double)(scale_a / (scale_b * scale_y)));
      break;
    case MSLITE_STORED_PRELU:
      numbers->a = mslite_make_multiplier((double)(scale_a / scale_y));
      numbers->b = mslite_make_multiplier((double)(scale_a * scale_b / scale_y));
      break;
    default: /* the stored integers are compared */
      numbers->zero_a = numbers->zero_b = numbers->zero_y = 0;
      break;
  }
}
