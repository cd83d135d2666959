/* Shape rules of the operators that read and write elements by index. */
#include "shape/shape.h"

#include <string.h>

/* output = params.dims[0, axis) + indices.dims[batch, ...) + params.dims(axis, ...) */
static mslite_status gathered(mslite_shape_context *context, const mslite_tensor *params, const mslite_tensor *indices,
                              int32_t axis, int32_t batch_dims, mslite_tensor *y) {
  const int32_t rank = params->rank - 1 + indices->rank - batch_dims;
  if (rank > MSLITE_MAX_RANK || indices->rank < batch_dims || axis < batch_dims) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the result would have %d dimensions", (int)rank);
  }
  y->rank = 0;
  for (int32_t i = 0; i < axis; ++i) y->dims[y->rank++] = params->dims[i];
  for (int32_t i = batch_dims; i < indices->rank; ++i) y->dims[y->rank++] = indices->dims[i];
  for (int32_t i = axis + 1; i < params->rank; ++i) y->dims[y->rank++] = params->dims[i];
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_gather) {
  (void)params, (void)output_count;
  const mslite_tensor *x = inputs[0];
  mslite_tensor *y = outputs[0];
  y->type = x->type;
  y->rank = -1;
  if (input_count < 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the input 'indices' is missing");
  const mslite_tensor *indices = inputs[1];
  if (x->rank < 0 || indices->rank < 0) return MSLITE_OK;
  int64_t wanted = 0;
  int32_t count;
  if (input_count > 2 && (!mslite_read_known_entries(inputs[2], &wanted, 1, &count) || count != 1)) {
    mslite_unknown_dims(context, x->rank - 1 + indices->rank <= MSLITE_MAX_RANK ? x->rank - 1 + indices->rank : -1, y);
    return MSLITE_OK;
  }
  const int32_t axis = mslite_normalize_axis(wanted, x->rank);
  if (axis < 0) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "axis %lld is outside of a rank of %d", (long long)wanted,
                             (int)x->rank);
  }
  const mslite_status status = gathered(context, x, indices, axis, 0, y);
  const int64_t entries = mslite_entry_count(indices);
  if (status != MSLITE_OK || x->rank != 1 || x->known_count < 0 || entries < 0 || entries > MSLITE_MAX_KNOWN)
    return status;
  for (int64_t i = 0; i < entries; ++i) {
    int64_t index;
    if (!mslite_known_value(indices, i, &index) || mslite_is_symbol(index)) return MSLITE_OK;
    if (index < 0) index += x->known_count;
    if (index < 0 || index >= x->known_count) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "an index is out of range for %d entries",
                               (int)x->known_count);
    }
    y->known[i] = x->known[index];
  }
  y->known_count = (int32_t)entries;
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_batch_gather) {
  (void)output_count;
  const mslite_BatchGather *attributes = params;
  outputs[0]->type = inputs[0]->type;
  outputs[0]->rank = -1;
  if (input_count < 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the input 'indices' is missing");
  if (inputs[0]->rank < 0 || inputs[1]->rank < 0) return MSLITE_OK;
  const int32_t axis = mslite_normalize_axis(attributes->axis, inputs[0]->rank);
  if (axis < 0 || attributes->batch_dims < 0 || attributes->batch_dims > axis) {
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "invalid axis %lld or batch_dims %lld",
                             (long long)attributes->axis, (long long)attributes->batch_dims);
  }
  return gathered(context, inputs[0], inputs[1], axis, (int32_t)attributes->batch_dims, outputs[0]);
}

