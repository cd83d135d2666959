/* Shape rules of the rearranging operators, except for those with blocks. */
#include "shape/shape.h"

MSLITE_SHAPE_RULE(mslite_shape_of_shape) {
  (void)params, (void)input_count, (void)output_count;
  const mslite_tensor *x = inputs[0];
  mslite_tensor *y = outputs[0];
  y->type = MSLITE_INT32;
  y->rank = 1;
  y->dims[0] = x->rank < 0 ? mslite_new_symbol(context) : x->rank;
  if (x->rank < 0) return MSLITE_OK;
  y->known_count = x->rank;
  for (int32_t i = 0; i < x->rank; ++i) y->known[i] = x->dims[i];
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_rank) {
  (void)context, (void)params, (void)input_count, (void)output_count;
  outputs[0]->type = MSLITE_INT32;
  if (inputs[0]->rank < 0) return MSLITE_OK;
  outputs[0]->known_count = 1;
  outputs[0]->known[0] = inputs[0]->rank;
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_size) {
  (void)params, (void)input_count, (void)output_count;
  outputs[0]->type = MSLITE_INT32;
  if (inputs[0]->rank < 0) return MSLITE_OK;
  int64_t size = 1;
  for (int32_t i = 0; i < inputs[0]->rank; ++i) size = mslite_size_multiply(context, size, inputs[0]->dims[i]);
  outputs[0]->known_count = 1;
  outputs[0]->known[0] = size;
  return MSLITE_OK;
}

/* Returns the product of the sizes of x divided by that of y without entry `hole`, with equal symbols canceled; a
 * new symbol if it is unknown, -1 if it is not an integer. */
static int64_t remaining_size(mslite_shape_context *context, const mslite_tensor *x, const mslite_tensor *y,
                              int32_t hole) {
  bool used[MSLITE_MAX_RANK] = {false};
  int64_t divisor = 1;
  bool open = false;
  for (int32_t i = 0; i < y->rank; ++i) {
    if (i == hole) continue;
    if (!mslite_is_symbol(y->dims[i])) {
      divisor = mslite_size_multiply(context, divisor, y->dims[i]);
      continue;
    }
    int32_t match = 0;
    while (match < x->rank && (used[match] || x->dims[match] != y->dims[i])) ++match;
    if (match < x->rank) {
      used[match] = true;
    } else {
      open = true;
    }
  }
  int64_t dividend = 1;
  int64_t symbol = 0;
  for (int32_t i = 0; i < x->rank; ++i) {
    if (used[i]) continue;
    if (!mslite_is_symbol(x->dims[i])) {
      dividend = mslite_size_multiply(context, dividend, x->dims[i]);
    } else if (symbol == 0) {
      symbol = x->dims[i];
    } else {
      open = true;
    }
  }
  if (open || mslite_is_symbol(dividend) || mslite_is_symbol(divisor)) return mslite_new_symbol(context);
  if (symbol != 0) return dividend == divisor && divisor != 0 ? symbol : mslite_new_symbol(context);
  if (divisor == 0) return dividend == 0 ? 0 : -1;
  return dividend % divisor == 0 ? dividend / divisor : -1;
}

static bool has_symbol(const mslite_tensor *tensor) {
  for (int32_t i = 0; i < tensor->rank; ++i) {
    if (mslite_is_symbol(tensor->dims[i])) return true;
  }
  return false;
}

