/* Gradients of functions of one number: dx = dy f', where f' is told by the operator's other input. That is y = f(x)
 * for SIGMOID, TANH, ELU, Sqrt and Rsqrt, x or y alike for RELU, RELU6 and LEAKY_RELU, and x for all others. */
#include <math.h>

#include "kernel.h"
#include "math/scalar_math.h"

enum { PART_ELEMENTS = 16384 };

/* Functions that are no Activation: numbers behind those of its types. */
enum { GRAD_GATE = 64, GRAD_LOG, GRAD_NEG, GRAD_RSQRT, GRAD_SQRT, GRAD_POWER };

static const double SELU_ALPHA = 1.6732632423543772, SELU_FACTOR = 1.0507009873554805;

typedef struct {
  int64_t count;
  double power, scale, shift; /* PowerGrad; of ActivationGrad, `scale` is alpha */
  float low, high, outside;   /* GRAD_GATE: f' is 1 in between, else `outside` */
  int32_t function;
  int32_t dy; /* the input that dy is */
} gradient_derived;

static int32_t function_of(const mslite_node *node) {
  switch (node->op) {
    case MSLITE_OP_ActivationGrad:
      return ((const mslite_ActivationGrad *)node->params)->activation_type;
    case MSLITE_OP_AbsGrad:
      return MSLITE_ACTIVATION_TYPE_ABS;
    case MSLITE_OP_LogGrad:
      return GRAD_LOG;
    case MSLITE_OP_NegGrad:
      return GRAD_NEG;
    case MSLITE_OP_RsqrtGrad:
      return GRAD_RSQRT;
    case MSLITE_OP_SqrtGrad:
      return GRAD_SQRT;
    default:
      return GRAD_POWER;
  }
}

/* MindSpore's operators do not agree on where dy stands: behind x or y for these. */
static int32_t place_of_dy(const mslite_node *node) {
  if (node->op == MSLITE_OP_ActivationGrad) {
    const int32_t function = function_of(node);
    return function == MSLITE_ACTIVATION_TYPE_SIGMOID || function == MSLITE_ACTIVATION_TYPE_TANH;
  }
  return node->op == MSLITE_OP_AbsGrad || node->op == MSLITE_OP_SqrtGrad || node->op == MSLITE_OP_RsqrtGrad;
}

static int32_t support(const mslite_node *node) {
  if (node->inputs[0]->type != MSLITE_FLOAT32) return 0;
  if (node->op != MSLITE_OP_NegGrad && node->inputs[1]->type != MSLITE_FLOAT32) return 0;
  return function_of(node) != MSLITE_ACTIVATION_TYPE_UNKNOWN;
}

static void set_gate(gradient_derived *numbers, float low, float high, float outside) {
  numbers->function = GRAD_GATE;
  numbers->low = low;
  numbers->high = high;
  numbers->outside = outside;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  gradient_derived *numbers = derived;
  numbers->count = mslite_element_count(node->outputs[0]);
  if (node->op != MSLITE_OP_NegGrad && mslite_element_count(node->inputs[1]) != numbers->count) {
    return MSLITE_ERROR_SHAPE;
  }
  numbers->power = numbers->scale = numbers->shift = 0;
  set_gate(numbers, 0.0f, 0.0f, 0.0f);
  numbers->function = function_of(node);
  numbers->dy = place_of_dy(node);
  if (node->op == MSLITE_OP_ActivationGrad) {
    const float alpha = ((const mslite_ActivationGrad *)node->params)->alpha;
    numbers->scale = (double)alpha;
    if (numbers->function == MSLITE_ACTIVATION_TYPE_RELU) set_gate(numbers, 0.0f, INFINITY, 0.0f);
    if (numbers->function == MSLITE_ACTIVATION_TYPE_RELU6) set_gate(numbers, 0.0f, 6.0f, 0.0f);
    if (numbers->function == MSLITE_ACTIVATION_TYPE_RELU1) set_gate(numbers, -1.0f, 1.0f, 0.0f);
    if (numbers->function == MSLITE_ACTIVATION_TYPE_HARD_TANH) set_gate(numbers, -1.0f, 1.0f, 0.0f);
    if (numbers->function == MSLITE_ACTIVATION_TYPE_THRESHOLDRELU) set_gate(numbers, alpha, INFINITY, 0.0f);
    if (numbers->function == MSLITE_ACTIVATION_TYPE_SIGN) set_gate(numbers, 0.0f, 0.0f, 0.0f);
    if (numbers->function == MSLITE_ACTIVATION_TYPE_LEAKY_RELU) set_gate(numbers, 0.0f, INFINITY, alpha);
  } else if (node->op == MSLITE_OP_PowerGrad) {
    const mslite_PowerGrad *attributes = node->params;
    numbers->power = (double)attributes->power;
    numbers->scale = (double)attributes->scale;
    numbers->shift = (double)attributes->shift;
  }
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  return MSLITE_OK;
}

