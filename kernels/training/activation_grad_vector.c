/* Gradients of activations, float32: dx = dy f', where f' is computed from the operator's other input: y = f(x) for
 * SIGMOID, TANH and ELU, x or y for RELU, RELU6 and LEAKY_RELU, and x for all others. */
#include "math/simd_math.h"

enum { PART_ELEMENTS = 16384, GATE = -1 };

/* Activations whose gradient is dy if their x, or y, is in an interval, and a fraction of dy elsewhere. */
typedef struct {
  float low, high; /* f' is 1 in between */
  float outside;   /* elsewhere */
} activation_gate;

typedef struct {
  int64_t count;
  int32_t function; /* GATE, or an activation type */
  int32_t dy;       /* the input index of dy */
  float alpha;
  activation_gate gate;
} activation_grad_derived;

/* Returns false if the activation is not of this kind. */
static bool activation_gate_of(const mslite_ActivationGrad *attributes, activation_gate *gate) {
  const activation_gate plain = {0.0f, INFINITY, 0.0f};
  *gate = plain;
  switch (attributes->activation_type) {
    case MSLITE_ACTIVATION_TYPE_RELU:
      return true;
    case MSLITE_ACTIVATION_TYPE_RELU6:
      gate->high = 6.0f;
      return true;
    case MSLITE_ACTIVATION_TYPE_RELU1:
    case MSLITE_ACTIVATION_TYPE_HARD_TANH:
      gate->low = -1.0f;
      gate->high = 1.0f;
      return true;
    case MSLITE_ACTIVATION_TYPE_THRESHOLDRELU:
      gate->low = attributes->alpha;
      return true;
    case MSLITE_ACTIVATION_TYPE_SIGN:
      gate->high = 0.0f;
      return true;
    case MSLITE_ACTIVATION_TYPE_LEAKY_RELU:
      gate->outside = attributes->alpha;
      return true;
    default:
      return false;
  }
}

/* MindSpore's operators have dy at different positions: after y for these, which are computed from y. */
static int32_t place_of_dy(int32_t activation_type) {
  return activation_type == MSLITE_ACTIVATION_TYPE_SIGMOID || activation_type == MSLITE_ACTIVATION_TYPE_TANH;
}

static int32_t activation_grad_support(const mslite_node *node) {
  if (node->inputs[0]->type != MSLITE_FLOAT32 || node->inputs[1]->type != MSLITE_FLOAT32) return 0;
  return ((const mslite_ActivationGrad *)node->params)->activation_type != MSLITE_ACTIVATION_TYPE_UNKNOWN;
}

static mslite_status activation_grad_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  activation_grad_derived *numbers = derived;
  const mslite_ActivationGrad *attributes = node->params;
  numbers->count = mslite_element_count(node->outputs[0]);
  if (mslite_element_count(node->inputs[1]) != numbers->count) return MSLITE_ERROR_SHAPE;
  numbers->dy = place_of_dy(attributes->activation_type);
  numbers->alpha = attributes->alpha;
  numbers->function = activation_gate_of(attributes, &numbers->gate) ? GATE : attributes->activation_type;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  return MSLITE_OK;
}

/* With the normal distribution function P, the derivative of x P(x) is P(x) + x p(x), where p(x) = exp(-x^2 / 2) /
 * sqrt(2 pi) is its density. With t = 1 / (1 + 0.3275911 |x| / sqrt(2)), P(-|x|) is half of a polynomial in t times
 * exp(-x^2 / 2), within 1e-7: Abramowitz and Stegun, 7.1.26. So one exponential is enough for both. */
SIMD_INLINE simd_f32 gelu_slope(simd_f32 x) {
  const simd_f32 zero = simd_set(0.0f), one = simd_set(1.0f);
  const simd_f32 bell = math_exp(x * x * simd_set(-0.5f));
  const simd_f32 t = one / simd_fma(math_abs(x), simd_set(0.3275911f * 0.707106781f), one);
  simd_f32 tail = simd_set(0.5f * 1.061405429f);
  tail = simd_fma(tail, t, simd_set(0.5f * -1.453152027f));
  tail = simd_fma(tail, t, simd_set(0.5f * 1.421413741f));
  tail = simd_fma(tail, t, simd_set(0.5f * -0.284496736f));
  tail = simd_fma(tail, t, simd_set(0.5f * 0.254829592f)) * t * bell;
  return simd_fma(x * simd_set(0.398942280f), bell, simd_select(simd_less(x, zero), tail, one - tail));
}

