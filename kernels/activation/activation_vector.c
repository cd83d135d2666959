/* float32 Activation, and the operators that are a single activation function. */
#include "activation/functions.h"

enum { PART_ELEMENTS = 16384 };

/* Functions that are not in ActivationType. */
enum { CELU = 100, MISH, SHRINK, HARD_SIGMOID };

typedef struct {
  int64_t count;
  mslite_activation_params function;
} activation_derived;

static bool numbers_of(const mslite_node *node, mslite_activation_params *f) {
  const mslite_activation_params none = {0};
  *f = none;
  switch (node->op) {
    case MSLITE_OP_Activation: {
      const mslite_Activation *activation = node->params;
      return activation_params_of(activation->activation_type, activation->alpha, activation->min_val,
                                  activation->max_val, activation->approximate, f);
    }
    case MSLITE_OP_LeakyRelu:
      f->type = MSLITE_ACTIVATION_TYPE_LEAKY_RELU;
      f->alpha = ((const mslite_LeakyRelu *)node->params)->negative_slope;
      return true;
    case MSLITE_OP_Elu:
      f->type = MSLITE_ACTIVATION_TYPE_ELU;
      f->alpha = ((const mslite_Elu *)node->params)->alpha;
      return true;
    case MSLITE_OP_Selu:
      f->type = MSLITE_ACTIVATION_TYPE_SELU;
      f->alpha = ((const mslite_Selu *)node->params)->alpha;
      f->high = ((const mslite_Selu *)node->params)->gamma;
      return true;
    case MSLITE_OP_Celu:
      f->type = CELU;
      f->alpha = ((const mslite_Celu *)node->params)->alpha;
      return f->alpha != 0.0F;
    case MSLITE_OP_Mish:
      f->type = MISH;
      return true;
    case MSLITE_OP_Shrink:
      f->type = SHRINK;
      f->alpha = ((const mslite_Shrink *)node->params)->bias;
      f->high = ((const mslite_Shrink *)node->params)->threshold;
      f->low = -f->high;
      return true;
    case MSLITE_OP_HardSigmoid:
      f->type = HARD_SIGMOID;
      f->alpha = ((const mslite_HardSigmoid *)node->params)->alpha;
      f->low = ((const mslite_HardSigmoid *)node->params)->beta;
      return true;
    default:
      return false;
  }
}

static int32_t support(const mslite_node *node) {
  mslite_activation_params ignored;
  const int32_t type = node->inputs[0]->type;
  return (type == SIMD_REAL_TYPE || (!SIMD_HALF && type == MSLITE_FLOAT)) && numbers_of(node, &ignored);
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  activation_derived *numbers = derived;
  numbers->count = mslite_element_count(node->outputs[0]);
  if (!numbers_of(node, &numbers->function)) return MSLITE_ERROR_ATTRIBUTE;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  return MSLITE_OK;
}

/* x tanh(log(1 + e^x)), computed as tanh(log(1 + e)) = (e^2 + 2 e) / (e^2 + 2 e + 2), which is 1 from x = 20 on. */
static inline simd_f32 mish(simd_f32 x) {
  const simd_f32 limit = simd_set(20.0F), e = math_exp(simd_select(simd_less(limit, x), limit, x));
  const simd_f32 w = e * (e + simd_set(2.0F));
  return x * (w / (w + simd_set(2.0F)));
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const activation_derived *numbers = run->derived;
  const mslite_activation_params *f = &numbers->function;
  const int64_t begin = (int64_t)part * PART_ELEMENTS;
  const int64_t n = numbers->count - begin < PART_ELEMENTS ? numbers->count - begin : PART_ELEMENTS;
  const simd_real *x = (const simd_real *)run->inputs[0] + begin;
  simd_real *y = (simd_real *)run->outputs[0] + begin;
  const simd_f32 zero = simd_set(0.0F), one = simd_set(1.0F), alpha = simd_set(f->alpha);
  const simd_f32 low = simd_set(f->low), high = simd_set(f->high);
  switch (f->type) {
    case CELU:
      ACTIVATION_LOOP(simd_select(simd_less(v, zero), alpha * math_expm1(v / alpha), v));
    case MISH:
      ACTIVATION_LOOP(mish(v));
    case SHRINK:
      ACTIVATION_LOOP(simd_select(simd_less(v, low), v + alpha, simd_select(simd_less(high, v), v - alpha, zero)));
    case HARD_SIGMOID:
      ACTIVATION_LOOP(math_clamp(alpha * v + low, zero, one));
    default:
      activation_row(f, x, y, n);
      break;
  }
}

static int32_t in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

#define ACTIVATION(function, operator)                                    \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function##_f32) = { \
      .name = MSLITE_ISA_STRING(function##_f32),                          \
      .op = MSLITE_OP_##operator,                                         \
      .isa = MSLITE_THIS_ISA,                                             \
      .derived_size = sizeof(activation_derived),                         \
      .support = support,                                                 \
      .prepare = prepare,                                                 \
      .run = run_part,                                                    \
      .in_place = in_place,                                               \
  };

ACTIVATION(activation, Activation)
ACTIVATION(leaky_relu, LeakyRelu)
ACTIVATION(elu, Elu)
ACTIVATION(selu, Selu)
ACTIVATION(celu, Celu)
ACTIVATION(mish, Mish)
ACTIVATION(shrink, Shrink)
ACTIVATION(hard_sigmoid, HardSigmoid)
