/* Functions of one tensor, element by element: float64, integers and bool, and the float32 functions that are computed
 * in float64. */
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

/* Integers wrap: abs and neg of the smallest number give itself. */
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
  case MSLITE_##type_name:   \
    return row;
#define SIGNED_OF(name) PICK(INT8, name##_i8) PICK(INT16, name##_i16) PICK(INT32, name##_i32) PICK(INT64, name##_i64)
#define UNSIGNED_OF(name) \
  PICK(UINT8, name##_u8) PICK(UINT16, name##_u16) PICK(UINT32, name##_u32) PICK(UINT64, name##_u64)
#define FLOATS_OF(name) PICK(FLOAT32, name##_f32) PICK(FLOAT64, name##_f64)
#define OPERATOR(op, cases) \
  case MSLITE_OP_##op:      \
    switch (type) { cases default : return NULL; }

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

static unary_row find_row(int32_t op, int32_t type) {
  switch (op) {
    OPERATOR(Abs, SIGNED_OF(abs) UNSIGNED_OF(same) PICK(FLOAT64, abs_f64))
    OPERATOR(Neg, SIGNED_OF(neg) PICK(FLOAT64, neg_f64))
    OPERATOR(Square, SIGNED_OF(square) UNSIGNED_OF(square) PICK(FLOAT64, square_f64))
    OPERATOR(Sign, SIGNED_OF(sign) UNSIGNED_OF(sign) PICK(FLOAT64, sign_f64))
    OPERATOR(BitwiseNot, SIGNED_OF(not ) UNSIGNED_OF(not ))
    OPERATOR(LogicalNot, PICK(BOOL, logical_not) PICK(INT32, logical_not_i32) PICK(FLOAT32, logical_not_f32))
    OPERATOR(Sqrt, PICK(FLOAT64, sqrt_f64))
    OPERATOR(Rsqrt, PICK(FLOAT64, rsqrt_f64))
    OPERATOR(Reciprocal, PICK(FLOAT64, reciprocal_f64))
    OPERATOR(Ceil, PICK(FLOAT64, ceil_f64))
    OPERATOR(Floor, PICK(FLOAT64, floor_f64))
    OPERATOR(Round, PICK(FLOAT64, round_f64))
    OPERATOR(ExpFusion, PICK(FLOAT64, exp_f64))
    OPERATOR(Log, PICK(FLOAT64, log_f64))
    OPERATOR(Erf, PICK(FLOAT64, erf_f64))
    OPERATOR(Log1p, FLOATS_OF(log1p))
    OPERATOR(Sin, FLOATS_OF(sin))
    OPERATOR(Cos, FLOATS_OF(cos))
    OPERATOR(Tan, FLOATS_OF(tan))
    OPERATOR(Asin, FLOATS_OF(asin))
    OPERATOR(Acos, FLOATS_OF(acos))
    OPERATOR(Atan, FLOATS_OF(atan))
    OPERATOR(Sinh, FLOATS_OF(sinh))
    OPERATOR(Cosh, FLOATS_OF(cosh))
    OPERATOR(Asinh, FLOATS_OF(asinh))
    OPERATOR(Acosh, FLOATS_OF(acosh))
    OPERATOR(Atanh, FLOATS_OF(atanh))
    OPERATOR(IsNaN, FLOATS_OF(is_nan))
    OPERATOR(IsFinite, FLOATS_OF(is_finite))
    default:
      return NULL;
  }
}

typedef struct {
  int64_t count;
  int32_t op;
  int32_t type;
  int32_t size_in;
  int32_t size_out;
  int32_t negative; /* IsInf: the signs to find */
  int32_t positive;
} unary_derived;

static bool is_natural(const mslite_ExpFusion *attributes) {
  return attributes->base == -1 && attributes->scale == 1 && attributes->shift == 0;
}

static int32_t support(const mslite_node *node) {
  const int32_t type = node->inputs[0]->type;
  if (node->op == MSLITE_OP_ExpFusion && !is_natural(node->params)) return 0;
  return node->op == MSLITE_OP_IsInf ? infinity_row(type, true, true) != NULL : find_row(node->op, type) != NULL;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  unary_derived *numbers = derived;
  numbers->count = mslite_element_count(node->outputs[0]);
  numbers->op = node->op;
  numbers->type = node->inputs[0]->type;
  numbers->size_in = mslite_type_size(node->inputs[0]->type);
  numbers->size_out = mslite_type_size(node->outputs[0]->type);
  numbers->negative = node->op == MSLITE_OP_IsInf && ((const mslite_IsInf *)node->params)->detect_negative;
  numbers->positive = node->op == MSLITE_OP_IsInf && ((const mslite_IsInf *)node->params)->detect_positive;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const unary_derived *numbers = run->derived;
  const int64_t begin = (int64_t)part * PART_ELEMENTS;
  const int64_t n = numbers->count - begin < PART_ELEMENTS ? numbers->count - begin : PART_ELEMENTS;
  const unary_row row = numbers->op == MSLITE_OP_IsInf
                            ? infinity_row(numbers->type, numbers->negative != 0, numbers->positive != 0)
                            : find_row(numbers->op, numbers->type);
  row((const char *)run->inputs[0] + begin * numbers->size_in, (char *)run->outputs[0] + begin * numbers->size_out, n);
}

static int32_t in_place(const mslite_node *node) {
  return mslite_type_size(node->inputs[0]->type) == mslite_type_size(node->outputs[0]->type) ? 0 : -1;
}

#define UNARY(operator)                                 \
  const mslite_kernel mslite_kernel_unary_##operator= { \
      .name = "unary_" #operator"_scalar",              \
      .op = MSLITE_OP_##operator,                       \
      .isa = MSLITE_ISA_SCALAR,                         \
      .derived_size = sizeof(unary_derived),            \
      .support = support,                               \
      .prepare = prepare,                               \
      .run = run_part,                                  \
      .in_place = in_place,                             \
  };

UNARY(Abs)
UNARY(Neg)
UNARY(Square)
UNARY(Sign)
UNARY(BitwiseNot)
UNARY(LogicalNot)
UNARY(Sqrt)
UNARY(Rsqrt)
UNARY(Reciprocal)
UNARY(Ceil)
UNARY(Floor)
UNARY(Round)
UNARY(ExpFusion)
UNARY(Log)
UNARY(Erf)
UNARY(Log1p)
UNARY(Sin)
UNARY(Cos)
UNARY(Tan)
UNARY(Asin)
UNARY(Acos)
UNARY(Atan)
UNARY(Sinh)
UNARY(Cosh)
UNARY(Asinh)
UNARY(Acosh)
UNARY(Atanh)
UNARY(IsNaN)
UNARY(IsFinite)
UNARY(IsInf)