MSLITE_SHAPE_RULE(mslite_shape_of_reshape) {
  (void)params, (void)output_count;
  const mslite_tensor *x = inputs[0];
  mslite_tensor *y = outputs[0];
  y->type = x->type;
  if (input_count < 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the input 'shape' is missing");
  int64_t entries[MSLITE_MAX_RANK];
  int32_t count;
  const mslite_status status = mslite_limit_entries(context, inputs[1], MSLITE_MAX_RANK);
  if (status != MSLITE_OK) return status;
  if (!mslite_read_entries(inputs[1], entries, MSLITE_MAX_RANK, &count)) {
    const int64_t rank = mslite_entry_count(inputs[1]);
    mslite_unknown_dims(context, (int32_t)rank, y);
    return MSLITE_OK;
  }
  y->rank = count;
  int32_t hole = -1;
  for (int32_t i = 0; i < count; ++i) {
    y->dims[i] = entries[i];
    if (entries[i] == 0 && (x->rank < 0 || i < x->rank)) {
      /* A 0 copies the input's size, unless the input is empty and the 0 is meant literally. */
      y->dims[i] = x->rank < 0 ? mslite_new_symbol(context) : x->dims[i];
    } else if (entries[i] == -1) {
      if (hole >= 0) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the new shape has more than one -1");
      hole = i;
      y->dims[i] = MSLITE_SYMBOL_LIMIT;
    } else if (entries[i] < 0 && !mslite_is_symbol(entries[i])) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the new shape contains %lld", (long long)entries[i]);
    }
  }
  mslite_known_copy(x, y);
  if (x->rank < 0) {
    if (hole >= 0) y->dims[hole] = mslite_new_symbol(context);
    return MSLITE_OK;
  }
  /* A single symbol in the new shape of a tensor of known size is equivalent to -1. */
  if (hole < 0 && !has_symbol(x)) {
    int32_t symbols = 0;
    for (int32_t i = 0; i < count; ++i) {
      if (mslite_is_symbol(y->dims[i])) {
        ++symbols;
        hole = i;
      }
    }
    if (symbols != 1) hole = -1;
  }
  if (hole >= 0) {
    y->dims[hole] = remaining_size(context, x, y, hole);
    if (y->dims[hole] == -1) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "%lld elements are not divisible by the new shape",
                               (long long)mslite_element_count(x));
    }
    return MSLITE_OK;
  }
  const int64_t before = mslite_element_count(x);
  const int64_t after = mslite_element_count(y);
  if (before >= 0 && after >= 0 && before != after) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "%lld elements cannot be reshaped to %lld", (long long)before,
                             (long long)after);
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_flatten) {
  (void)input_count, (void)output_count;
  const mslite_tensor *x = inputs[0];
  mslite_tensor *y = outputs[0];
  y->type = x->type;
  y->rank = 2;
  y->dims[0] = y->dims[1] = 1;
  if (x->rank < 0) {
    mslite_unknown_dims(context, 2, y);
    return MSLITE_OK;
  }
  int64_t axis = ((const mslite_Flatten *)params)->axis;
  if (axis < 0) axis += x->rank;
  if (axis < 0 || axis > x->rank) {
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "axis %lld is outside of a rank of %d", (long long)axis,
                             (int)x->rank);
  }
  for (int32_t i = 0; i < x->rank; ++i) {
    y->dims[i >= axis] = mslite_size_multiply(context, y->dims[i >= axis], x->dims[i]);
  }
  mslite_known_copy(x, y);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_squeeze) {
  (void)input_count, (void)output_count;
  const mslite_Squeeze *attributes = params;
  const mslite_tensor *x = inputs[0];
  mslite_tensor *y = outputs[0];
  y->type = x->type;
  y->rank = -1;
  mslite_known_copy(x, y);
  if (x->rank < 0) return MSLITE_OK;
  bool removed[MSLITE_MAX_RANK] = {false};
  for (int32_t i = 0; i < attributes->axis.count; ++i) {
    const int32_t axis = mslite_normalize_axis(attributes->axis.at[i], x->rank);
    if (axis < 0 || (x->dims[axis] != 1 && !mslite_is_symbol(x->dims[axis]))) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "dimension %lld does not exist or is not 1",
                               (long long)attributes->axis.at[i]);
    }
    removed[axis] = true;
  }
  if (attributes->axis.count == 0) {
    if (has_symbol(x)) return MSLITE_OK; /* a symbol may be 1 */
    for (int32_t i = 0; i < x->rank; ++i) removed[i] = x->dims[i] == 1;
  }
  y->rank = 0;
  for (int32_t i = 0; i < x->rank; ++i) {
    if (!removed[i]) y->dims[y->rank++] = x->dims[i];
  }
  return MSLITE_OK;
}

