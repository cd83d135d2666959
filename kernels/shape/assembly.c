/* Shape rules of the operators that join, split, repeat and pad tensors. */
#include "shape/shape.h"

#include <string.h>

MSLITE_SHAPE_RULE(mslite_shape_of_concat) {
  (void)output_count;
  mslite_tensor *y = outputs[0];
  y->type = inputs[0]->type;
  const mslite_tensor *first = NULL;
  for (int32_t i = 0; i < input_count && first == NULL; ++i) {
    if (inputs[i]->rank >= 0) first = inputs[i];
  }
  if (first == NULL) {
    y->rank = -1;
    return MSLITE_OK;
  }
  y->rank = first->rank;
  const int32_t axis = mslite_normalize_axis(((const mslite_Concat *)params)->axis, y->rank);
  if (axis < 0)
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "axis is outside of a rank of %d", (int)y->rank);
  memcpy(y->dims, first->dims, sizeof y->dims);
  int64_t total = 0;
  for (int32_t i = 0; i < input_count; ++i) {
    if (inputs[i]->type != y->type)
      return mslite_shape_fail(context, MSLITE_ERROR_TYPE, "the inputs have different data types");
    if (inputs[i]->rank < 0) {
      total = mslite_new_symbol(context);
      continue;
    }
    if (inputs[i]->rank != y->rank) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "input %d has %d dimensions, but another has %d", (int)i,
                               (int)inputs[i]->rank, (int)y->rank);
    }
    for (int32_t d = 0; d < y->rank; ++d) {
      if (d != axis && !mslite_merge_size(y->dims[d], inputs[i]->dims[d], &y->dims[d])) {
        return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "dimension %d is %lld in one input, but %lld in another",
                                 (int)d, (long long)y->dims[d], (long long)inputs[i]->dims[d]);
      }
    }
    total = mslite_size_add(context, total, inputs[i]->dims[axis]);
  }
  y->dims[axis] = total;
  if (y->rank != 1 || total < 0 || total > MSLITE_MAX_KNOWN) return MSLITE_OK;
  int32_t count = 0;
  for (int32_t i = 0; i < input_count; ++i) {
    for (int64_t j = 0; j < inputs[i]->dims[0]; ++j) {
      if (!mslite_known_value(inputs[i], j, &y->known[count])) return MSLITE_OK;
      ++count;
    }
  }
  y->known_count = count;
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_stack) {
  (void)output_count;
  mslite_tensor *y = outputs[0];
  y->type = inputs[0]->type;
  mslite_tensor element = {.rank = -1};
  for (int32_t i = 0; i < input_count; ++i) {
    if (inputs[i]->rank < 0) continue;
    if (element.rank < 0) {
      element.rank = inputs[i]->rank;
      memcpy(element.dims, inputs[i]->dims, sizeof element.dims);
    }
    bool same = inputs[i]->rank == element.rank;
    for (int32_t d = 0; same && d < element.rank; ++d) {
      same = mslite_merge_size(element.dims[d], inputs[i]->dims[d], &element.dims[d]);
    }
    if (!same) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the inputs have different shapes");
  }
  y->rank = -1;
  if (element.rank < 0) return MSLITE_OK;
  const int32_t axis = mslite_normalize_axis(((const mslite_Stack *)params)->axis, element.rank + 1);
  if (axis < 0 || element.rank >= MSLITE_MAX_RANK) {
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "axis is outside of a rank of %d", (int)element.rank + 1);
  }
  y->rank = element.rank + 1;
  for (int32_t d = 0; d < y->rank; ++d) {
    y->dims[d] = d == axis ? input_count : element.dims[d < axis ? d : d - 1];
  }
  if (element.rank != 0 || input_count > MSLITE_MAX_KNOWN) return MSLITE_OK;
  for (int32_t i = 0; i < input_count; ++i) {
    if (!mslite_known_value(inputs[i], 0, &y->known[i])) return MSLITE_OK;
  }
  y->known_count = input_count;
  return MSLITE_OK;
}

/* Copies the known contents of piece [begin, begin + output size) along `axis`. */
static void known_piece(const mslite_tensor *x, int32_t axis, int64_t begin, mslite_tensor *piece) {
  if (x->known_count < 0) return;
  int64_t strides[MSLITE_MAX_RANK];
  int64_t stride = 1;
  for (int32_t i = x->rank - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= x->dims[i];
  }
  int64_t sizes[MSLITE_MAX_RANK];
  memcpy(sizes, x->dims, sizeof sizes);
  sizes[axis] = piece->rank == x->rank ? piece->dims[axis] : 1;
  mslite_known_strided(x, begin * strides[axis], x->rank, sizes, strides, piece);
}