static mslite_status gathered_nd(mslite_shape_context *context, const mslite_tensor *x, const mslite_tensor *indices,
                                 int64_t batch_dims, mslite_tensor *y) {
  y->type = x->type;
  y->rank = -1;
  if (x->rank < 0 || indices->rank < 0) return MSLITE_OK;
  if (indices->rank < 1 || batch_dims < 0 || batch_dims >= indices->rank || batch_dims > x->rank) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "invalid rank of the indices or batch_dims");
  }
  const int64_t depth = indices->dims[indices->rank - 1];
  if (mslite_is_symbol(depth)) return MSLITE_OK;
  const int64_t rank = indices->rank - 1 + x->rank - batch_dims - depth;
  if (depth > x->rank - batch_dims || rank > MSLITE_MAX_RANK) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "index tuples have %lld entries, but there are %d dimensions",
                             (long long)depth, (int)x->rank);
  }
  y->rank = 0;
  for (int32_t i = 0; i < indices->rank - 1; ++i) y->dims[y->rank++] = indices->dims[i];
  for (int32_t i = (int32_t)(batch_dims + depth); i < x->rank; ++i) y->dims[y->rank++] = x->dims[i];
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_gather_nd) {
  (void)params, (void)output_count;
  if (input_count < 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the input 'indices' is missing");
  return gathered_nd(context, inputs[0], inputs[1], 0, outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_batch_gather_nd) {
  (void)output_count;
  if (input_count < 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the input 'indices' is missing");
  return gathered_nd(context, inputs[0], inputs[1], ((const mslite_BatchGatherNd *)params)->batch_dims, outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_gather_d) {
  (void)params, (void)output_count;
  if (input_count < 3) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "GatherD needs three inputs");
  mslite_same_shape(inputs[2], outputs[0]);
  outputs[0]->type = inputs[0]->type;
  if (inputs[0]->rank >= 0 && inputs[2]->rank >= 0 && inputs[0]->rank != inputs[2]->rank) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "index has %d dimensions, but x has %d", (int)inputs[2]->rank,
                             (int)inputs[0]->rank);
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_scatter_nd) {
  (void)params, (void)output_count;
  if (input_count < 3) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "ScatterNd needs three inputs");
  mslite_tensor *y = outputs[0];
  y->type = inputs[1]->type;
  if (mslite_limit_entries(context, inputs[2], MSLITE_MAX_RANK) != MSLITE_OK) return MSLITE_ERROR_UNSUPPORTED;
  if (mslite_read_entries(inputs[2], y->dims, MSLITE_MAX_RANK, &y->rank)) {
    for (int32_t i = 0; i < y->rank; ++i) {
      if (y->dims[i] < 0 && !mslite_is_symbol(y->dims[i])) {
        return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the shape has the size %lld", (long long)y->dims[i]);
      }
    }
    return MSLITE_OK;
  }
  mslite_unknown_dims(context, (int32_t)mslite_entry_count(inputs[2]), y);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_scatter_into) {
  (void)params, (void)output_count;
  if (input_count < 3) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "a scatter needs three inputs");
  if (inputs[2]->type != inputs[0]->type) {
    return mslite_shape_fail(context, MSLITE_ERROR_TYPE, "updates and x have different data types");
  }
  mslite_same_shape(inputs[0], outputs[0]);
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_one_hot) {
  (void)output_count;
  if (input_count < 3) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "OneHot needs three or four inputs");
  const mslite_tensor *indices = inputs[0];
  mslite_tensor *y = outputs[0];
  y->type = inputs[2]->type;
  y->rank = -1;
  if (indices->rank < 0) return MSLITE_OK;
  const int32_t axis = mslite_normalize_axis(((const mslite_OneHot *)params)->axis, indices->rank + 1);
  if (axis < 0 || indices->rank >= MSLITE_MAX_RANK) {
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "axis is outside of the result");
  }
  int64_t depth;
  if (!mslite_known_value(inputs[1], 0, &depth)) depth = mslite_new_symbol(context);
  if (depth < 0 && !mslite_is_symbol(depth)) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "a negative depth");
  y->rank = indices->rank + 1;
  for (int32_t i = 0; i < y->rank; ++i) y->dims[i] = i == axis ? depth : indices->dims[i < axis ? i : i - 1];
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_embedding_lookup) {
  (void)params, (void)output_count;
  const mslite_tensor *ids = inputs[input_count - 1];
  mslite_tensor *y = outputs[0];
  y->type = inputs[0]->type;
  y->rank = -1;
  if (input_count < 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "a table and ids are needed");
  if (inputs[0]->rank < 0 || ids->rank < 0) return MSLITE_OK;
  if (inputs[0]->rank < 1)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "a table needs at least one dimension");
  return gathered(context, inputs[0], ids, 0, 0, y);
}

MSLITE_SHAPE_RULE(mslite_shape_of_unique) {
  (void)params, (void)input_count;
  outputs[0]->type = inputs[0]->type;
  outputs[0]->rank = 1;
  outputs[0]->dims[0] = mslite_new_symbol(context);
  if (output_count < 2) return MSLITE_OK;
  outputs[1]->type = MSLITE_INT32;
  outputs[1]->rank = 1;
  outputs[1]->dims[0] = 1;
  if (inputs[0]->rank < 0) outputs[1]->dims[0] = mslite_new_symbol(context);
  for (int32_t i = 0; i < inputs[0]->rank; ++i) {
    outputs[1]->dims[0] = mslite_size_multiply(context, outputs[1]->dims[0], inputs[0]->dims[i]);
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_unique_slices) {
  (void)input_count;
  const mslite_UniqueSlices *attributes = params;
  const mslite_tensor *x = inputs[0];
  const int64_t found = mslite_new_symbol(context);
  int64_t total = x->rank < 0 ? mslite_new_symbol(context) : 1;
  outputs[0]->type = x->type;
  if (!attributes->has_axis) {
    outputs[0]->rank = 1;
    outputs[0]->dims[0] = found;
    for (int32_t i = 0; i < x->rank; ++i) total = mslite_size_multiply(context, total, x->dims[i]);
  } else {
    outputs[0]->rank = x->rank;
    if (x->rank >= 0) {
      const int32_t axis = mslite_normalize_axis(attributes->axis, x->rank);
      if (axis < 0)
        return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "axis is outside of a rank of %d", (int)x->rank);
      memcpy(outputs[0]->dims, x->dims, sizeof x->dims);
      total = x->dims[axis];
      outputs[0]->dims[axis] = found;
    }
  }
  for (int32_t i = 1; i < output_count; ++i) {
    outputs[i]->type = MSLITE_INT64;
    outputs[i]->rank = 1;
    outputs[i]->dims[0] = i == 2 ? total : found;
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_triangle) {
  (void)params, (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  if (inputs[0]->rank == 0 || inputs[0]->rank == 1) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "a matrix is needed");
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_dynamic_update_slice) {
  (void)params, (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  if (inputs[0]->rank >= 0 && inputs[1]->rank >= 0 && inputs[0]->rank != inputs[1]->rank)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the update has %d dimensions, but x has %d",
                             (int)inputs[1]->rank, (int)inputs[0]->rank);
  return MSLITE_OK;
}
