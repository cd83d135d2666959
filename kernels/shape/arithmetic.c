/* Shape rules of the arithmetic operators: NumPy broadcasting, and arithmetic on known contents. */
#include "shape/shape.h"

/* Computes one entry of the result; a new symbol if it is unknown. */
static int64_t evaluate(mslite_shape_context *context, int32_t op, int64_t a, int64_t b) {
  const bool symbolic = mslite_is_symbol(a) || mslite_is_symbol(b);
  const int64_t bound = (int64_t)1 << 31;
  if (!symbolic && (a < -bound || a >= bound || b < -bound || b >= bound)) return mslite_new_symbol(context);
  switch (op) {
    case MSLITE_OP_AddFusion:
      if (a == 0 || b == 0) return a == 0 ? b : a;
      if (!symbolic) return a + b;
      break;
    case MSLITE_OP_SubFusion:
      if (b == 0) return a;
      if (a == b) return 0;
      if (!symbolic) return a - b;
      break;
    case MSLITE_OP_MulFusion:
      if (a == 0 || b == 0) return 0;
      if (a == 1 || b == 1) return a == 1 ? b : a;
      if (!symbolic && a * b > MSLITE_SYMBOL_LIMIT) return a * b;
      break;
    case MSLITE_OP_DivFusion:
    case MSLITE_OP_RealDiv:
      if (b == 1) return a;
      if (!symbolic && b != 0) return a / b;
      break;
    case MSLITE_OP_FloorDiv:
      if (b == 1) return a;
      if (!symbolic && b != 0) return a / b - (a % b != 0 && (a < 0) != (b < 0));
      break;
    case MSLITE_OP_FloorMod:
      if (b == 1) return 0;
      if (!symbolic && b != 0) return a % b + ((a % b != 0 && (a < 0) != (b < 0)) ? b : 0);
      break;
    case MSLITE_OP_Mod:
      if (b == 1) return 0;
      if (!symbolic && b != 0) return a % b;
      break;
    case MSLITE_OP_Maximum:
      if (a == b) return a;
      if (!symbolic) return a > b ? a : b;
      break;
    case MSLITE_OP_Minimum:
      if (a == b) return a;
      if (!symbolic) return a < b ? a : b;
      break;
    default:
      break;
  }
  return mslite_new_symbol(context);
}

static bool has_known_rule(int32_t op) {
  switch (op) {
    case MSLITE_OP_AddFusion:
    case MSLITE_OP_SubFusion:
    case MSLITE_OP_MulFusion:
    case MSLITE_OP_DivFusion:
    case MSLITE_OP_RealDiv:
    case MSLITE_OP_FloorDiv:
    case MSLITE_OP_FloorMod:
    case MSLITE_OP_Mod:
    case MSLITE_OP_Maximum:
    case MSLITE_OP_Minimum:
      return true;
    default:
      return false;
  }
}

static mslite_status infer(mslite_shape_context *context, int32_t op, const mslite_tensor *const *inputs,
                           mslite_tensor *const *outputs) {
  const mslite_tensor *a = inputs[0], *b = inputs[1];
  outputs[0]->type = a->type;
  const mslite_status status = mslite_broadcast(context, a, b, outputs[0]);
  if (status != MSLITE_OK || !has_known_rule(op)) return status;
  const int64_t count_a = mslite_known_total(a), count_b = mslite_known_total(b);
  const int64_t count = mslite_element_count(outputs[0]);
  if (count_a < 0 || count_b < 0) return MSLITE_OK;
  if ((count_a != count && count_a != 1) || (count_b != count && count_b != 1)) return MSLITE_OK;
  if (!mslite_begin_known(outputs[0])) return MSLITE_OK;
  for (int64_t i = 0; i < count; ++i) {
    int64_t x = 0, y = 0;
    mslite_known_value(a, count_a == 1 ? 0 : i, &x);
    mslite_known_value(b, count_b == 1 ? 0 : i, &y);
    outputs[0]->known[i] = mslite_known_or_new(context, outputs[0]->type, evaluate(context, op, x, y));
  }
  return MSLITE_OK;
}

/* A rule is not passed the operator, so each operator with known contents has its own function. */
#define BINARY(op)                                          \
  MSLITE_SHAPE_RULE(mslite_shape_of_##op) {                 \
    (void)params, (void)input_count, (void)output_count;    \
    return infer(context, MSLITE_OP_##op, inputs, outputs); \
  }
BINARY(AddFusion)
BINARY(SubFusion)
BINARY(MulFusion)
BINARY(DivFusion)
BINARY(RealDiv)
BINARY(FloorDiv)
BINARY(FloorMod)
BINARY(Mod)
BINARY(Maximum)
BINARY(Minimum)

MSLITE_SHAPE_RULE(mslite_shape_of_binary) {
  (void)params, (void)input_count, (void)output_count;
  outputs[0]->type = inputs[0]->type;
  return mslite_broadcast(context, inputs[0], inputs[1], outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_pow) {
  (void)params, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  return input_count < 2 ? MSLITE_OK : mslite_broadcast(context, inputs[0], inputs[1], outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_add_n) {
  (void)params, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  for (int32_t i = 1; i < input_count; ++i) {
    const mslite_tensor sum = *outputs[0];
    const mslite_status status = mslite_broadcast(context, &sum, inputs[i], outputs[0]);
    if (status != MSLITE_OK) return status;
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_bias_add) {
  (void)params, (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  const mslite_tensor *x = inputs[0], *bias = inputs[1];
  if (x->rank < 1 || bias->rank < 0) return MSLITE_OK;
  const int64_t channels = x->dims[x->rank - 1];
  if (bias->rank != 1 || (bias->dims[0] >= 0 && channels >= 0 && bias->dims[0] != channels))
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the bias must have one element per channel (%lld)",
                             (long long)channels);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_scale) {
  (void)output_count;
  const mslite_tensor *x = inputs[0];
  mslite_same_shape(x, outputs[0]);
  if (x->rank < 0) return MSLITE_OK;
  const int64_t wanted = ((const mslite_ScaleFusion *)params)->axis;
  const int32_t axis = mslite_normalize_axis(wanted, x->rank);
  if (axis < 0)
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "axis %lld is outside rank %d", (long long)wanted,
                             (int)x->rank);
  for (int32_t k = 1; k < input_count; ++k) {
    const mslite_tensor *operand = inputs[k];
    if (operand->rank < 0) continue;
    if (axis + operand->rank > x->rank)
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "input %d has more dimensions than x from axis %d on",
                               (int)k, (int)axis);
    for (int32_t i = 0; i < operand->rank; ++i) {
      const int64_t size = operand->dims[i], of_x = x->dims[axis + i];
      if (size >= 0 && of_x >= 0 && size != of_x)
        return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "dimension %d of input %d is %lld, x has %lld there",
                                 (int)i, (int)k, (long long)size, (long long)of_x);
    }
  }
  return MSLITE_OK;
}
