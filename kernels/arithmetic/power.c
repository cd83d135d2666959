/* PowFusion: (scale x + shift)^exponent, where the exponent is a tensor that broadcasts. */
#include <math.h>

#include "arithmetic/broadcast.h"
#include "math/scalar_math.h"

typedef struct {
  mslite_broadcast_plan plan;
  int32_t type;
  int32_t exponent_type;
  float scale;
  float shift;
} power_derived;

static int32_t is_number(int32_t type) {
  switch (type) {
    case MSLITE_INT32:
    case MSLITE_INT64:
    case MSLITE_FLOAT32:
    case MSLITE_FLOAT64:
      return 1;
    default:
      return 0;
  }
}

static int32_t support(const mslite_node *node) {
  const mslite_PowFusion *power = node->params;
  const int32_t type = node->inputs[0]->type;
  if (node->input_count != 2 || !is_number(type) || !is_number(node->inputs[1]->type)) return 0;
  if (node->outputs[0]->type != type) return 0;
  return type == MSLITE_FLOAT32 || (power->scale == 1.0F && power->shift == 0.0F);
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_PowFusion *power = node->params;
  power_derived *numbers = derived;
  mslite_plan_broadcast(node->outputs[0], node->inputs, 2, &numbers->plan, schedule);
  numbers->type = node->inputs[0]->type;
  numbers->exponent_type = node->inputs[1]->type;
  numbers->scale = power->scale;
  numbers->shift = power->shift;
  return MSLITE_OK;
}

static double number_at(const void *data, int32_t type, int64_t at) {
  switch (type) {
    case MSLITE_INT32:
      return ((const int32_t *)data)[at];
    case MSLITE_INT64:
      return (double)((const int64_t *)data)[at];
    case MSLITE_FLOAT32:
      return (double)((const float *)data)[at];
    default:
      return ((const double *)data)[at];
  }
}

/* Integer powers wrap around; negative exponents round to zero. */
static int64_t integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 != 0 ? -1 : 1) : 0;
  uint64_t result = 1, factor = (uint64_t)base;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= factor;
    factor *= factor;
  }
  return (int64_t)result;
}

/* Computes n elements with one exponent; common exponents do not call pow(). */
static void float_row(const power_derived *numbers, const float *x, int64_t step, double exponent, float *y,
                      int64_t n) {
  const float scale = numbers->scale, shift = numbers->shift;
#define POWERS(expression)                       \
  for (int64_t i = 0; i < n; ++i) {              \
    const float v = scale * x[i * step] + shift; \
    y[i] = expression;                           \
  }
  if (exponent == 1.0)
    POWERS(v)
  else if (exponent == 2.0)
    POWERS(v * v)
  else if (exponent == 3.0)
    POWERS(v * v * v)
  else if (exponent == -1.0)
    POWERS(1.0F / v)
  else if (exponent == 0.5)
    POWERS(sqrtf(v))
  else
    POWERS((float)mslite_pow((double)v, exponent))
#undef POWERS
}

static void general_row(const power_derived *numbers, const void *x, int64_t x_at, int64_t step, const void *exponents,
                        int64_t exponent_at, int64_t exponent_step, void *y, int64_t y_at, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const double base = number_at(x, numbers->type, x_at + i * step);
    const double exponent = number_at(exponents, numbers->exponent_type, exponent_at + i * exponent_step);
    const double limited = exponent < -1e15 ? -1e15 : exponent > 1e15 ? 1e15 : exponent == exponent ? exponent : 0;
    switch (numbers->type) {
      case MSLITE_INT32: {
        const int32_t whole = ((const int32_t *)x)[x_at + i * step];
        ((int32_t *)y)[y_at + i] = (int32_t)(uint32_t)integer_power(whole, (int64_t)limited);
        break;
      }
      case MSLITE_INT64: {
        const int64_t whole = ((const int64_t *)x)[x_at + i * step];
        ((int64_t *)y)[y_at + i] = integer_power(whole, (int64_t)limited);
        break;
      }
      case MSLITE_FLOAT32: {
        const float v = numbers->scale * (float)base + numbers->shift;
        ((float *)y)[y_at + i] = (float)mslite_pow((double)v, exponent);
        break;
      }
      default:
        ((double *)y)[y_at + i] = mslite_pow(base, exponent);
        break;
    }
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const power_derived *numbers = run->derived;
  const mslite_broadcast_plan *plan = &numbers->plan;
  const int64_t step = plan->strides[0][plan->rank - 1], exponent_step = plan->strides[1][plan->rank - 1];
  mslite_broadcast_cursor at;
  mslite_broadcast_begin(plan, part, &at);
  for (int64_t n; (n = mslite_broadcast_row(plan, &at)) > 0; mslite_broadcast_next(plan, n, &at)) {
    if (numbers->type == MSLITE_FLOAT32 && (exponent_step == 0 || n == 1))
      float_row(numbers, (const float *)run->inputs[0] + at.offset[0], step,
                number_at(run->inputs[1], numbers->exponent_type, at.offset[1]), (float *)run->outputs[0] + at.at, n);
    else
      general_row(numbers, run->inputs[0], at.offset[0], step, run->inputs[1], at.offset[1], exponent_step,
                  run->outputs[0], at.at, n);
  }
}

static int32_t in_place(const mslite_node *node) { return mslite_broadcast_in_place(node) == 0 ? 0 : -1; }

const mslite_kernel mslite_kernel_power = {
    .name = "power_scalar",
    .op = MSLITE_OP_PowFusion,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(power_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
    .in_place = in_place,
};
