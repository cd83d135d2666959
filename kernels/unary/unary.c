/* Element-wise functions of one tensor: float64, integers and bool, and the float32 functions that are computed in
 * float64. */
#include <math.h>

#include "kernel.h"
#include "math/scalar_math.h"

enum { PART_ELEMENTS = 4096 };

typedef void (*unary_row)(const void *x, void *y, int64_t n);

#define ROW(name, from, to, expression)                   \
  static void name(const void *xv, void *yv, int64_t n) { \
    const from *x = xv;                                   \
    to *y = yv;                                           \
    for (int64_t i = 0; i < n; ++i) {                     \
      const from v = x[i];                                \
      y[i] = (to)(expression);                            \
    }                                                     \
  }

/* Integers wrap around: abs and neg of the lowest number return that number. */
#define INTEGER_ROWS(suffix, type, wide)                             \
  ROW(abs_##suffix, type, type, v < 0 ? (wide)0 - (wide)v : (wide)v) \
  ROW(neg_##suffix, type, type, (wide)0 - (wide)v)                   \
  ROW(square_##suffix, type, type, (wide)v *(wide)v)                 \
  ROW(sign_##suffix, type, type, (v > 0) - (v < 0))                  \
  ROW(not_##suffix, type, type, ~(wide)v)
INTEGER_ROWS(i8, int8_t, uint32_t)
INTEGER_ROWS(i16, int16_t, uint32_t)
INTEGER_ROWS(i32, int32_t, uint32_t)
INTEGER_ROWS(i64, int64_t, uint64_t)

#define UNSIGNED_ROWS(suffix, type, wide)            \
  ROW(same_##suffix, type, type, v)                  \
  ROW(square_##suffix, type, type, (wide)v *(wide)v) \
  ROW(sign_##suffix, type, type, v > 0)              \
  ROW(not_##suffix, type, type, ~(wide)v)
UNSIGNED_ROWS(u8, uint8_t, uint32_t)
UNSIGNED_ROWS(u16, uint16_t, uint32_t)
UNSIGNED_ROWS(u32, uint32_t, uint32_t)
UNSIGNED_ROWS(u64, uint64_t, uint64_t)
ROW(logical_not, uint8_t, uint8_t, v == 0)
ROW(logical_not_i32, int32_t, int32_t, v == 0)
ROW(logical_not_f32, float, float, v == 0.0F)

#define DOUBLE_ROWS(name, expression) ROW(name##_f64, double, double, expression)
#define FLOAT_ROWS(name)                            \
  ROW(name##_f64, double, double, mslite_##name(v)) \
  ROW(name##_f32, float, float, mslite_##name((double)v))
DOUBLE_ROWS(abs, fabs(v))
DOUBLE_ROWS(neg, -v)
DOUBLE_ROWS(square, v *v)
DOUBLE_ROWS(sqrt, sqrt(v))
DOUBLE_ROWS(rsqrt, 1 / sqrt(v))
DOUBLE_ROWS(reciprocal, 1 / v)
DOUBLE_ROWS(ceil, ceil(v))
DOUBLE_ROWS(floor, floor(v))
DOUBLE_ROWS(round, rint(v))
DOUBLE_ROWS(sign, v > 0 ? 1 : v < 0 ? -1 : v)
DOUBLE_ROWS(exp, mslite_exp(v))
DOUBLE_ROWS(log, mslite_log(v))
DOUBLE_ROWS(erf, mslite_erf(v))
FLOAT_ROWS(sin)
FLOAT_ROWS(cos)
FLOAT_ROWS(tan)
FLOAT_ROWS(asin)
FLOAT_ROWS(acos)
FLOAT_ROWS(atan)
FLOAT_ROWS(sinh)
FLOAT_ROWS(cosh)
FLOAT_ROWS(asinh)
FLOAT_ROWS(acosh)
FLOAT_ROWS(atanh)
FLOAT_ROWS(log1p)
ROW(is_nan_f32, float, uint8_t, v != v)
ROW(is_nan_f64, double, uint8_t, v != v)
ROW(is_finite_f32, float, uint8_t, v - v == 0.0F)
ROW(is_finite_f64, double, uint8_t, v - v == 0.0)
ROW(is_positive_infinity_f32, float, uint8_t, v == INFINITY)
ROW(is_negative_infinity_f32, float, uint8_t, v == -INFINITY)
ROW(is_infinity_f32, float, uint8_t, v == INFINITY || v == -INFINITY)
ROW(is_positive_infinity_f64, double, uint8_t, v == INFINITY)
ROW(is_negative_infinity_f64, double, uint8_t, v == -INFINITY)
ROW(is_infinity_f64, double, uint8_t, v == INFINITY || v == -INFINITY)
ROW(never_f32, float, uint8_t, v != v && v == v)
ROW(never_f64, double, uint8_t, v != v && v == v)

#define PICK(type_name, row) \
  case type_name:            \
    return row;
#define SIGNED_OF(name)        \
  PICK(MSLITE_INT8, name##_i8) \
  PICK(MSLITE_INT16, name##_i16) PICK(MSLITE_INT32, name##_i32) PICK(MSLITE_INT64, name##_i64)
#define UNSIGNED_OF(name)       \
  PICK(MSLITE_UINT8, name##_u8) \
  PICK(MSLITE_UINT16, name##_u16) PICK(MSLITE_UINT32, name##_u32) PICK(MSLITE_UINT64, name##_u64)
#define FLOATS_OF(name) PICK(MSLITE_FLOAT32, name##_f32) PICK(MSLITE_FLOAT64, name##_f64)

static unary_row infinity_row(int32_t type, bool negative, bool positive) {
  if (negative && positive) switch (type) {
      FLOATS_OF(is_infinity) default : return NULL;
    }
  if (negative) switch (type) {
      FLOATS_OF(is_negative_infinity) default : return NULL;
    }
  if (positive) switch (type) {
      FLOATS_OF(is_positive_infinity) default : return NULL;
    }
  switch (type) { FLOATS_OF(never) default : return NULL; }
}

typedef struct {
  int64_t count;
  int32_t type;
  int32_t size_in;
  int32_t size_out;
  int32_t negative; /* IsInf: the signs to find */
  int32_t positive;
} unary_derived;

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  unary_derived *numbers = derived;
  numbers->count = mslite_element_count(node->outputs[0]);
  numbers->type = node->inputs[0]->type;
  numbers->size_in = mslite_type_size(node->inputs[0]->type);
  numbers->size_out = mslite_type_size(node->outputs[0]->type);
  numbers->negative = node->op == MSLITE_OP_IsInf && ((const mslite_IsInf *)node->params)->detect_negative;
  numbers->positive = node->op == MSLITE_OP_IsInf && ((const mslite_IsInf *)node->params)->detect_positive;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  return MSLITE_OK;
}

static void run_rows(const mslite_run *run, int32_t part, unary_row row) {
  const unary_derived *numbers = run->derived;
  const int64_t begin = (int64_t)part * PART_ELEMENTS;
  const int64_t n = numbers->count - begin < PART_ELEMENTS ? numbers->count - begin : PART_ELEMENTS;
  row((const char *)run->inputs[0] + begin * numbers->size_in, (char *)run->outputs[0] + begin * numbers->size_out, n);
}

static int32_t in_place(const mslite_node *node) {
  return mslite_type_size(node->inputs[0]->type) == mslite_type_size(node->outputs[0]->type) ? 0 : -1;
}

#define KERNEL_OF(operator)                             \
  const mslite_kernel mslite_kernel_unary_##operator= { \
      .name = "unary_" #operator"_scalar",              \
      .op = MSLITE_OP_##operator,                       \
      .isa = MSLITE_ISA_SCALAR,                         \
      .derived_size = sizeof(unary_derived),            \
      .support = operator##_support,                    \
      .prepare = prepare,                               \
      .run = operator##_run,                            \
      .in_place = in_place,                             \
  };

/* Separate row functions per operator, so that a program contains only those that it uses. */
#define ROWS(operator, cases)                                                          \
  static unary_row operator##_rows(int32_t type) {                                     \
    switch (type) { cases default : return NULL; }                                     \
  }                                                                                    \
  static void operator##_run(const mslite_run *run, int32_t phase, int32_t part) {     \
    (void)phase;                                                                       \
    run_rows(run, part, operator##_rows(((const unary_derived *)run->derived)->type)); \
  }

#define UNARY(operator, cases)                                 \
  ROWS(operator, cases)                                        \
  static int32_t operator##_support(const mslite_node *node) { \
    return operator##_rows(node->inputs[0]->type) != NULL;     \
  }                                                            \
  KERNEL_OF(operator)

UNARY(Abs, SIGNED_OF(abs) UNSIGNED_OF(same) PICK(MSLITE_FLOAT64, abs_f64))
UNARY(Neg, SIGNED_OF(neg) PICK(MSLITE_FLOAT64, neg_f64))
UNARY(Square, SIGNED_OF(square) UNSIGNED_OF(square) PICK(MSLITE_FLOAT64, square_f64))
UNARY(Sign, SIGNED_OF(sign) UNSIGNED_OF(sign) PICK(MSLITE_FLOAT64, sign_f64))
UNARY(BitwiseNot, SIGNED_OF(not ) UNSIGNED_OF(not ))
UNARY(LogicalNot,
      PICK(MSLITE_BOOL, logical_not) PICK(MSLITE_INT32, logical_not_i32) PICK(MSLITE_FLOAT32, logical_not_f32))
UNARY(Sqrt, PICK(MSLITE_FLOAT64, sqrt_f64))
UNARY(Rsqrt, PICK(MSLITE_FLOAT64, rsqrt_f64))
UNARY(Reciprocal, PICK(MSLITE_FLOAT64, reciprocal_f64))
UNARY(Ceil, PICK(MSLITE_FLOAT64, ceil_f64))
UNARY(Floor, PICK(MSLITE_FLOAT64, floor_f64))
UNARY(Round, PICK(MSLITE_FLOAT64, round_f64))
UNARY(Log, PICK(MSLITE_FLOAT64, log_f64))
UNARY(Erf, PICK(MSLITE_FLOAT64, erf_f64))
UNARY(Log1p, FLOATS_OF(log1p))
UNARY(Sin, FLOATS_OF(sin))
UNARY(Cos, FLOATS_OF(cos))
UNARY(Tan, FLOATS_OF(tan))
UNARY(Asin, FLOATS_OF(asin))
UNARY(Acos, FLOATS_OF(acos))
UNARY(Atan, FLOATS_OF(atan))
UNARY(Sinh, FLOATS_OF(sinh))
UNARY(Cosh, FLOATS_OF(cosh))
UNARY(Asinh, FLOATS_OF(asinh))
UNARY(Acosh, FLOATS_OF(acosh))
UNARY(Atanh, FLOATS_OF(atanh))
UNARY(IsNaN, FLOATS_OF(is_nan))
UNARY(IsFinite, FLOATS_OF(is_finite))

static bool is_natural(const mslite_ExpFusion *attributes) {
  return attributes->base <= 0 && attributes->scale == 1 && attributes->shift == 0;
}

ROWS(ExpFusion, PICK(MSLITE_FLOAT64, exp_f64))
static int32_t ExpFusion_support(const mslite_node *node) {
  return is_natural(node->params) && ExpFusion_rows(node->inputs[0]->type) != NULL;
}
KERNEL_OF(ExpFusion)

static void IsInf_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const unary_derived *numbers = run->derived;
  run_rows(run, part, infinity_row(numbers->type, numbers->negative != 0, numbers->positive != 0));
}
static int32_t IsInf_support(const mslite_node *node) {
  return infinity_row(node->inputs[0]->type, true, true) != NULL;
}
KERNEL_OF(IsInf)
