/* Shape rules of the unary operators: the output has the shape of the input. */
#include "shape/shape.h"

MSLITE_SHAPE_RULE(mslite_shape_of_unary) {
  (void)context, (void)params, (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_predicate) {
  (void)context, (void)params, (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  outputs[0]->type = MSLITE_BOOL;
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_cast) {
  (void)params, (void)output_count;
  const mslite_tensor *x = inputs[0];
  int64_t type = 0;
  if (input_count < 2 || !mslite_known_value(inputs[1], 0, &type))
    return mslite_shape_fail(context, MSLITE_ERROR_UNSUPPORTED, "the target type must be a constant second input");
  if (type < 0 || type > MSLITE_COMPLEX128 || mslite_type_size((int32_t)type) == 0)
    return mslite_shape_fail(context, MSLITE_ERROR_VALUE, "casting to data type %lld is not supported",
                             (long long)type);
  mslite_same_shape(x, outputs[0]);
  outputs[0]->type = mslite_canonical_type((int32_t)type);
  const int64_t count = mslite_known_total(x);
  if (count < 0 || !mslite_begin_known(outputs[0])) return MSLITE_OK;
  for (int64_t i = 0; i < count; ++i) {
    int64_t value = 0;
    mslite_known_value(x, i, &value);
    if (outputs[0]->type == MSLITE_BOOL) value = mslite_is_symbol(value) ? mslite_new_symbol(context) : value != 0;
    outputs[0]->known[i] = mslite_known_or_new(context, outputs[0]->type, value);
  }
  return MSLITE_OK;
}