static double sigmoid(double x) {
  const double e = mslite_exp(x < 0 ? x : -x);
  return (x < 0 ? e : 1) / (1 + e);
}

/* f' at s, which is x or y. */
static double slope(const gradient_derived *numbers, double s) {
  switch (numbers->function) {
    case MSLITE_ACTIVATION_TYPE_SIGMOID:
      return s * (1 - s);
    case MSLITE_ACTIVATION_TYPE_TANH:
      return 1 - s * s;
    case MSLITE_ACTIVATION_TYPE_ELU:
      return s > 0 ? 1 : s + numbers->scale;
    case MSLITE_ACTIVATION_TYPE_SELU:
      return s < 0 ? SELU_FACTOR * SELU_ALPHA * mslite_exp(s) : SELU_FACTOR;
    case MSLITE_ACTIVATION_TYPE_ABS:
      return (double)((s > 0) - (s < 0));
    case MSLITE_ACTIVATION_TYPE_SOFTSIGN:
      return 1 / ((1 + (s < 0 ? -s : s)) * (1 + (s < 0 ? -s : s)));
    case MSLITE_ACTIVATION_TYPE_SOFTPLUS:
      return sigmoid(s);
    case MSLITE_ACTIVATION_TYPE_HSWISH:
      return s <= -3 ? 0 : s >= 3 ? 1 : s / 3 + 0.5;
    case MSLITE_ACTIVATION_TYPE_HSIGMOID:
      return s > -3 && s < 3 ? 1.0 / 6 : 0;
    case MSLITE_ACTIVATION_TYPE_SWISH:
      return sigmoid(s) * (1 + s * (1 - sigmoid(s)));
    case MSLITE_ACTIVATION_TYPE_GELU: /* of x times the normal distribution's function at x */
      return 0.5 * (1 + mslite_erf(s * 0.70710678118654752)) + s * mslite_exp(-0.5 * s * s) * 0.39894228040143268;
    case MSLITE_ACTIVATION_TYPE_FAST_GELU: {
      const double t = mslite_tanh(0.79788456080286536 * (s + 0.044715 * s * s * s));
      return 0.5 * (1 + t) + 0.5 * s * (1 - t * t) * 0.79788456080286536 * (1 + 3 * 0.044715 * s * s);
    }
    case GRAD_LOG:
      return 1 / s;
    case GRAD_NEG:
      return -1;
    case GRAD_RSQRT:
      return -0.5 * s * s * s;
    case GRAD_SQRT:
      return 0.5 / s;
    case GRAD_POWER:
      return numbers->power * numbers->scale * mslite_pow(numbers->scale * s + numbers->shift, numbers->power - 1);
    default: /* NO_ACTIVATION and LINEAR */
      return 1;
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const gradient_derived *numbers = run->derived;
  const float *dy = run->inputs[numbers->dy];
  const float *at = numbers->function == GRAD_NEG ? dy : run->inputs[1 - numbers->dy];
  float *dx = run->outputs[0];
  const int64_t begin = (int64_t)part * PART_ELEMENTS;
  const int64_t end = numbers->count - begin < PART_ELEMENTS ? numbers->count : begin + PART_ELEMENTS;
  if (numbers->function == GRAD_GATE) {
    for (int64_t i = begin; i < end; ++i) {
      dx[i] = dy[i] * (at[i] > numbers->low && at[i] < numbers->high ? 1.0f : numbers->outside);
    }
    return;
  }
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

FUNCTION_GRAD(activation_grad, ActivationGrad)
FUNCTION_GRAD(abs_grad, AbsGrad)
FUNCTION_GRAD(log_grad, LogGrad)
FUNCTION_GRAD(neg_grad, NegGrad)
FUNCTION_GRAD(rsqrt_grad, RsqrtGrad)
FUNCTION_GRAD(sqrt_grad, SqrtGrad)
FUNCTION_GRAD(power_grad, PowerGrad)
