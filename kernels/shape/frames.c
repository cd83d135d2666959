/* Shape rules of operators on adjacent frames. */
#include <string.h>

#include "assembly/overlap.h"
#include "shape/shape.h"

MSLITE_SHAPE_RULE(mslite_shape_of_splice) {
  (void)input_count, (void)output_count;
  const mslite_Splice *attributes = params;
  const mslite_tensor *x = inputs[0];
  mslite_tensor *y = outputs[0];
  const int64_t offsets = attributes->context.count;
  mslite_same_shape(x, y);
  if (offsets < 1 || attributes->forward_indexes.count % offsets != 0)
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "%d forward_indexes do not match a context of %d",
                             (int)attributes->forward_indexes.count, (int)offsets);
  if (x->rank < 0) return MSLITE_OK;
  if (x->rank < 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "x has no rows");
  y->dims[x->rank - 1] = mslite_size_multiply(context, x->dims[x->rank - 1], offsets);
  if (attributes->forward_indexes.count > 0) y->dims[x->rank - 2] = attributes->forward_indexes.count / offsets;
  if (attributes->output_dim > 0 && y->dims[x->rank - 1] >= 0 && y->dims[x->rank - 1] != attributes->output_dim)
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "output_dim is %lld, but must be %lld",
                             (long long)attributes->output_dim, (long long)y->dims[x->rank - 1]);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_split_with_overlap) {
  (void)input_count;
  const mslite_SplitWithOverlap *attributes = params;
  const mslite_tensor *x = inputs[0];
  const int32_t axis = x->rank < 0 ? 0 : mslite_normalize_axis(attributes->split_dim, x->rank);
  if (axis < 0) return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "split_dim is outside of the dimensions");
  for (int32_t i = 0; i < output_count; ++i) {
    mslite_same_shape(x, outputs[i]);
    if (x->rank < 0) continue;
    int64_t begin = 0, end = 0;
    const int64_t size = x->dims[axis] < 0 ? 0 : x->dims[axis];
    if (!mslite_overlap_piece(attributes, size, i, &begin, &end))
      return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "the ratios do not match %lld pieces",
                               (long long)attributes->number_split);
    outputs[i]->dims[axis] = x->dims[axis] < 0 ? mslite_new_symbol(context) : end - begin;
  }
  return MSLITE_OK;
}
