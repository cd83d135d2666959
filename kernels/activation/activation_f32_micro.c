/* float32 activations on microcontrollers; rarely used ones are left to the portable kernel. */
#include "unary/elementwise_micro.h"

static bool numbers_of(const mslite_node *node, mslite_activation_params *f) {
  const mslite_activation_params none = {0};
  *f = none;
  if (node->op == MSLITE_OP_Activation) {
    const mslite_Activation *activation = node->params;
    return activation_params_of(activation->activation_type, activation->alpha, activation->min_val,
                                activation->max_val, activation->approximate, f);
  }
  if (node->op == MSLITE_OP_LeakyRelu) {
    f->type = MSLITE_ACTIVATION_TYPE_LEAKY_RELU;
    f->alpha = ((const mslite_LeakyRelu *)node->params)->negative_slope;
  } else if (node->op == MSLITE_OP_Elu) {
    f->type = MSLITE_ACTIVATION_TYPE_ELU;
    f->alpha = ((const mslite_Elu *)node->params)->alpha;
  } else {
    f->type = MSLITE_ACTIVATION_TYPE_HSIGMOID;
    f->alpha = ((const mslite_HardSigmoid *)node->params)->alpha;
    f->low = ((const mslite_HardSigmoid *)node->params)->beta;
  }
  return true;
}

static bool is_of_type(const mslite_node *node, int32_t type, mslite_activation_params *f) {
  return micro_elementwise_fits(node) && numbers_of(node, f) && f->type == type;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  micro_elementwise *own = derived;
  mslite_activation_params f;
  if (!numbers_of(node, &f)) return MSLITE_ERROR_ATTRIBUTE;
  own->alpha = f.alpha;
  own->low = f.type == MSLITE_ACTIVATION_TYPE_RELU ? 0.0F : f.low;
  own->high = f.type == MSLITE_ACTIVATION_TYPE_RELU ? INFINITY : f.high;
  if (f.type == MSLITE_ACTIVATION_TYPE_HSIGMOID && node->op == MSLITE_OP_Activation) {
    own->alpha = 1.0F / 6.0F;
    own->low = 0.5F;
  }
  micro_elementwise_schedule(node, own, schedule);
  return MSLITE_OK;
}

static int32_t limit_support(const mslite_node *node) {
  mslite_activation_params f;
  return is_of_type(node, MSLITE_ACTIVATION_TYPE_RELU, &f) || is_of_type(node, MSLITE_ACTIVATION_TYPE_RELU6, &f) ||
                 is_of_type(node, MSLITE_ACTIVATION_TYPE_RELU1, &f) ||
                 is_of_type(node, MSLITE_ACTIVATION_TYPE_HARD_TANH, &f)
             ? 3
             : 0;
}

#define SUPPORT(name, type)                                \
  static int32_t name##_support(const mslite_node *node) { \
    mslite_activation_params f;                            \
    return is_of_type(node, type, &f) ? 3 : 0;             \
  }
SUPPORT(sigmoid, MSLITE_ACTIVATION_TYPE_SIGMOID)
SUPPORT(tanh, MSLITE_ACTIVATION_TYPE_TANH)
SUPPORT(leaky_relu, MSLITE_ACTIVATION_TYPE_LEAKY_RELU)
SUPPORT(elu, MSLITE_ACTIVATION_TYPE_ELU)
SUPPORT(hard_swish, MSLITE_ACTIVATION_TYPE_HSWISH)
SUPPORT(hard_sigmoid, MSLITE_ACTIVATION_TYPE_HSIGMOID)
SUPPORT(swish, MSLITE_ACTIVATION_TYPE_SWISH)

static int32_t gelu_support(const mslite_node *node) {
  mslite_activation_params f;
  return is_of_type(node, MSLITE_ACTIVATION_TYPE_GELU, &f) && !f.approximate ? 3 : 0;
}

static int32_t gelu_tanh_support(const mslite_node *node) {
  mslite_activation_params f;
  return (is_of_type(node, MSLITE_ACTIVATION_TYPE_GELU, &f) && f.approximate) ||
                 is_of_type(node, MSLITE_ACTIVATION_TYPE_FAST_GELU, &f)
             ? 3
             : 0;
}

MICRO_ELEMENTWISE(limit, math_clamp(v, own->low, own->high))
MICRO_ELEMENTWISE(sigmoid, math_sigmoid(v))
MICRO_ELEMENTWISE(tanh, math_tanh(v))
MICRO_ELEMENTWISE(leaky_relu, v < 0.0F ? own->alpha * v : v)
MICRO_ELEMENTWISE(elu, v < 0.0F ? own->alpha * math_expm1(v) : v)
MICRO_ELEMENTWISE(hard_swish, v *activation_hsigmoid(v))
MICRO_ELEMENTWISE(hard_sigmoid, math_clamp(own->alpha *v + own->low, 0.0F, 1.0F))
MICRO_ELEMENTWISE(swish, v *math_sigmoid(v))
MICRO_ELEMENTWISE(gelu, activation_gelu(v))
MICRO_ELEMENTWISE(gelu_tanh, activation_gelu_tanh(v))

#define ACTIVATION(kernel, operator_, function) \
  MICRO_ELEMENTWISE_KERNEL(kernel, operator_, function##_support, prepare, function##_run)

ACTIVATION(limit_f32, Activation, limit)
ACTIVATION(sigmoid_f32, Activation, sigmoid)
ACTIVATION(tanh_f32, Activation, tanh)
ACTIVATION(activation_leaky_relu_f32, Activation, leaky_relu)
ACTIVATION(activation_elu_f32, Activation, elu)
ACTIVATION(hard_swish_f32, Activation, hard_swish)
ACTIVATION(activation_hard_sigmoid_f32, Activation, hard_sigmoid)
ACTIVATION(swish_f32, Activation, swish)
ACTIVATION(gelu_f32, Activation, gelu)
ACTIVATION(gelu_tanh_f32, Activation, gelu_tanh)
ACTIVATION(leaky_relu_f32, LeakyRelu, leaky_relu)
ACTIVATION(elu_f32, Elu, elu)
ACTIVATION(hard_sigmoid_f32, HardSigmoid, hard_sigmoid)
