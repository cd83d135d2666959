/* Shape rules of the matrix products. */
#include "matmul/geometry.h"
#include "shape/shape.h"

static bool differ(int64_t x, int64_t y) { return x != y && !mslite_is_symbol(x) && !mslite_is_symbol(y); }

/* The tensor's leading dimensions, without the last two. */
static void leading_dimensions(const mslite_tensor *tensor, mslite_tensor *leading) {
  *leading = *tensor;
  leading->rank = tensor->rank > 2 ? tensor->rank - 2 : 0;
}

/* As numpy.matmul: leading dimensions broadcast; a vector is a row (a) or a column (b) that disappears from y. */
MSLITE_SHAPE_RULE(mslite_shape_of_matmul) {
  (void)output_count;
  if (input_count < 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "two matrices are needed");
  const mslite_tensor *a = inputs[0], *b = inputs[1];
  mslite_tensor *y = outputs[0];
  mslite_product_attributes attributes;
  mslite_product_read(MSLITE_OP_MatMulFusion, params, &attributes);
  y->type = a->type;
  if (a->rank < 0 || b->rank < 0) {
    y->rank = -1;
    return MSLITE_OK;
  }
  if (a->rank < 1 || b->rank < 1) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "a scalar is not a matrix");
  const int64_t last_a = a->dims[a->rank - 1], last_b = b->dims[b->rank - 1];
  const int64_t before_a = a->rank == 1 ? 1 : a->dims[a->rank - 2];
  const int64_t before_b = b->rank == 1 ? 1 : b->dims[b->rank - 2];
  const bool turn_a = attributes.transpose_a && a->rank > 1;
  const bool turn_b = attributes.transpose_b || b->rank == 1;
  const int64_t k_a = turn_a ? before_a : last_a, k_b = turn_b ? last_b : before_b;
  if (differ(k_a, k_b)) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the inner sizes %lld and %lld differ", (long long)k_a,
                             (long long)k_b);
  }
  mslite_tensor batch_a, batch_b;
  leading_dimensions(a, &batch_a);
  leading_dimensions(b, &batch_b);
  const mslite_status status = mslite_broadcast(context, &batch_a, &batch_b, y);
  if (status != MSLITE_OK) return status;
  if (a->rank > 1) y->dims[y->rank++] = turn_a ? last_a : before_a;
  if (b->rank > 1) y->dims[y->rank++] = turn_b ? before_b : last_b;
  return MSLITE_OK;
}

/* use_axis: the dimensions before `axis`, then [out]; otherwise [rows, out] with as many rows as x fills. */
MSLITE_SHAPE_RULE(mslite_shape_of_full_connection) {
  (void)output_count;
  if (input_count < 2) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "a weight is needed");
  const mslite_FullConnection *attributes = params;
  const mslite_tensor *x = inputs[0], *weight = inputs[1];
  mslite_tensor *y = outputs[0];
  y->type = x->type;
  if (weight->rank >= 0 && weight->rank != 2) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the weight must have 2 dimensions, not %d",
                             (int)weight->rank);
  }
  const int64_t out = weight->rank < 0 ? mslite_new_symbol(context) : weight->dims[0];
  const int64_t in = weight->rank < 0 ? mslite_new_symbol(context) : weight->dims[1];
  if (attributes->use_axis && x->rank < 0) {
    y->rank = -1;
    return MSLITE_OK;
  }
  if (attributes->use_axis) {
    const int32_t axis = mslite_normalize_axis(attributes->axis, x->rank);
    if (axis < 0) return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "axis is out of range");
    int64_t flat = 1;
    for (int32_t i = axis; i < x->rank; ++i) flat = mslite_size_multiply(context, flat, x->dims[i]);
    if (differ(flat, in)) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "%lld inputs do not fit a weight for %lld", (long long)flat,
                               (long long)in);
    }
    y->rank = axis + 1;
    for (int32_t i = 0; i < axis; ++i) y->dims[i] = x->dims[i];
    y->dims[axis] = out;
    return MSLITE_OK;
  }
  y->rank = 2;
  y->dims[1] = out;
  const int64_t count = mslite_element_count(x);
  if (count >= 0 && !mslite_is_symbol(in)) {
    if (in == 0 || count % in != 0) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "%lld elements do not make rows of %lld", (long long)count,
                               (long long)in);
    }
    y->dims[0] = count / in;
  } else {
    y->dims[0] = x->rank == 2 && x->dims[1] == in ? x->dims[0] : mslite_new_symbol(context);
  }
  return MSLITE_OK;
}
