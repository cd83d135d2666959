/* Shape rules of matmuls. */
#include "matmul/affine.h"
#include "matmul/attention.h"
#include "matmul/geometry.h"
#include "shape/shape.h"

static bool differ(int64_t x, int64_t y) { return x != y && !mslite_is_symbol(x) && !mslite_is_symbol(y); }

/* Returns the tensor's leading dimensions, without the last two. */
static void leading_dimensions(const mslite_tensor *tensor, mslite_tensor *leading) {
  *leading = *tensor;
  leading->rank = tensor->rank > 2 ? tensor->rank - 2 : 0;
}

/* As numpy.matmul: leading dimensions broadcast; a vector is a row (a) or a column (b), whose dimension is removed
 * from y. */
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

/* With a scale, the result is float32. */
MSLITE_SHAPE_RULE(mslite_shape_of_matmul_integer) {
  (void)params;
  static const mslite_MatMulFusion plain = {0};
  const mslite_status status = mslite_shape_of_matmul(context, &plain, inputs, input_count, outputs, output_count);
  outputs[0]->type = input_count > 4 ? MSLITE_FLOAT32 : MSLITE_INT32;
  return status;
}

/* use_axis: the dimensions before `axis`, then [out]; otherwise [rows, out], with x reshaped to rows. */
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
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "x has %lld inputs, but the weight needs %lld",
                               (long long)flat, (long long)in);
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
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "%lld elements are not divisible into rows of %lld",
                               (long long)count, (long long)in);
    }
    y->dims[0] = count / in;
  } else {
    y->dims[0] = x->rank == 2 && x->dims[1] == in ? x->dims[0] : mslite_new_symbol(context);
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_affine) {
  (void)input_count, (void)output_count;
  const mslite_Affine *attributes = params;
  const mslite_tensor *x = inputs[0], *weight = inputs[1];
  mslite_tensor *y = outputs[0];
  int64_t least, most;
  if (!mslite_affine_reach(attributes, &least, &most))
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "the context is empty or too large");
  if ((x->rank >= 0 && x->rank != 3) || (weight->rank >= 0 && weight->rank != 2))
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "x must have 3 dimensions and the weight 2, not %d and %d",
                             (int)x->rank, (int)weight->rank);
  const int32_t out = attributes->transpose_b ? 0 : 1;
  const int64_t rows =
      x->rank < 0 || mslite_is_symbol(x->dims[1]) ? mslite_new_symbol(context) : x->dims[1] - (most - least);
  if (rows < 0 && !mslite_is_symbol(rows))
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "%lld rows are fewer than the context spans",
                             (long long)x->dims[1]);
  y->type = x->type;
  y->rank = 3;
  y->dims[0] = x->rank < 0 ? mslite_new_symbol(context) : x->dims[0];
  y->dims[1] = rows;
  y->dims[2] = weight->rank < 0 ? mslite_new_symbol(context) : weight->dims[out];
  return MSLITE_OK;
}

static int64_t dimension(mslite_shape_context *context, const mslite_tensor *x, int32_t from_last) {
  return x->rank <= from_last ? mslite_new_symbol(context) : x->dims[x->rank - 1 - from_last];
}

/* The output's weight is [hidden, columns], or transposed if only that matches. */
static int64_t attention_columns(mslite_shape_context *context, const mslite_tensor *weight, int64_t hidden) {
  if (weight->rank != 2) return mslite_new_symbol(context);
  if (weight->dims[0] == hidden) return weight->dims[1];
  const bool is_known = !mslite_is_symbol(weight->dims[0]) && !mslite_is_symbol(hidden);
  return is_known ? weight->dims[0] : mslite_new_symbol(context);
}

/* Outputs: [batch, q rows, columns of the output's weight]; the keys [batch, heads, size, k rows], the values [...,
 * k rows, size]. */
MSLITE_SHAPE_RULE(mslite_shape_of_attention) {
  const mslite_Attention *attributes = params;
  mslite_attention_operands operands;
  if (!mslite_attention_read(inputs, input_count, attributes->cross, &operands))
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "Attention with %d operands is not supported",
                             (int)input_count);
  const mslite_tensor *q = inputs[0], *k = inputs[1], *weight = inputs[operands.weight_out];
  if (q->rank >= 0 && q->rank != 2 && q->rank != 3)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "q must have 2 or 3 dimensions, not %d", (int)q->rank);
  const mslite_tensor *own = operands.own_u < 0 ? NULL : inputs[operands.own_u];
  const int64_t heads = own == NULL ? attributes->head_num : dimension(context, own, 1);
  const int64_t size = own == NULL ? attributes->head_size : dimension(context, own, 0);
  const int64_t hidden = mslite_size_multiply(context, heads, size);
  mslite_tensor *y = outputs[0];
  y->type = q->type;
  y->rank = 3;
  y->dims[0] = q->rank == 2 ? 1 : q->rank == 3 ? q->dims[0] : mslite_new_symbol(context);
  y->dims[1] = dimension(context, q, 1);
  y->dims[2] = attention_columns(context, weight, hidden);
  for (int32_t i = 1; i < output_count; ++i) {
    const int64_t rows = dimension(context, k, 1);
    outputs[i]->type = q->type;
    outputs[i]->rank = 4;
    outputs[i]->dims[0] = y->dims[0];
    outputs[i]->dims[1] = heads;
    outputs[i]->dims[2] = i == 1 ? size : rows;
    outputs[i]->dims[3] = i == 1 ? rows : size;
  }
  return MSLITE_OK;
}
