/* Shape rules of strings and hashing. */
#include <string.h>

#include "shape/shape.h"

MSLITE_SHAPE_RULE(mslite_shape_of_hashtable_lookup) {
  (void)params, (void)input_count;
  if (output_count != 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "two outputs are needed");
  if (inputs[2]->type == MSLITE_STRING)
    return mslite_shape_fail(context, MSLITE_ERROR_UNSUPPORTED, "tables of strings are not supported");
  const int64_t count = inputs[0]->rank == 1 ? inputs[0]->dims[0] : mslite_new_symbol(context);
  mslite_same_shape(inputs[2], outputs[0]);
  if (inputs[2]->rank == 0) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the values must not be a scalar");
  outputs[0]->dims[0] = count;
  outputs[1]->type = MSLITE_UINT8;
  outputs[1]->rank = 1;
  outputs[1]->dims[0] = count;
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_lsh_projection) {
  (void)input_count, (void)output_count;
  const int32_t type = ((const mslite_LshProjection *)params)->type;
  const mslite_tensor *hash = inputs[0];
  outputs[0]->type = MSLITE_INT32;
  outputs[0]->rank = 1;
  if (type != MSLITE_LSH_PROJECTION_TYPE_SPARSE && type != MSLITE_LSH_PROJECTION_TYPE_DENSE)
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "type %d is neither SPARSE nor DENSE", (int)type);
  if (hash->rank >= 0 && hash->rank != 2)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the hash functions have %d dimensions, not 2",
                             (int)hash->rank);
  if (hash->rank < 0) {
    outputs[0]->dims[0] = mslite_new_symbol(context);
  } else {
    outputs[0]->dims[0] = type == MSLITE_LSH_PROJECTION_TYPE_SPARSE
                              ? hash->dims[0]
                              : mslite_size_multiply(context, hash->dims[0], hash->dims[1]);
  }
  return MSLITE_OK;
}

/* Strings to strings: the size of the result depends on the contents. */
MSLITE_SHAPE_RULE(mslite_shape_of_new_strings) {
  (void)params, (void)input_count, (void)output_count;
  outputs[0]->type = inputs[0]->type;
  outputs[0]->rank = 1;
  outputs[0]->dims[0] = mslite_new_symbol(context);
  return MSLITE_OK;
}

static mslite_status labels_and_weights(mslite_shape_context *context, int64_t count, mslite_tensor *const *outputs,
                                        int32_t output_count) {
  if (output_count != 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "two outputs are needed");
  outputs[0]->type = MSLITE_INT32;
  outputs[1]->type = MSLITE_FLOAT32;
  outputs[0]->rank = outputs[1]->rank = 1;
  outputs[0]->dims[0] = outputs[1]->dims[0] = count;
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_custom_extract_features) {
  (void)params, (void)inputs, (void)input_count;
  return labels_and_weights(context, mslite_new_symbol(context), outputs, output_count);
}

MSLITE_SHAPE_RULE(mslite_shape_of_custom_predict) {
  (void)inputs, (void)input_count;
  const int64_t count = ((const mslite_CustomPredict *)params)->output_num;
  if (count < 0 || count > INT32_MAX)
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "%lld results are invalid", (long long)count);
  return labels_and_weights(context, count, outputs, output_count);
}