MSLITE_SHAPE_RULE(mslite_shape_of_split) {
  (void)input_count;
  const mslite_Split *attributes = params;
  const mslite_tensor *x = inputs[0];
  const int32_t given = attributes->size_splits.count;
  for (int32_t i = 0; i < output_count; ++i) {
    outputs[i]->type = x->type;
    outputs[i]->rank = -1;
  }
  if (x->rank < 0) return MSLITE_OK;
  const int32_t axis = mslite_normalize_axis(attributes->axis, x->rank);
  if (axis < 0)
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "axis is outside of a rank of %d", (int)x->rank);
  if (given > 0 && given != output_count) {
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "%d sizes for %d outputs", (int)given, (int)output_count);
  }
  int64_t even = 0;
  int64_t sum = 0;
  int32_t hole = -1;
  if (given == 0 && !mslite_size_divide(context, x->dims[axis], output_count, &even)) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "%lld is not divisible into %d parts",
                             (long long)x->dims[axis], (int)output_count);
  }
  for (int32_t i = 0; i < output_count; ++i) {
    mslite_same_shape(x, outputs[i]);
    outputs[i]->dims[axis] = given > 0 ? attributes->size_splits.at[i] : even;
    if (given > 0 && outputs[i]->dims[axis] == -1 && hole < 0) {
      hole = i;
      continue;
    }
    if (given > 0 && (outputs[i]->dims[axis] < 0 || outputs[i]->dims[axis] > INT64_MAX - sum)) {
      return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "invalid size of output %d", (int)i);
    }
    if (given > 0) sum += outputs[i]->dims[axis];
  }
  const bool known = !mslite_is_symbol(x->dims[axis]);
  if (given > 0 && known && (sum > x->dims[axis] || (hole < 0 && sum != x->dims[axis]))) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the sum of the sizes is %lld, but the dimension is %lld",
                             (long long)sum, (long long)x->dims[axis]);
  }
  if (hole >= 0) outputs[hole]->dims[axis] = known ? x->dims[axis] - sum : mslite_new_symbol(context);
  int64_t begin = 0;
  for (int32_t i = 0; i < output_count && known; ++i) {
    known_piece(x, axis, begin, outputs[i]);
    begin += outputs[i]->dims[axis];
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_unstack) {
  (void)input_count;
  const mslite_tensor *x = inputs[0];
  int32_t axis = 0;
  if (x->rank >= 0) {
    axis = mslite_normalize_axis(((const mslite_Unstack *)params)->axis, x->rank);
    if (axis < 0)
      return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "axis is outside of a rank of %d", (int)x->rank);
    if (!mslite_is_symbol(x->dims[axis]) && x->dims[axis] != output_count) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE,
                               "dimension %d of size %lld cannot be unstacked to %d outputs", (int)axis,
                               (long long)x->dims[axis], (int)output_count);
    }
  }
  for (int32_t i = 0; i < output_count; ++i) {
    mslite_tensor *y = outputs[i];
    y->type = x->type;
    y->rank = x->rank < 0 ? -1 : x->rank - 1;
    for (int32_t d = 0; d < y->rank; ++d) y->dims[d] = x->dims[d < axis ? d : d + 1];
    if (x->rank >= 0) known_piece(x, axis, i, y);
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_tile) {
  (void)output_count;
  const mslite_TileFusion *attributes = params;
  const mslite_tensor *x = inputs[0];
  mslite_tensor *y = outputs[0];
  y->type = x->type;
  y->rank = -1;
  if (input_count < 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the input 'multiples' is missing");
  if (x->rank < 0) return MSLITE_OK;
  int64_t multiples[MSLITE_MAX_RANK];
  int32_t count;
  if (mslite_limit_entries(context, inputs[1], MSLITE_MAX_RANK) != MSLITE_OK) return MSLITE_ERROR_UNSUPPORTED;
  if (!mslite_read_entries(inputs[1], multiples, MSLITE_MAX_RANK, &count)) {
    mslite_unknown_dims(context, x->rank, y);
    return MSLITE_OK;
  }
  mslite_same_shape(x, y);
  const bool mapped = attributes->dims.count == count && count < x->rank;
  if (count != x->rank && !mapped) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "%d multiples for %d dimensions", (int)count, (int)x->rank);
  }
  for (int32_t i = 0; i < count; ++i) {
    const int32_t axis = mslite_normalize_axis(mapped ? attributes->dims.at[i] : i, x->rank);
    if (axis < 0 || (multiples[i] < 0 && !mslite_is_symbol(multiples[i]))) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "an invalid multiple or axis");
    }
    y->dims[axis] = mslite_size_multiply(context, y->dims[axis], multiples[i]);
  }
  if (x->rank == 1 && x->known_count > 0 && y->dims[0] >= 0 && y->dims[0] <= MSLITE_MAX_KNOWN) {
    const int64_t sizes[2] = {y->dims[0] / x->dims[0], x->dims[0]};
    const int64_t strides[2] = {0, 1};
    mslite_known_strided(x, 0, 2, sizes, strides, y);
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_broadcast_to) {
  (void)output_count;
  const mslite_BroadcastTo *attributes = params;
  const mslite_tensor *x = inputs[0];
  mslite_tensor *y = outputs[0];
  y->type = x->type;
  mslite_tensor target = {.rank = -1};
  if (input_count < 2) {
    if (attributes->shape.count > MSLITE_MAX_RANK)
      return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "too many dimensions");
    target.rank = attributes->shape.count;
    for (int32_t i = 0; i < target.rank; ++i) target.dims[i] = attributes->shape.at[i];
  } else if (mslite_limit_entries(context, inputs[1], MSLITE_MAX_RANK) != MSLITE_OK) {
    return MSLITE_ERROR_UNSUPPORTED;
  } else if (!mslite_read_entries(inputs[1], target.dims, MSLITE_MAX_RANK, &target.rank)) {
    const int64_t count = mslite_entry_count(inputs[1]);
    const bool told = count >= 0 && x->rank >= 0;
    mslite_unknown_dims(context, told ? (count > x->rank ? (int32_t)count : x->rank) : -1, y);
    return MSLITE_OK;
  }
  for (int32_t i = 0; i < target.rank; ++i) {
    const int32_t source = i - (target.rank - x->rank);
    if (target.dims[i] == -1)
      target.dims[i] = x->rank < 0 ? mslite_new_symbol(context) : source < 0 ? 1 : x->dims[source];
    if (target.dims[i] < 0 && !mslite_is_symbol(target.dims[i])) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the new shape has the size %lld",
                               (long long)target.dims[i]);
    }
  }
  const mslite_status status = mslite_broadcast(context, x, &target, y);
  if (status != MSLITE_OK || y->rank < 0 || x->known_count < 0) return status;
  int64_t strides[MSLITE_MAX_RANK];
  int64_t stride = 1;
  for (int32_t i = y->rank - 1; i >= 0; --i) {
    const int32_t source = i - (y->rank - x->rank);
    strides[i] = source < 0 || x->dims[source] == 1 ? 0 : stride;
    if (source >= 0) stride *= x->dims[source];
  }
  mslite_known_strided(x, 0, y->rank, y->dims, strides, y);
  return MSLITE_OK;
}

