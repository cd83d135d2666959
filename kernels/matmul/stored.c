#include "matmul/stored.h"

#include "quantized.h"

mslite_rescale_kind mslite_stored_rescale_kind(const mslite_node *node) {
  const bool is_wide = node->inputs[0]->type == MSLITE_INT16;
  if (node->outputs[0]->quant->rounds_even) return is_wide ? MSLITE_RESCALE_WIDE : MSLITE_RESCALE_FIXED;
  if (node->op == MSLITE_OP_FullConnection) {
    return node->inputs[1]->type == MSLITE_INT16 ? MSLITE_RESCALE_WIDE : MSLITE_RESCALE_REAL;
  }
  return is_wide ? MSLITE_RESCALE_WIDE : MSLITE_RESCALE_FIXED;
}

int64_t mslite_stored_columns(const mslite_node *node) {
  const mslite_tensor *b = node->inputs[1];
  mslite_product_attributes attributes;
  mslite_product_read(node->op, node->params, &attributes);
  if (b->rank < 2) return -1;
  return b->dims[attributes.transpose_b ? b->rank - 2 : b->rank - 1];
}

bool mslite_quantized_matmul_fits(const mslite_node *node, int32_t a_type, int32_t b_type) {
  if (node->input_count < 2 || node->output_count != 1 || node->inputs[1] == NULL) return false;
  const mslite_tensor *b = node->inputs[1], *y = node->outputs[0];
  if (!mslite_is_quantized(node->inputs[0], a_type) || !mslite_is_quantized(y, a_type) || b->type != b_type)
    return false;
  if (b->data == NULL) {
    if (!mslite_is_quantized(b, b_type) || (node->input_count > 2 && node->inputs[2] != NULL)) return false;
  } else {
    const int64_t columns = mslite_stored_columns(node);
    if (columns < 1 || !mslite_is_quantized_weight(b, b_type, columns)) return false;
    if (b->rank != 2 && b->quant_count > 1) return false;
    if (!mslite_is_quantized_bias(node, 2, columns, a_type == MSLITE_INT16)) return false;
  }
  mslite_product_attributes attributes;
  mslite_product_read(node->op, node->params, &attributes);
  int32_t low, high;
  return mslite_quantized_limits(a_type, attributes.activation, y->quant, &low, &high);
}

mslite_stored_column mslite_stored_column_of(const mslite_node *node, int64_t at) {
  const mslite_tensor *b = node->inputs[1], *bias = node->input_count > 2 ? node->inputs[2] : NULL;
  const mslite_quant *record = mslite_quant_of(b, at);
  /* A single multiplier for all columns is computed from the product of the scales in float32. */
  const bool narrow = mslite_stored_rescale_kind(node) != MSLITE_RESCALE_REAL && b->quant_count == 1;
  mslite_stored_column column;
  column.factor = mslite_matmul_scale(node->inputs[0]->quant, record, node->outputs[0]->quant, narrow);
  column.fixed = mslite_result_multiplier(node->outputs[0]->quant, column.factor);
  column.zero = record->zero_point;
  column.bias = 0;
  if (bias != NULL) {
    column.bias = bias->type == MSLITE_INT64 ? ((const int64_t *)bias->data)[at] : ((const int32_t *)bias->data)[at];
  }
  return column;
}
