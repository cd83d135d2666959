/* Comparison and logical operators with broadcasting; the result is one byte (0 or 1) per element. */
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

typedef struct {
  mslite_broadcast_plan plan;
  int32_t swap; /* Greater is computed as Less with swapped operands */
  int32_t type;
  int32_t size; /* bytes per input element */
} compare_derived;

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  compare_derived *numbers = derived;
  numbers->swap = node->op == MSLITE_OP_Greater || node->op == MSLITE_OP_GreaterEqual;
  const mslite_tensor *const operands[2] = {node->inputs[numbers->swap], node->inputs[1 - numbers->swap]};
  mslite_plan_broadcast(node->outputs[0], operands, 2, &numbers->plan, schedule);
  numbers->type = node->inputs[0]->type;
  numbers->size = mslite_type_size(numbers->type);
  return MSLITE_OK;
}

static void run_rows(const mslite_run *run, int32_t part, const mslite_binary_row *rows) {
  const compare_derived *numbers = run->derived;
  const mslite_broadcast_plan *plan = &numbers->plan;
  const char *a = run->inputs[numbers->swap], *b = run->inputs[1 - numbers->swap];
  const mslite_binary_row row = rows[numbers->type];
  const int64_t step_a = plan->strides[0][plan->rank - 1], step_b = plan->strides[1][plan->rank - 1];
  mslite_broadcast_cursor at;
  mslite_broadcast_begin(plan, part, &at);
  for (int64_t n; (n = mslite_broadcast_row(plan, &at)) > 0; mslite_broadcast_next(plan, n, &at))
    row(a + at.offset[0] * numbers->size, step_a, b + at.offset[1] * numbers->size, step_b,
        (uint8_t *)run->outputs[0] + at.at, n);
}

/* The row functions of one operation, by data type. Separate per operation, so that generated C contains only those
 * that it uses. */
#define OPERATION(name)                                                                          \
  static const mslite_binary_row name##_rows[MSLITE_FLOAT64 + 1] = {                             \
      [MSLITE_BOOL] = name##_u8,     [MSLITE_INT8] = name##_i8,    [MSLITE_UINT8] = name##_u8,   \
      [MSLITE_INT16] = name##_i16,   [MSLITE_UINT16] = name##_u16, [MSLITE_INT32] = name##_i32,  \
      [MSLITE_UINT32] = name##_u32,  [MSLITE_INT64] = name##_i64,  [MSLITE_UINT64] = name##_u64, \
      [MSLITE_FLOAT32] = name##_f32, [MSLITE_FLOAT64] = name##_f64};                             \
  static void name##_run(const mslite_run *run, int32_t phase, int32_t part) {                   \
    (void)phase;                                                                                 \
    run_rows(run, part, name##_rows);                                                            \
  }

OPERATION(equal)
OPERATION(not_equal)
OPERATION(less)
OPERATION(less_equal)
OPERATION(and)
OPERATION(or)
OPERATION(xor)

static int32_t support(const mslite_node *node) {
  const int32_t type = node->inputs[0]->type;
  return type >= 0 && type <= MSLITE_FLOAT64 && node->inputs[1]->type == type && equal_rows[type] != NULL &&
         node->outputs[0]->type == MSLITE_BOOL;
}

static int32_t in_place(const mslite_node *node) {
  return mslite_type_size(node->inputs[0]->type) == 1 ? mslite_broadcast_in_place(node) : -1;
}

#define COMPARE(operator, operation)                      \
  const mslite_kernel mslite_kernel_compare_##operator= { \
      .name = "compare_" #operator"_scalar",              \
      .op = MSLITE_OP_##operator,                         \
      .isa = MSLITE_ISA_SCALAR,                           \
      .derived_size = sizeof(compare_derived),            \
      .support = support,                                 \
      .prepare = prepare,                                 \
      .run = operation##_run,                             \
      .in_place = in_place,                               \
  };

COMPARE(Equal, equal)
COMPARE(NotEqual, not_equal)
COMPARE(Less, less)
COMPARE(LessEqual, less_equal)
COMPARE(Greater, less)
COMPARE(GreaterEqual, less_equal)
COMPARE(LogicalAnd, and)
COMPARE(LogicalOr, or)
COMPARE(LogicalXor, xor)
