/* Gradients of functions of one variable: dx = dy f', where f' is computed from the operator's other input: y = f(x)
 * for Sqrt and Rsqrt, and x for all others. */
#include "kernel.h"
#include "math/scalar_math.h"

enum { PART_ELEMENTS = 16384 };

typedef struct {
  int64_t count;
  double power, scale, shift; /* PowerGrad */
  int32_t op;
  int32_t dy; /* the input index of dy */
} gradient_derived;

/* MindSpore's operators have dy at different positions: after x or y for these. */
static int32_t place_of_dy(const mslite_node *node) {
  return node->op == MSLITE_OP_AbsGrad || node->op == MSLITE_OP_SqrtGrad || node->op == MSLITE_OP_RsqrtGrad;
}

static int32_t support(const mslite_node *node) {
  if (node->inputs[0]->type != MSLITE_FLOAT32) return 0;
  return node->op == MSLITE_OP_NegGrad || node->inputs[1]->type == MSLITE_FLOAT32;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  gradient_derived *numbers = derived;
  numbers->count = mslite_element_count(node->outputs[0]);
  if (node->op != MSLITE_OP_NegGrad && mslite_element_count(node->inputs[1]) != numbers->count) {
    return MSLITE_ERROR_SHAPE;
  }
  numbers->power = numbers->scale = numbers->shift = 0;
  numbers->op = node->op;
  numbers->dy = place_of_dy(node);
  if (node->op == MSLITE_OP_PowerGrad) {
    const mslite_PowerGrad *attributes = node->params;
    numbers->power = (double)attributes->power;
    numbers->scale = (double)attributes->scale;
    numbers->shift = (double)attributes->shift;
  }
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  return MSLITE_OK;
}

/* Returns f' at s, which is x or y. */
static double slope(const gradient_derived *numbers, double s) {
  switch (numbers->op) {
    case MSLITE_OP_AbsGrad:
      return (double)((s > 0) - (s < 0));
    case MSLITE_OP_LogGrad:
      return 1 / s;
    case MSLITE_OP_NegGrad:
      return -1;
    case MSLITE_OP_RsqrtGrad:
      return -0.5 * s * s * s;
    case MSLITE_OP_SqrtGrad:
      return 0.5 / s;
    default: /* PowerGrad */
      return numbers->power * numbers->scale * mslite_pow(numbers->scale * s + numbers->shift, numbers->power - 1);
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const gradient_derived *numbers = run->derived;
  const float *dy = run->inputs[numbers->dy];
  const float *at = numbers->op == MSLITE_OP_NegGrad ? dy : run->inputs[1 - numbers->dy];
  float *dx = run->outputs[0];
  const int64_t begin = (int64_t)part * PART_ELEMENTS;
  const int64_t end = numbers->count - begin < PART_ELEMENTS ? numbers->count : begin + PART_ELEMENTS;
  for (int64_t i = begin; i < end; ++i) dx[i] = (float)((double)dy[i] * slope(numbers, (double)at[i]));
}

static int32_t in_place(const mslite_node *node) { return place_of_dy(node); }

#define FUNCTION_GRAD(name_, operator)          \
  const mslite_kernel mslite_kernel_##name_ = { \
      .name = #name_ "_scalar",                 \
      .op = MSLITE_OP_##operator,               \
      .isa = MSLITE_ISA_SCALAR,                 \
      .derived_size = sizeof(gradient_derived), \
      .support = support,                       \
      .prepare = prepare,                       \
      .run = run_part,                          \
      .in_place = in_place,                     \
  };

FUNCTION_GRAD(abs_grad, AbsGrad)
FUNCTION_GRAD(log_grad, LogGrad)
FUNCTION_GRAD(neg_grad, NegGrad)
FUNCTION_GRAD(rsqrt_grad, RsqrtGrad)
FUNCTION_GRAD(sqrt_grad, SqrtGrad)
FUNCTION_GRAD(power_grad, PowerGrad)