/* Returns f' at s, which is x or y. */
SIMD_INLINE simd_f32 activation_slope(const int32_t function, const activation_grad_derived *numbers, simd_f32 s) {
  const simd_f32 zero = simd_set(0.0f), half = simd_set(0.5f), one = simd_set(1.0f), three = simd_set(3.0f);
  switch (function) {
    case GATE: {
      const simd_i32 inside = simd_less(simd_set(numbers->gate.low), s) & simd_less(s, simd_set(numbers->gate.high));
      return simd_select(inside, one, simd_set(numbers->gate.outside));
    }
    case MSLITE_ACTIVATION_TYPE_SIGMOID:
      return s * (one - s);
    case MSLITE_ACTIVATION_TYPE_TANH:
      return one - s * s;
    case MSLITE_ACTIVATION_TYPE_HSWISH: {
      const simd_f32 middle = simd_fma(s, simd_set(1.0f / 3.0f), half);
      const simd_f32 right = simd_select(simd_less(s, three), middle, one);
      return simd_select(simd_less_equal(s, -three), zero, right);
    }
    case MSLITE_ACTIVATION_TYPE_HSIGMOID: {
      const simd_i32 inside = simd_less(-three, s) & simd_less(s, three);
      return simd_select(inside, simd_set(1.0f / 6.0f), zero);
    }
    case MSLITE_ACTIVATION_TYPE_SWISH: {
      const simd_f32 y = math_sigmoid(s);
      return y * simd_fma(s, one - y, one);
    }
    case MSLITE_ACTIVATION_TYPE_GELU:
      return gelu_slope(s);
    case MSLITE_ACTIVATION_TYPE_ELU:
      return simd_select(simd_less(zero, s), one, s + simd_set(numbers->alpha));
    case MSLITE_ACTIVATION_TYPE_SELU: {
      const simd_f32 below = math_exp(s) * simd_set(1.05070099f * 1.67326324f);
      return simd_select(simd_less(s, zero), below, simd_set(1.05070099f));
    }
    case MSLITE_ACTIVATION_TYPE_ABS:
      return simd_select(simd_equal(s, zero), zero, math_copysign(one, s));
    case MSLITE_ACTIVATION_TYPE_SOFTSIGN: {
      const simd_f32 below = one + math_abs(s);
      return one / (below * below);
    }
    case MSLITE_ACTIVATION_TYPE_SOFTPLUS:
      return math_sigmoid(s);
    case MSLITE_ACTIVATION_TYPE_FAST_GELU: {
      const simd_f32 root = simd_set(0.797884561f), square = s * s;
      const simd_f32 t = math_tanh(root * simd_fma(square * s, simd_set(0.044715f), s));
      const simd_f32 inner = root * simd_fma(square, simd_set(3.0f * 0.044715f), one);
      return half * simd_fma(s * simd_fma(-t, t, one), inner, one + t);
    }
    default: /* NO_ACTIVATION and LINEAR */
      return one;
  }
}

/* `function` is a constant in all calls; `count` is a number of whole vectors. */
SIMD_INLINE void activation_grad_loop(const int32_t function, const activation_grad_derived *numbers, const float *dy,
                                      const float *at, float *dx, int64_t count) {
  for (int64_t i = 0; i < count; i += SIMD_WIDTH) {
    simd_store_f32(dx + i, simd_load_f32(dy + i) * activation_slope(function, numbers, simd_load_f32(at + i)));
  }
}

static void activation_grad_vectors(const activation_grad_derived *numbers, const float *dy, const float *at, float *dx,
                                    int64_t count) {
#define ACTIVATION_GRAD_LOOP(function)                          \
  case function:                                                \
    activation_grad_loop(function, numbers, dy, at, dx, count); \
    break
  switch (numbers->function) {
    ACTIVATION_GRAD_LOOP(GATE);
    ACTIVATION_GRAD_LOOP(MSLITE_ACTIVATION_TYPE_SIGMOID);
    ACTIVATION_GRAD_LOOP(MSLITE_ACTIVATION_TYPE_TANH);
    ACTIVATION_GRAD_LOOP(MSLITE_ACTIVATION_TYPE_HSWISH);
    ACTIVATION_GRAD_LOOP(MSLITE_ACTIVATION_TYPE_HSIGMOID);
    ACTIVATION_GRAD_LOOP(MSLITE_ACTIVATION_TYPE_SWISH);
    ACTIVATION_GRAD_LOOP(MSLITE_ACTIVATION_TYPE_GELU);
    ACTIVATION_GRAD_LOOP(MSLITE_ACTIVATION_TYPE_FAST_GELU);
    ACTIVATION_GRAD_LOOP(MSLITE_ACTIVATION_TYPE_ELU);
    ACTIVATION_GRAD_LOOP(MSLITE_ACTIVATION_TYPE_SELU);
    ACTIVATION_GRAD_LOOP(MSLITE_ACTIVATION_TYPE_ABS);
    ACTIVATION_GRAD_LOOP(MSLITE_ACTIVATION_TYPE_SOFTSIGN);
    ACTIVATION_GRAD_LOOP(MSLITE_ACTIVATION_TYPE_SOFTPLUS);
    default:
      activation_grad_loop(MSLITE_ACTIVATION_TYPE_NO_ACTIVATION, numbers, dy, at, dx, count);
      break;
  }
}

static void activation_grad_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const activation_grad_derived *numbers = run->derived;
  const int64_t begin = (int64_t)part * PART_ELEMENTS;
  const int64_t count = numbers->count - begin < PART_ELEMENTS ? numbers->count - begin : PART_ELEMENTS;
  const int64_t whole = count / SIMD_WIDTH * SIMD_WIDTH, left = count - whole;
  const float *dy = (const float *)run->inputs[numbers->dy] + begin;
  const float *at = (const float *)run->inputs[1 - numbers->dy] + begin;
  float *dx = (float *)run->outputs[0] + begin;
  activation_grad_vectors(numbers, dy, at, dx, whole);
  if (left == 0) return;
  float last_dy[SIMD_WIDTH] = {0}, last_at[SIMD_WIDTH] = {0};
  memcpy(last_dy, dy + whole, (size_t)left * sizeof *dy);
  memcpy(last_at, at + whole, (size_t)left * sizeof *at);
  activation_grad_vectors(numbers, last_dy, last_at, last_dy, SIMD_WIDTH);
  memcpy(dx + whole, last_dy, (size_t)left * sizeof *dx);
}

static int32_t activation_grad_in_place(const mslite_node *node) {
  return place_of_dy(((const mslite_ActivationGrad *)node->params)->activation_type);
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_activation_grad) = {
    .name = MSLITE_ISA_STRING(activation_grad),
    .op = MSLITE_OP_ActivationGrad,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(activation_grad_derived),
    .support = activation_grad_support,
    .prepare = activation_grad_prepare,
    .run = activation_grad_run,
    .in_place = activation_grad_in_place,
};
