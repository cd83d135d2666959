/* Binary operators on integers and float64, and rarely used ones on float32, without vector code. */
#include <math.h>

#include "arithmetic/binary_row.h"
#include "arithmetic/broadcast.h"
#include "math/scalar_math.h"

#define ROW(name, type, expression) MSLITE_BINARY_ROW(name, type, type, expression)
#define BITS(type) ((int)sizeof(type) * 8)

/* Integers wrap around: they are computed as unsigned values of at least 32 bits (`wide`). Division by 0 gives 0. */
#define INTEGER_ROWS(suffix, type, wide)                                                    \
  ROW(add_##suffix, type, (type)((wide)p + (wide)q))                                        \
  ROW(sub_##suffix, type, (type)((wide)p - (wide)q))                                        \
  ROW(mul_##suffix, type, (type)((wide)p * (wide)q))                                        \
  ROW(squared_difference_##suffix, type, (type)(((wide)p - (wide)q) * ((wide)p - (wide)q))) \
  ROW(max_##suffix, type, p > q ? p : q)                                                    \
  ROW(min_##suffix, type, p < q ? p : q)                                                    \
  ROW(and_##suffix, type, (type)(p & q))                                                    \
  ROW(or_##suffix, type, (type)(p | q))                                                     \
  ROW(xor_##suffix, type, (type)(p ^ q))                                                    \
  ROW(shift_left_##suffix, type, (type)((wide)q < BITS(type) ? (wide)p << q : (wide)0))

#define SIGNED_ROWS(suffix, type, wide)                                                                               \
  INTEGER_ROWS(suffix, type, wide)                                                                                    \
  ROW(div_##suffix, type, (type)(q == 0 ? (wide)0 : q == -1 ? (wide)0 - (wide)p : (wide)(p / q)))                     \
  ROW(mod_##suffix, type, (type)(q == 0 || q == -1 ? 0 : p % q))                                                      \
  ROW(floor_div_##suffix, type,                                                                                       \
      (type)(q == 0    ? (wide)0                                                                                      \
             : q == -1 ? (wide)0 - (wide)p                                                                            \
                       : (wide)(p / q) - (wide)(p % q != 0 && (p < 0) != (q < 0))))                                   \
  ROW(floor_mod_##suffix, type, (type)(q == 0 || q == -1 ? 0 : p % q != 0 && (p < 0) != (q < 0) ? p % q + q : p % q)) \
  ROW(shift_right_##suffix, type, (type)(p >> (q >= 0 && q < BITS(type) ? (int)q : BITS(type) - 1)))

#define UNSIGNED_ROWS(suffix, type, wide)             \
  INTEGER_ROWS(suffix, type, wide)                    \
  ROW(div_##suffix, type, (type)(q == 0 ? 0 : p / q)) \
  ROW(mod_##suffix, type, (type)(q == 0 ? 0 : p % q)) \
  ROW(shift_right_##suffix, type, (type)((wide)q < BITS(type) ? (wide)p >> q : (wide)0))

SIGNED_ROWS(i8, int8_t, uint32_t)
SIGNED_ROWS(i16, int16_t, uint32_t)
SIGNED_ROWS(i32, int32_t, uint32_t)
SIGNED_ROWS(i64, int64_t, uint64_t)
UNSIGNED_ROWS(u8, uint8_t, uint32_t)
UNSIGNED_ROWS(u16, uint16_t, uint32_t)
UNSIGNED_ROWS(u32, uint32_t, uint32_t)
UNSIGNED_ROWS(u64, uint64_t, uint64_t)

/* The remainder has the sign of the divisor, also if it is 0. */
static double floor_mod_of(double p, double q) {
  const double rest = fmod(p, q);
  if (rest == 0) return copysign(0, q);
  return (rest < 0) != (q < 0) ? rest + q : rest;
}

ROW(add_f64, double, p + q)
ROW(sub_f64, double, p - q)
ROW(mul_f64, double, p *q)
ROW(div_f64, double, p / q)
ROW(squared_difference_f64, double, (p - q) * (p - q))
ROW(max_f64, double, p != p || p > q ? p : q)
ROW(min_f64, double, p != p || p < q ? p : q)
ROW(mod_f64, double, fmod(p, q))
ROW(floor_div_f64, double, floor(p / q))
ROW(floor_mod_f64, double, floor_mod_of(p, q))
ROW(atan2_f64, double, mslite_atan2(p, q))
ROW(mod_f32, float, fmodf(p, q))
ROW(floor_div_f32, float, floorf(p / q))
ROW(floor_mod_f32, float, (float)floor_mod_of(p, q))
ROW(atan2_f32, float, (float)mslite_atan2(p, q))

#define SIGNED_OF(operation)                                                                          \
  [MSLITE_INT8] = operation##_i8, [MSLITE_INT16] = operation##_i16, [MSLITE_INT32] = operation##_i32, \
  [MSLITE_INT64] = operation##_i64, [MSLITE_INT] = operation##_i32
#define UNSIGNED_OF(operation)                                                                           \
  [MSLITE_UINT8] = operation##_u8, [MSLITE_UINT16] = operation##_u16, [MSLITE_UINT32] = operation##_u32, \
  [MSLITE_UINT64] = operation##_u64, [MSLITE_UINT] = operation##_u32
#define INTEGERS_OF(operation) SIGNED_OF(operation), UNSIGNED_OF(operation)

typedef struct {
  mslite_broadcast_plan plan;
  int32_t mode; /* Eltwise's mode */
  int32_t type;
  int64_t size; /* bytes per element */
} binary_derived;

static void run_rows(const mslite_run *run, int32_t part, const mslite_binary_row *rows) {
  const binary_derived *numbers = run->derived;
  const mslite_broadcast_plan *plan = &numbers->plan;
  const mslite_binary_row row = rows[numbers->type];
  const int64_t size = numbers->size, step_a = plan->strides[0][plan->rank - 1],
                step_b = plan->strides[1][plan->rank - 1];
  mslite_broadcast_cursor at;
  mslite_broadcast_begin(plan, part, &at);
  for (int64_t n; (n = mslite_broadcast_row(plan, &at)) > 0; mslite_broadcast_next(plan, n, &at))
    row((const char *)run->inputs[0] + at.offset[0] * size, step_a, (const char *)run->inputs[1] + at.offset[1] * size,
        step_b, (char *)run->outputs[0] + at.at * size, n);
}

enum { TYPES = MSLITE_FLOAT64 + 1 };

/* The row functions of one operation, by data type. Separate per operation, so that generated C contains only those
 * that it uses. */
static const mslite_binary_row add_rows[TYPES] = {INTEGERS_OF(add), [MSLITE_FLOAT64] = add_f64};
static const mslite_binary_row sub_rows[TYPES] = {INTEGERS_OF(sub), [MSLITE_FLOAT64] = sub_f64};
static const mslite_binary_row mul_rows[TYPES] = {INTEGERS_OF(mul), [MSLITE_FLOAT64] = mul_f64, [MSLITE_BOOL] = and_u8};
static const mslite_binary_row div_rows[TYPES] = {INTEGERS_OF(div), [MSLITE_FLOAT64] = div_f64};
static const mslite_binary_row floor_div_rows[TYPES] = {
    SIGNED_OF(floor_div), UNSIGNED_OF(div), [MSLITE_FLOAT64] = floor_div_f64, [MSLITE_FLOAT32] = floor_div_f32,
    [MSLITE_FLOAT] = floor_div_f32};
static const mslite_binary_row floor_mod_rows[TYPES] = {
    SIGNED_OF(floor_mod), UNSIGNED_OF(mod), [MSLITE_FLOAT64] = floor_mod_f64, [MSLITE_FLOAT32] = floor_mod_f32,
    [MSLITE_FLOAT] = floor_mod_f32};
static const mslite_binary_row mod_rows[TYPES] = {
    INTEGERS_OF(mod), [MSLITE_FLOAT64] = mod_f64, [MSLITE_FLOAT32] = mod_f32, [MSLITE_FLOAT] = mod_f32};
static const mslite_binary_row max_rows[TYPES] = {INTEGERS_OF(max), [MSLITE_FLOAT64] = max_f64, [MSLITE_BOOL] = max_u8};
static const mslite_binary_row min_rows[TYPES] = {INTEGERS_OF(min), [MSLITE_FLOAT64] = min_f64, [MSLITE_BOOL] = min_u8};
static const mslite_binary_row squared_rows[TYPES] = {
    INTEGERS_OF(squared_difference), [MSLITE_FLOAT64] = squared_difference_f64};
static const mslite_binary_row and_rows[TYPES] = {INTEGERS_OF(and), [MSLITE_BOOL] = and_u8};
static const mslite_binary_row or_rows[TYPES] = {INTEGERS_OF(or), [MSLITE_BOOL] = or_u8};
static const mslite_binary_row xor_rows[TYPES] = {INTEGERS_OF(xor), [MSLITE_BOOL] = xor_u8};
static const mslite_binary_row shift_left_rows[TYPES] = {INTEGERS_OF(shift_left)};
static const mslite_binary_row shift_right_rows[TYPES] = {INTEGERS_OF(shift_right)};
static const mslite_binary_row atan2_rows[TYPES] = {
    [MSLITE_FLOAT64] = atan2_f64, [MSLITE_FLOAT32] = atan2_f32, [MSLITE_FLOAT] = atan2_f32};

#define RUN(name)                                                              \
  static void name##_run(const mslite_run *run, int32_t phase, int32_t part) { \
    (void)phase;                                                               \
    run_rows(run, part, name##_rows);                                          \
  }
RUN(add)
RUN(sub)
RUN(mul)
RUN(div)
RUN(floor_div)
RUN(floor_mod)
RUN(mod)
RUN(max)
RUN(min)
RUN(squared)
RUN(and)
RUN(or)
RUN(xor)
RUN(shift_left)
RUN(shift_right)
RUN(atan2)

/* Returns the row functions of a node's operation. Nodes with a fused activation are left to the float32 kernels. */
static const mslite_binary_row *rows_of(const mslite_node *node) {
  int32_t activation = MSLITE_ACTIVATION_TYPE_NO_ACTIVATION;
  const mslite_binary_row *rows = NULL;
  switch (node->op) {
    case MSLITE_OP_AddFusion:
      activation = ((const mslite_AddFusion *)node->params)->activation_type;
      rows = add_rows;
      break;
    case MSLITE_OP_SubFusion:
      activation = ((const mslite_SubFusion *)node->params)->activation_type;
      rows = sub_rows;
      break;
    case MSLITE_OP_MulFusion:
      activation = ((const mslite_MulFusion *)node->params)->activation_type;
      rows = mul_rows;
      break;
    case MSLITE_OP_DivFusion:
      activation = ((const mslite_DivFusion *)node->params)->activation_type;
      rows = div_rows;
      break;
    case MSLITE_OP_Eltwise: {
      const int32_t mode = ((const mslite_Eltwise *)node->params)->mode;
      if (mode == MSLITE_ELTWISE_MODE_PROD) rows = mul_rows;
      if (mode == MSLITE_ELTWISE_MODE_SUM) rows = add_rows;
      if (mode == MSLITE_ELTWISE_MODE_MAXIMUM) rows = max_rows;
      break;
    }
#define CASE(op, name)  \
  case MSLITE_OP_##op:  \
    rows = name##_rows; \
    break;
      CASE(RealDiv, div)
      CASE(FloorDiv, floor_div)
      CASE(FloorMod, floor_mod)
      CASE(Mod, mod)
      CASE(Maximum, max)
      CASE(Minimum, min)
      CASE(SquaredDifference, squared)
      CASE(BitwiseAnd, and)
      CASE(BitwiseOr, or)
      CASE(BitwiseXor, xor)
      CASE(ShiftLeft, shift_left)
      CASE(ShiftRight, shift_right)
      CASE(Atan2, atan2)
#undef CASE
    default:
      break;
  }
  return activation == MSLITE_ACTIVATION_TYPE_NO_ACTIVATION ? rows : NULL;
}

static int32_t support(const mslite_node *node) {
  const mslite_binary_row *rows = rows_of(node);
  const int32_t type = node->inputs[0]->type;
  if (rows == NULL || node->input_count != 2 || type < 0 || type > MSLITE_FLOAT64) return 0;
  if (node->inputs[1]->type != type || node->outputs[0]->type != type) return 0;
  return rows[type] != NULL;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  binary_derived *numbers = derived;
  mslite_plan_broadcast(node->outputs[0], node->inputs, 2, &numbers->plan, schedule);
  numbers->mode = node->op == MSLITE_OP_Eltwise ? ((const mslite_Eltwise *)node->params)->mode : 0;
  numbers->type = node->inputs[0]->type;
  numbers->size = mslite_type_size(numbers->type);
  return MSLITE_OK;
}

static void eltwise_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const int32_t mode = ((const binary_derived *)run->derived)->mode;
  run_rows(run, part,
           mode == MSLITE_ELTWISE_MODE_PROD  ? mul_rows
           : mode == MSLITE_ELTWISE_MODE_SUM ? add_rows
                                             : max_rows);
}

#define BINARY(operator, operation)                      \
  const mslite_kernel mslite_kernel_binary_##operator= { \
      .name = "binary_" #operator"_scalar",              \
      .op = MSLITE_OP_##operator,                        \
      .isa = MSLITE_ISA_SCALAR,                          \
      .derived_size = sizeof(binary_derived),            \
      .support = support,                                \
      .prepare = prepare,                                \
      .run = operation##_run,                            \
      .in_place = mslite_broadcast_in_place,             \
  };

BINARY(AddFusion, add)
BINARY(SubFusion, sub)
BINARY(MulFusion, mul)
BINARY(DivFusion, div)
BINARY(RealDiv, div)
BINARY(FloorDiv, floor_div)
BINARY(FloorMod, floor_mod)
BINARY(Mod, mod)
BINARY(Maximum, max)
BINARY(Minimum, min)
BINARY(SquaredDifference, squared)
BINARY(Eltwise, eltwise)
BINARY(BitwiseAnd, and)
BINARY(BitwiseOr, or)
BINARY(BitwiseXor, xor)
BINARY(ShiftLeft, shift_left)
BINARY(ShiftRight, shift_right)
BINARY(Atan2, atan2)
