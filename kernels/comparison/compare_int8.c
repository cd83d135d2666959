/* Comparisons of quantized integers of 8 and 16 bits, and Where on them, with TensorFlow Lite's reference
 * arithmetic: both operands are rescaled with 8 extra bits and compared as integers. */
#include <string.h>

#include "arithmetic/broadcast.h"
#include "math/fixed_point.h"
#include "quantized.h"

enum { EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL };

typedef struct {
  mslite_broadcast_plan plan;
  int32_t operation;
  int32_t size; /* bytes per element of an operand */
  int32_t left; /* operands are multiplied by 2^left before they are rescaled; -1: compared as they are */
  int32_t zero_a, zero_b;
  mslite_multiplier a, b;
} compare_derived;

static int32_t operation_of(int32_t op) {
  switch (op) {
    case MSLITE_OP_Equal:
      return EQUAL;
    case MSLITE_OP_NotEqual:
      return NOT_EQUAL;
    case MSLITE_OP_Less:
      return LESS;
    case MSLITE_OP_LessEqual:
      return LESS_EQUAL;
    case MSLITE_OP_Greater:
      return GREATER;
    default:
      return GREATER_EQUAL;
  }
}

static bool has_zero_in_range(const mslite_quant *record) {
  return record->zero_point >= INT16_MIN && record->zero_point <= INT16_MAX;
}

/* The reference orders int16 by the stored integers, whatever their scales are. Models of other frameworks compare
 * real values. */
static int32_t support(const mslite_node *node) {
  const mslite_tensor *a = node->inputs[0], *b = node->inputs[1];
  const int32_t type = a->type;
  if ((type != MSLITE_INT8 && type != MSLITE_INT16)) return 0;
  if (!mslite_is_quantized(a, type) || !mslite_is_quantized(b, type)) return 0;
  if (!has_zero_in_range(a->quant) || !has_zero_in_range(b->quant)) return 0;
  const bool same = a->quant->scale == b->quant->scale && a->quant->zero_point == b->quant->zero_point;
  return type == MSLITE_INT8 || operation_of(node->op) <= NOT_EQUAL || same || !a->quant->rounds_even;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  compare_derived *numbers = derived;
  const mslite_quant *a = node->inputs[0]->quant, *b = node->inputs[1]->quant;
  memset(numbers, 0, sizeof *numbers);
  mslite_plan_broadcast(node->outputs[0], node->inputs, 2, &numbers->plan, schedule);
  numbers->operation = operation_of(node->op);
  numbers->size = mslite_type_size(node->inputs[0]->type);
  numbers->left = node->inputs[0]->type == MSLITE_INT16 && numbers->operation > NOT_EQUAL ? -1 : 8;
  numbers->zero_a = a->zero_point;
  numbers->zero_b = b->zero_point;
  numbers->a = mslite_make_multiplier((double)(float)a->scale);
  numbers->b = mslite_make_multiplier((double)(float)b->scale);
  return MSLITE_OK;
}

static int32_t value_of(const compare_derived *n, const void *data, int64_t at, int32_t zero,
                        mslite_multiplier factor) {
  const int32_t q = n->size == 1 ? ((const int8_t *)data)[at] : ((const int16_t *)data)[at];
  return n->left < 0 ? q : mslite_rescale((q - zero) * (1 << n->left), factor);
}

static bool holds(int32_t operation, int32_t p, int32_t q) {
  switch (operation) {
    case EQUAL:
      return p == q;
    case NOT_EQUAL:
      return p != q;
    case LESS:
      return p < q;
    case LESS_EQUAL:
      return p <= q;
    case GREATER:
      return p > q;
    default:
      return p >= q;
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const compare_derived *numbers = run->derived;
  const mslite_broadcast_plan *plan = &numbers->plan;
  const int64_t step_a = plan->strides[0][plan->rank - 1], step_b = plan->strides[1][plan->rank - 1];
  mslite_broadcast_cursor at;
  mslite_broadcast_begin(plan, part, &at);
  for (int64_t n; (n = mslite_broadcast_row(plan, &at)) > 0; mslite_broadcast_next(plan, n, &at)) {
    for (int64_t i = 0; i < n; ++i) {
      const int32_t p = value_of(numbers, run->inputs[0], at.offset[0] + i * step_a, numbers->zero_a, numbers->a);
      const int32_t q = value_of(numbers, run->inputs[1], at.offset[1] + i * step_b, numbers->zero_b, numbers->b);
      ((uint8_t *)run->outputs[0])[at.at + i] = holds(numbers->operation, p, q);
    }
  }
}

#define COMPARE(operator_)                                       \
  const mslite_kernel mslite_kernel_compare_int8_##operator_ = { \
      .name = "compare_int8_" #operator_ "_scalar",              \
      .op = MSLITE_OP_##operator_,                               \
      .isa = MSLITE_ISA_SCALAR,                                  \
      .derived_size = sizeof(compare_derived),                   \
      .support = support,                                        \
      .prepare = prepare,                                        \
      .run = run_part,                                           \
      .quantized = 1,                                            \
  };

COMPARE(Equal)
COMPARE(NotEqual)
COMPARE(Less)
COMPARE(LessEqual)
COMPARE(Greater)
COMPARE(GreaterEqual)
