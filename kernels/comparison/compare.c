/* Comparisons and logic with broadcasting; the result is one byte (0 or 1) per element. */
#include "arithmetic/binary_row.h"
#include "arithmetic/broadcast.h"

#define ROW(name, type, expression) MSLITE_BINARY_ROW(name, type, uint8_t, expression)

#define COMPARE_ROWS(suffix, type)          \
  ROW(equal_##suffix, type, p == q)         \
  ROW(not_equal_##suffix, type, p != q)     \
  ROW(less_##suffix, type, p < q)           \
  ROW(less_equal_##suffix, type, p <= q)    \
  ROW(and_##suffix, type, p != 0 && q != 0) \
  ROW(or_##suffix, type, p != 0 || q != 0)  \
  ROW(xor_##suffix, type, (p != 0) != (q != 0))

COMPARE_ROWS(i8, int8_t)
COMPARE_ROWS(u8, uint8_t)
COMPARE_ROWS(i16, int16_t)
COMPARE_ROWS(u16, uint16_t)
COMPARE_ROWS(i32, int32_t)
COMPARE_ROWS(u32, uint32_t)
COMPARE_ROWS(i64, int64_t)
COMPARE_ROWS(u64, uint64_t)
COMPARE_ROWS(f32, float)
COMPARE_ROWS(f64, double)

#define ALL_TYPES(operation)                                                                                \
  {                                                                                                         \
    [MSLITE_BOOL] = operation##_u8, [MSLITE_INT8] = operation##_i8, [MSLITE_UINT8] = operation##_u8,        \
    [MSLITE_INT16] = operation##_i16, [MSLITE_UINT16] = operation##_u16, [MSLITE_INT32] = operation##_i32,  \
    [MSLITE_UINT32] = operation##_u32, [MSLITE_INT64] = operation##_i64, [MSLITE_UINT64] = operation##_u64, \
    [MSLITE_FLOAT32] = operation##_f32, [MSLITE_FLOAT64] = operation##_f64                                  \
  }

enum { EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, AND, OR, XOR, OPERATIONS };

static const mslite_binary_row rows[OPERATIONS][MSLITE_FLOAT64 + 1] = {
    [EQUAL] = ALL_TYPES(equal), [NOT_EQUAL] = ALL_TYPES(not_equal),   [LESS] = ALL_TYPES(less),
    [AND] = ALL_TYPES(and),     [LESS_EQUAL] = ALL_TYPES(less_equal), [OR] = ALL_TYPES(or),
    [XOR] = ALL_TYPES(xor),
};

/* Greater is Less with the operands swapped. */
static int32_t operation_of(int32_t op, int32_t *swap) {
  *swap = op == MSLITE_OP_Greater || op == MSLITE_OP_GreaterEqual;
  switch (op) {
    case MSLITE_OP_Equal:
      return EQUAL;
    case MSLITE_OP_NotEqual:
      return NOT_EQUAL;
    case MSLITE_OP_Less:
    case MSLITE_OP_Greater:
      return LESS;
    case MSLITE_OP_LessEqual:
    case MSLITE_OP_GreaterEqual:
      return LESS_EQUAL;
    case MSLITE_OP_LogicalAnd:
      return AND;
    case MSLITE_OP_LogicalOr:
      return OR;
    default:
      return XOR;
  }
}

typedef struct {
  mslite_broadcast_plan plan;
  int32_t operation;
  int32_t swap;
  int32_t type;
  int32_t size; /* bytes of an input element */
} compare_derived;

static int32_t support(const mslite_node *node) {
  const int32_t type = node->inputs[0]->type;
  return type >= 0 && type <= MSLITE_FLOAT64 && node->inputs[1]->type == type && rows[EQUAL][type] != NULL &&
         node->outputs[0]->type == MSLITE_BOOL;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  compare_derived *numbers = derived;
  numbers->operation = operation_of(node->op, &numbers->swap);
  const mslite_tensor *const operands[2] = {node->inputs[numbers->swap], node->inputs[1 - numbers->swap]};
  mslite_plan_broadcast(node->outputs[0], operands, 2, &numbers->plan, schedule);
  numbers->type = node->inputs[0]->type;
  numbers->size = mslite_type_size(numbers->type);
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const compare_derived *numbers = run->derived;
  const mslite_broadcast_plan *plan = &numbers->plan;
  const char *a = run->inputs[numbers->swap], *b = run->inputs[1 - numbers->swap];
  const mslite_binary_row row = rows[numbers->operation][numbers->type];
  const int64_t step_a = plan->strides[0][plan->rank - 1], step_b = plan->strides[1][plan->rank - 1];
  mslite_broadcast_cursor at;
  mslite_broadcast_begin(plan, part, &at);
  for (int64_t n; (n = mslite_broadcast_row(plan, &at)) > 0; mslite_broadcast_next(plan, n, &at))
    row(a + at.offset[0] * numbers->size, step_a, b + at.offset[1] * numbers->size, step_b,
        (uint8_t *)run->outputs[0] + at.at, n);
}

static int32_t in_place(const mslite_node *node) {
  return mslite_type_size(node->inputs[0]->type) == 1 ? mslite_broadcast_in_place(node) : -1;
}

#define COMPARE(operator)                                 \
  const mslite_kernel mslite_kernel_compare_##operator= { \
      .name = "compare_" #operator"_scalar",              \
      .op = MSLITE_OP_##operator,                         \
      .isa = MSLITE_ISA_SCALAR,                           \
      .derived_size = sizeof(compare_derived),            \
      .support = support,                                 \
      .prepare = prepare,                                 \
      .run = run_part,                                    \
      .in_place = in_place,                               \
  };

COMPARE(Equal)
COMPARE(NotEqual)
COMPARE(Less)
COMPARE(LessEqual)
COMPARE(Greater)
COMPARE(GreaterEqual)
COMPARE(LogicalAnd)
COMPARE(LogicalOr)
COMPARE(LogicalXor)
