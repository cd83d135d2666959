/* Shape rules of comparison, logic and selection operators. */
#include "shape/shape.h"

MSLITE_SHAPE_RULE(mslite_shape_of_comparison) {
  (void)params, (void)input_count, (void)output_count;
  outputs[0]->type = MSLITE_BOOL;
  return mslite_broadcast(context, inputs[0], inputs[1], outputs[0]);
}

/* Returns 0, 1 or a new symbol for one pair of values; equal symbols are equal sizes. */
static int64_t compare(mslite_shape_context *context, int32_t op, int64_t a, int64_t b) {
  const bool symbolic = mslite_is_symbol(a) || mslite_is_symbol(b);
  if (symbolic && a != b) return mslite_new_symbol(context);
  switch (op) {
    case MSLITE_OP_Equal:
      return a == b;
    case MSLITE_OP_NotEqual:
      return a != b;
    case MSLITE_OP_Less:
      return a < b;
    case MSLITE_OP_LessEqual:
      return a <= b;
    case MSLITE_OP_Greater:
      return a > b;
    default:
      return a >= b;
  }
}

static mslite_status infer(mslite_shape_context *context, int32_t op, const mslite_tensor *const *inputs,
                           mslite_tensor *output) {
  const mslite_tensor *a = inputs[0], *b = inputs[1];
  output->type = MSLITE_BOOL;
  const mslite_status status = mslite_broadcast(context, a, b, output);
  const int64_t count = mslite_element_count(output);
  const int64_t count_a = mslite_known_total(a), count_b = mslite_known_total(b);
  if (status != MSLITE_OK || (count_a != count && count_a != 1) || (count_b != count && count_b != 1)) return status;
  if (!mslite_begin_known(output)) return MSLITE_OK;
  for (int64_t i = 0; i < count; ++i) {
    int64_t x = 0, y = 0;
    mslite_known_value(a, count_a == 1 ? 0 : i, &x);
    mslite_known_value(b, count_b == 1 ? 0 : i, &y);
    output->known[i] = compare(context, op, x, y);
  }
  return MSLITE_OK;
}

#define COMPARISON(op)                                         \
  MSLITE_SHAPE_RULE(mslite_shape_of_##op) {                    \
    (void)params, (void)input_count, (void)output_count;       \
    return infer(context, MSLITE_OP_##op, inputs, outputs[0]); \
  }
COMPARISON(Equal)
COMPARISON(NotEqual)
COMPARISON(Less)
COMPARISON(LessEqual)
COMPARISON(Greater)
COMPARISON(GreaterEqual)

/* condition ? a : b with broadcasting of all three; known contents if all three are known. */
static mslite_status select_one(mslite_shape_context *context, const mslite_tensor *condition, const mslite_tensor *a,
                                const mslite_tensor *b, mslite_tensor *output) {
  mslite_tensor pair = {.type = a->type};
  mslite_status status = mslite_broadcast(context, a, b, &pair);
  if (status != MSLITE_OK) return status;
  output->type = a->type;
  status = mslite_broadcast(context, condition, &pair, output);
  if (status != MSLITE_OK) return status;
  const int64_t count = mslite_element_count(output);
  const mslite_tensor *operands[3] = {condition, a, b};
  int64_t counts[3];
  for (int32_t k = 0; k < 3; ++k) {
    counts[k] = mslite_known_total(operands[k]);
    if (counts[k] < 0 || (counts[k] != count && counts[k] != 1)) return MSLITE_OK;
  }
  if (!mslite_begin_known(output)) return MSLITE_OK;
  for (int64_t i = 0; i < count; ++i) {
    int64_t values[3] = {0, 0, 0};
    for (int32_t k = 0; k < 3; ++k) mslite_known_value(operands[k], counts[k] == 1 ? 0 : i, &values[k]);
    if (mslite_is_symbol(values[0]) && values[1] != values[2])
      output->known[i] = mslite_new_symbol(context);
    else
      output->known[i] = values[0] ? values[1] : values[2];
  }
  return MSLITE_OK;
}

/* Sets the type and shape of the indices of nonzero elements: int32 [count, rank]. */
static mslite_status infer_indices(mslite_shape_context *context, const mslite_tensor *x, mslite_tensor *output) {
  output->type = MSLITE_INT32;
  output->rank = 2;
  output->dims[0] = mslite_new_symbol(context);
  output->dims[1] = x->rank < 0 ? mslite_new_symbol(context) : x->rank;
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_non_zero) {
  (void)params, (void)input_count, (void)output_count;
  return infer_indices(context, inputs[0], outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_where) {
  (void)params, (void)output_count;
  if (input_count == 1) return infer_indices(context, inputs[0], outputs[0]);
  if (input_count != 3)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "it has %d inputs, but needs 1 or 3", (int)input_count);
  return select_one(context, inputs[0], inputs[1], inputs[2], outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_select) {
  (void)params;
  if (input_count != 2 * output_count + 1)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "it has %d inputs, but %d outputs need %d", (int)input_count,
                             (int)output_count, (int)(2 * output_count + 1));
  for (int32_t k = 0; k < output_count; ++k) {
    const mslite_status status =
        select_one(context, inputs[0], inputs[1 + k], inputs[1 + output_count + k], outputs[k]);
    if (status != MSLITE_OK) return status;
  }
  return MSLITE_OK;
}
