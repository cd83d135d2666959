/* Which operand of Attention is which. */
#include "matmul/attention.h"

enum { Q, K, V, FIRST, RELATIVE = 11, RELATIVE_BIAS = 15 };

static const mslite_attention_operands NONE = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

bool mslite_attention_read(const mslite_tensor *const *inputs, int32_t input_count, bool cross,
                           mslite_attention_operands *operands) {
  *operands = NONE;
  if (input_count == RELATIVE || input_count == RELATIVE_BIAS) {
    operands->positions = 3;
    operands->weight_q = 4;
    operands->weight_k = 5;
    operands->weight_v = 6;
    operands->weight_positions = 7;
    operands->own_u = 8;
    operands->own_v = 9;
    operands->weight_out = 10;
    if (input_count == RELATIVE_BIAS) {
      operands->bias_q = 11;
      operands->bias_k = 12;
      operands->bias_v = 13;
      operands->bias_out = 14;
    }
    return true;
  }
  int32_t next = FIRST;
  operands->weight_q = next;
  if (cross) ++next;
  operands->weight_k = operands->weight_v = next++;
  operands->weight_out = next++;
  if (input_count <= next) return false;
  if (inputs[next]->rank == 1) {
    operands->bias_qkv = next++;
    operands->bias_out = next++;
  } else {
    operands->added = next++;
  }
  if (input_count > next) operands->mask = next++;
  return input_count == next;
}
