/* Resolves the attributes and shapes of matmuls. */
#include "matmul/geometry.h"

void mslite_product_read(int32_t op, const void *params, mslite_product_attributes *attributes) {
  if (op == MSLITE_OP_FullConnection) {
    attributes->transpose_a = false;
    attributes->transpose_b = true;
    attributes->flatten = true;
    attributes->activation = ((const mslite_FullConnection *)params)->activation_type;
  } else if (op == MSLITE_OP_MatMulInteger) {
    const mslite_product_attributes plain = {.activation = MSLITE_ACTIVATION_TYPE_NO_ACTIVATION};
    *attributes = plain;
  } else {
    const mslite_MatMulFusion *from = params;
    attributes->transpose_a = from->transpose_a;
    attributes->transpose_b = from->transpose_b;
    attributes->flatten = false;
    attributes->activation = from->activation_type;
  }
}

/* Returns batch dimension `i` counted from the last one; 1 if the tensor does not have it. */
static int64_t batch_dim(const mslite_tensor *tensor, int32_t i) {
  const int32_t at = tensor->rank - 3 - i;
  return at < 0 ? 1 : tensor->dims[at];
}

static mslite_status resolve_batch(const mslite_tensor *a, const mslite_tensor *b, mslite_matmul *product) {
  const int32_t rank_a = a->rank > 2 ? a->rank - 2 : 0, rank_b = b->rank > 2 ? b->rank - 2 : 0;
  product->batch_rank = rank_a > rank_b ? rank_a : rank_b;
  product->batch = product->b_batch = 1;
  int64_t matrices_a = 1;
  for (int32_t i = 0; i < product->batch_rank; ++i) {
    const int32_t at = product->batch_rank - 1 - i;
    const int64_t x = batch_dim(a, i), y = batch_dim(b, i);
    if (x != y && x != 1 && y != 1) return MSLITE_ERROR_SHAPE;
    product->batch_dims[at] = x == 1 ? y : x;
    product->a_step[at] = x == 1 ? 0 : matrices_a;
    product->b_step[at] = y == 1 ? 0 : product->b_batch;
    matrices_a *= x;
    product->b_batch *= y;
    product->batch *= product->batch_dims[at];
  }
  return MSLITE_OK;
}

mslite_status mslite_matmul_of(const mslite_node *node, mslite_matmul *product) {
  mslite_product_attributes attributes;
  mslite_product_read(node->op, node->params, &attributes);
  const mslite_tensor *a = node->inputs[0], *b = node->inputs[1];
  product->transpose_a = attributes.transpose_a && a->rank > 1;
  product->transpose_b = attributes.transpose_b && b->rank > 1;
  product->activation = attributes.activation;
  product->has_bias = node->input_count > 2 && node->inputs[2] != NULL;
  if (attributes.flatten) {
    if (b->rank != 2 || mslite_element_count(a) < 0) return MSLITE_ERROR_SHAPE;
    product->batch_rank = 0;
    product->batch = product->b_batch = 1;
    product->n = b->dims[0];
    product->k = b->dims[1];
    if (product->k == 0 || mslite_element_count(a) % product->k != 0) return MSLITE_ERROR_SHAPE;
    product->m = mslite_element_count(a) / product->k;
    return MSLITE_OK;
  }
  if (a->rank < 1 || b->rank < 1) return MSLITE_ERROR_SHAPE;
  const int64_t rows_a = a->rank == 1 ? 1 : a->dims[a->rank - 2], columns_a = a->dims[a->rank - 1];
  const int64_t rows_b = b->rank == 1 ? b->dims[0] : b->dims[b->rank - 2];
  const int64_t columns_b = b->rank == 1 ? 1 : b->dims[b->rank - 1];
  product->m = product->transpose_a ? columns_a : rows_a;
  product->k = product->transpose_a ? rows_a : columns_a;
  product->n = product->transpose_b ? rows_b : columns_b;
  if (product->k != (product->transpose_b ? columns_b : rows_b)) return MSLITE_ERROR_SHAPE;
  return resolve_batch(a, b, product);
}

bool mslite_matmul_fits(const mslite_node *node, int32_t type, mslite_matmul *product) {
  if (node->input_count < 2 || node->inputs[0]->type != type) return false;
  /* Constants for float16 computations are packed from float32. */
  const bool is_half = type == MSLITE_FLOAT16;
  if (node->inputs[1]->type != (is_half && node->inputs[1]->data != NULL ? MSLITE_FLOAT32 : type)) return false;
  if (mslite_matmul_of(node, product) != MSLITE_OK) return false;
  if (!product->has_bias) return true;
  return node->inputs[2]->type == (is_half && node->inputs[2]->data != NULL ? MSLITE_FLOAT32 : type) &&
         mslite_element_count(node->inputs[2]) == product->n;
}