/* Sets the output shape for padding x by `count` entries: before and after per dimension. */
static mslite_status padded(mslite_shape_context *context, const mslite_tensor *x, const int64_t *pads, int32_t count,
                            mslite_tensor *y) {
  if (count != 2 * x->rank) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "%d paddings for %d dimensions", (int)count, (int)x->rank);
  }
  mslite_same_shape(x, y);
  for (int32_t i = 0; i < x->rank; ++i) {
    const int64_t before = pads[2 * i];
    const int64_t after = pads[2 * i + 1];
    if (mslite_is_symbol(before) || mslite_is_symbol(after)) {
      y->dims[i] = mslite_new_symbol(context);
      continue;
    }
    if (before < -INT32_MAX || before > INT32_MAX || after < -INT32_MAX || after > INT32_MAX) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "an invalid padding of dimension %d", (int)i);
    }
    y->dims[i] = mslite_size_add(context, x->dims[i], before + after);
    if (y->dims[i] < 0 && !mslite_is_symbol(y->dims[i])) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "dimension %d would be negative", (int)i);
    }
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_pad) {
  (void)output_count;
  const mslite_vec2d *paddings = &((const mslite_PadFusion *)params)->paddings;
  const mslite_tensor *x = inputs[0];
  int64_t pads[2 * MSLITE_MAX_RANK];
  int32_t count = 0;
  outputs[0]->type = x->type;
  outputs[0]->rank = -1;
  if (x->rank < 0) return MSLITE_OK;
  if (input_count > 1) {
    if (mslite_limit_entries(context, inputs[1], 2 * MSLITE_MAX_RANK) != MSLITE_OK) return MSLITE_ERROR_UNSUPPORTED;
    if (mslite_read_entries(inputs[1], pads, 2 * MSLITE_MAX_RANK, &count))
      return padded(context, x, pads, count, outputs[0]);
    mslite_unknown_dims(context, x->rank, outputs[0]);
    return MSLITE_OK;
  }
  for (int32_t i = 0; i < paddings->count; ++i) {
    if (i >= MSLITE_MAX_RANK || paddings->at[i].count != 2) {
      return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "paddings must be one pair per dimension");
    }
    pads[count++] = paddings->at[i].at[0];
    pads[count++] = paddings->at[i].at[1];
  }
  return padded(context, x, pads, count, outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_pad_extend) {
  (void)params, (void)output_count;
  const mslite_tensor *x = inputs[0];
  int64_t pads[2 * MSLITE_MAX_RANK];
  int32_t count;
  if (input_count < 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the input 'paddings' is missing");
  outputs[0]->type = x->type;
  outputs[0]->rank = -1;
  if (x->rank < 0) return MSLITE_OK;
  if (mslite_limit_entries(context, inputs[1], 2 * MSLITE_MAX_RANK) != MSLITE_OK) return MSLITE_ERROR_UNSUPPORTED;
  if (mslite_read_entries(inputs[1], pads, 2 * MSLITE_MAX_RANK, &count))
    return padded(context, x, pads, count, outputs[0]);
  mslite_unknown_dims(context, x->rank, outputs[0]);
  return MSLITE_OK;
}