/* Inserts dimensions of size 1 at `axes`, which are counted in the output. */
static mslite_status insert_axes(mslite_shape_context *context, const int64_t *axes, int32_t count,
                                 const mslite_tensor *x, mslite_tensor *y) {
  y->type = x->type;
  y->rank = -1;
  mslite_known_copy(x, y);
  if (x->rank < 0) return MSLITE_OK;
  const int32_t rank = x->rank + count;
  if (rank > MSLITE_MAX_RANK) {
    return mslite_shape_fail(context, MSLITE_ERROR_UNSUPPORTED, "tensors of more than %d dimensions are not supported",
                             (int)MSLITE_MAX_RANK);
  }
  bool inserted[MSLITE_MAX_RANK] = {false};
  for (int32_t i = 0; i < count; ++i) {
    const int32_t axis = mslite_normalize_axis(axes[i], rank);
    if (axis < 0 || inserted[axis]) {
      return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "axis %lld is outside of the output or given twice",
                               (long long)axes[i]);
    }
    inserted[axis] = true;
  }
  y->rank = rank;
  int32_t source = 0;
  for (int32_t i = 0; i < rank; ++i) y->dims[i] = inserted[i] ? 1 : x->dims[source++];
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_unsqueeze) {
  (void)input_count, (void)output_count;
  const mslite_Unsqueeze *attributes = params;
  if (attributes->axis.count > MSLITE_MAX_RANK) {
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "more than %d axes", (int)MSLITE_MAX_RANK);
  }
  return insert_axes(context, attributes->axis.at, attributes->axis.count, inputs[0], outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_expand_dims) {
  (void)params, (void)output_count;
  const mslite_tensor *x = inputs[0];
  int64_t axis;
  int32_t count;
  if (input_count < 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the input 'axis' is missing");
  if (mslite_read_known_entries(inputs[1], &axis, 1, &count) && count == 1) {
    return insert_axes(context, &axis, 1, x, outputs[0]);
  }
  outputs[0]->type = x->type;
  mslite_unknown_dims(context, x->rank < 0 || x->rank == MSLITE_MAX_RANK ? -1 : x->rank + 1, outputs[0]);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_transpose) {
  (void)params, (void)output_count;
  const mslite_tensor *x = inputs[0];
  mslite_tensor *y = outputs[0];
  y->type = x->type;
  int64_t perm[MSLITE_MAX_RANK];
  int32_t count = x->rank;
  if (input_count < 2) {
    for (int32_t i = 0; i < x->rank; ++i) perm[i] = x->rank - 1 - i;
  } else if (!mslite_read_known_entries(inputs[1], perm, MSLITE_MAX_RANK, &count)) {
    mslite_unknown_dims(context, x->rank, y);
    return MSLITE_OK;
  }
  if (x->rank < 0) {
    mslite_unknown_dims(context, input_count < 2 ? -1 : count, y);
    return MSLITE_OK;
  }
  if (count != x->rank) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE,
                             "the permutation has %d entries, but the input has %d dimensions", (int)count,
                             (int)x->rank);
  }
  bool used[MSLITE_MAX_RANK] = {false};
  int64_t strides[MSLITE_MAX_RANK];
  int64_t permuted[MSLITE_MAX_RANK];
  int64_t stride = 1;
  for (int32_t i = x->rank - 1; i >= 0; --i) {
    strides[i] = stride;
    stride =
        x->dims[i] > 0 && x->dims[i] <= MSLITE_MAX_KNOWN && stride <= MSLITE_MAX_KNOWN ? stride * x->dims[i] : stride;
  }
  y->rank = x->rank;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t axis = mslite_normalize_axis(perm[i], x->rank);
    if (axis < 0 || used[axis]) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "entry %lld of the permutation is out of range or repeated",
                               (long long)perm[i]);
    }
    used[axis] = true;
    y->dims[i] = x->dims[axis];
    permuted[i] = strides[axis];
  }
  mslite_known_strided(x, 0, y->rank, y->dims, permuted, y);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_format_transpose) {
  (void)input_count, (void)output_count;
  const mslite_FormatTranspose *attributes = params;
  const mslite_tensor *x = inputs[0];
  mslite_tensor *y = outputs[0];
  mslite_same_shape(x, y);
  if (attributes->src_format == attributes->dst_format || x->rank < 3) return MSLITE_OK;
  const bool to_last = attributes->src_format == MSLITE_FORMAT_NCHW && attributes->dst_format == MSLITE_FORMAT_NHWC;
  const bool to_first = attributes->src_format == MSLITE_FORMAT_NHWC && attributes->dst_format == MSLITE_FORMAT_NCHW;
  if (!to_last && !to_first) {
    return mslite_shape_fail(context, MSLITE_ERROR_UNSUPPORTED, "only NCHW and NHWC are supported");
  }
  for (int32_t i = 1; i < x->rank; ++i) {
    const int32_t source = to_last ? (i == x->rank - 1 ? 1 : i + 1) : (i == 1 ? x->rank - 1 : i - 1);
    y->dims[i] = x->dims[source];
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_reverse) {
  (void)context, (void)params, (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_invert_permutation) {
  (void)context, (void)params, (void)input_count, (void)output_count;
  const mslite_tensor *x = inputs[0];
  mslite_same_shape(x, outputs[0]);
  int64_t inverse[MSLITE_MAX_KNOWN];
  for (int32_t i = 0; i < x->known_count; ++i) inverse[i] = -1;
  for (int32_t i = 0; i < x->known_count; ++i) {
    if (x->known[i] < 0 || x->known[i] >= x->known_count || inverse[x->known[i]] != -1) return MSLITE_OK;
    inverse[x->known[i]] = i;
  }
  outputs[0]->known_count = x->known_count;
  for (int32_t i = 0; i < x->known_count; ++i) outputs[0]->known[i] = inverse[i];
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_bitcast) {
  (void)input_count, (void)output_count;
  const mslite_tensor *x = inputs[0];
  mslite_tensor *y = outputs[0];
  const int32_t type = mslite_canonical_type((int32_t)((const mslite_Bitcast *)params)->data_type);
  const int32_t before = mslite_type_size(x->type), after = mslite_type_size(type);
  mslite_same_shape(x, y);
  y->type = type;
  if (before == 0 || after == 0)
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "the data type has no fixed size");
  if (x->rank < 0 || before == after) return MSLITE_OK;
  if (before > after) {
    if (x->rank >= MSLITE_MAX_RANK) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "too many dimensions");
    y->dims[y->rank++] = before / after;
    return MSLITE_OK;
  }
  if (x->rank < 1 || (x->dims[x->rank - 1] >= 0 && x->dims[x->rank - 1] != after / before))
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the bytes of the last dimension are not one element");
  --y->rank;
  return MSLITE_OK;
}
