/* Helpers of the shape rules, and arithmetic on sizes that may be unknown. */
#include "shape/shape.h"

void mslite_same_shape(const mslite_tensor *input, mslite_tensor *output) {
  output->type = input->type;
  output->rank = input->rank;
  for (int32_t i = 0; i < input->rank; ++i) output->dims[i] = input->dims[i];
}

mslite_status mslite_broadcast(mslite_shape_context *context, const mslite_tensor *a, const mslite_tensor *b,
                               mslite_tensor *output) {
  if (a->rank < 0 || b->rank < 0) {
    output->rank = -1;
    return MSLITE_OK;
  }
  output->rank = a->rank > b->rank ? a->rank : b->rank;
  for (int32_t i = 0; i < output->rank; ++i) {
    const int32_t at_a = i - (output->rank - a->rank);
    const int32_t at_b = i - (output->rank - b->rank);
    const int64_t x = at_a < 0 ? 1 : a->dims[at_a];
    const int64_t y = at_b < 0 ? 1 : b->dims[at_b];
    if (x == y || y == 1) {
      output->dims[i] = x;
    } else if (x == 1) {
      output->dims[i] = y;
    } else if (mslite_is_symbol(x) && mslite_is_symbol(y)) {
      output->dims[i] = mslite_new_symbol(context);
    } else if (mslite_is_symbol(x)) {
      output->dims[i] = y;
    } else if (mslite_is_symbol(y)) {
      output->dims[i] = x;
    } else {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "dimensions %lld and %lld do not broadcast", (long long)x,
                               (long long)y);
    }
  }
  return MSLITE_OK;
}

int64_t mslite_size_add(mslite_shape_context *context, int64_t a, int64_t b) {
  if (a == 0) return b;
  if (b == 0) return a;
  if (mslite_is_symbol(a) || mslite_is_symbol(b)) return mslite_new_symbol(context);
  return b > 0 && a > INT64_MAX - b ? mslite_new_symbol(context) : a + b;
}

int64_t mslite_size_multiply(mslite_shape_context *context, int64_t a, int64_t b) {
  if (a == 1 || b == 0) return b;
  if (b == 1 || a == 0) return a;
  if (mslite_is_symbol(a) || mslite_is_symbol(b)) return mslite_new_symbol(context);
  return a > INT64_MAX / b ? mslite_new_symbol(context) : a * b;
}
