#include "matmul/integer_product.h"

static bool is_byte(const mslite_tensor *tensor) {
  return tensor != NULL && (tensor->type == MSLITE_INT8 || tensor->type == MSLITE_UINT8);
}

int32_t mslite_integer_matmul_support(const mslite_node *node) {
  if (node->input_count < MSLITE_SCALE) return 0;
  const mslite_tensor *const *inputs = node->inputs;
  if (!is_byte(inputs[MSLITE_A]) || !is_byte(inputs[MSLITE_B])) return 0;
  if (inputs[MSLITE_A_ZERO] == NULL || inputs[MSLITE_A_ZERO]->type != inputs[MSLITE_A]->type) return 0;
  if (inputs[MSLITE_B_ZERO] == NULL || inputs[MSLITE_B_ZERO]->type != inputs[MSLITE_B]->type) return 0;
  for (int32_t i = MSLITE_SCALE; i < node->input_count; ++i) {
    if (inputs[i] == NULL || inputs[i]->type != MSLITE_FLOAT32) return 0;
  }
  return node->outputs[0]->type == (node->input_count > MSLITE_SCALE ? MSLITE_FLOAT32 : MSLITE_INT32);
}

mslite_status mslite_integer_operands_of(const mslite_node *node, int64_t columns, mslite_integer_operands *operands) {
  const mslite_tensor *const *inputs = node->inputs;
  operands->a_flip = inputs[MSLITE_A]->type == MSLITE_UINT8 ? 128 : 0;
  operands->b_flip = inputs[MSLITE_B]->type == MSLITE_UINT8 ? 128 : 0;
  operands->a_zeros = mslite_element_count(inputs[MSLITE_A_ZERO]);
  operands->b_zeros = mslite_element_count(inputs[MSLITE_B_ZERO]);
  operands->scales = node->input_count > MSLITE_SCALE ? mslite_element_count(inputs[MSLITE_SCALE]) : 0;
  operands->a_rows = 1;
  operands->has_bias = node->input_count > MSLITE_BIAS;
  operands->has_row_scale = node->input_count > MSLITE_ROW_SCALE;
  operands->scales_apart = 0;
  if (operands->a_zeros < 1 || operands->b_zeros < 1) return MSLITE_ERROR_SHAPE;
  if (node->input_count > MSLITE_SCALE && operands->scales != 1 && operands->scales != columns) {
    return MSLITE_ERROR_SHAPE;
  }
  if (operands->has_row_scale != 0 && mslite_element_count(inputs[MSLITE_ROW_SCALE]) != operands->a_zeros) {
    return MSLITE_ERROR_SHAPE;
  }
  if (operands->has_bias != 0 && mslite_element_count(inputs[MSLITE_BIAS]) != columns) return MSLITE_ERROR_SHAPE;
  return MSLITE_OK;
}

bool mslite_integer_b_is_symmetric(const mslite_node *node) {
  const mslite_tensor *zero = node->inputs[MSLITE_B_ZERO];
  if (zero->data == NULL) return false;
  const uint8_t nothing = node->inputs[MSLITE_B]->type == MSLITE_UINT8 ? 128 : 0;
  const int64_t count = mslite_element_count(zero);
  for (int64_t i = 0; i < count; ++i) {
    if (((const uint8_t *)zero->data)[i] != nothing) return false;
  }
  return true;
}
