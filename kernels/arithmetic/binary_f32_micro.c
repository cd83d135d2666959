/* Operators of two float32 tensors on microcontrollers, one kernel per operator. An operand has the output's shape,
 * its last dimensions, or one element. */
#include "math/simd_math.h"

typedef struct {
  int32_t count;
  int32_t period_a, period_b; /* elements after which an operand repeats */
  float low, high;            /* results are clamped to this range */
} binary_derived;

enum { NOTHING, ADD, SUBTRACT, MULTIPLY, DIVIDE, MAXIMUM, MINIMUM, SQUARED };

/* Returns the operation of a node, and sets its fused activation. */
static int32_t operation_of(const mslite_node *node, int32_t *activation) {
  *activation = MSLITE_ACTIVATION_TYPE_NO_ACTIVATION;
  switch (node->op) {
    case MSLITE_OP_AddFusion:
      *activation = ((const mslite_AddFusion *)node->params)->activation_type;
      return ADD;
    case MSLITE_OP_SubFusion:
      *activation = ((const mslite_SubFusion *)node->params)->activation_type;
      return SUBTRACT;
    case MSLITE_OP_MulFusion:
      *activation = ((const mslite_MulFusion *)node->params)->activation_type;
      return MULTIPLY;
    case MSLITE_OP_DivFusion:
      *activation = ((const mslite_DivFusion *)node->params)->activation_type;
      return DIVIDE;
    case MSLITE_OP_Eltwise: {
      const int64_t mode = ((const mslite_Eltwise *)node->params)->mode;
      return mode == MSLITE_ELTWISE_MODE_PROD      ? MULTIPLY
             : mode == MSLITE_ELTWISE_MODE_SUM     ? ADD
             : mode == MSLITE_ELTWISE_MODE_MAXIMUM ? MAXIMUM
                                                   : NOTHING;
    }
    case MSLITE_OP_BiasAdd:
      return ADD;
    case MSLITE_OP_RealDiv:
      return DIVIDE;
    case MSLITE_OP_Maximum:
      return MAXIMUM;
    case MSLITE_OP_Minimum:
      return MINIMUM;
    default:
      return SQUARED;
  }
}

/* Returns the number of elements after which `tensor` repeats in an output of these dimensions; 0 if it does not
 * broadcast so. */
static int64_t period_of(const mslite_tensor *tensor, const mslite_tensor *output) {
  int32_t rank = tensor->rank, first = 0;
  while (first < rank && tensor->dims[first] == 1) ++first;
  if (rank - first > output->rank) return 0;
  int64_t period = 1;
  for (int32_t i = first; i < rank; ++i) {
    if (tensor->dims[i] != output->dims[output->rank - rank + i]) return 0;
    period *= tensor->dims[i];
  }
  return period;
}

static bool limits_of(int32_t activation, float *low, float *high) {
  *low = activation == MSLITE_ACTIVATION_TYPE_NO_ACTIVATION ? -INFINITY
         : activation == MSLITE_ACTIVATION_TYPE_RELU1       ? -1.0F
                                                            : 0.0F;
  *high = activation == MSLITE_ACTIVATION_TYPE_RELU6   ? 6.0F
          : activation == MSLITE_ACTIVATION_TYPE_RELU1 ? 1.0F
                                                       : INFINITY;
  return activation == MSLITE_ACTIVATION_TYPE_NO_ACTIVATION || activation == MSLITE_ACTIVATION_TYPE_RELU ||
         activation == MSLITE_ACTIVATION_TYPE_RELU6 || activation == MSLITE_ACTIVATION_TYPE_RELU1;
}

static int32_t supports(const mslite_node *node, int32_t operation) {
  int32_t activation;
  float low, high;
  if (node->input_count != 2 || node->inputs[0]->type != MSLITE_FLOAT32 || node->inputs[1]->type != MSLITE_FLOAT32) {
    return 0;
  }
  const mslite_tensor *y = node->outputs[0];
  if (operation_of(node, &activation) != operation || !limits_of(activation, &low, &high)) return 0;
  if (mslite_element_count(y) < 0 || mslite_element_count(y) > INT32_MAX / 16) return 0;
  return period_of(node->inputs[0], y) > 0 && period_of(node->inputs[1], y) > 0 ? 3 : 0;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  binary_derived *own = derived;
  const mslite_tensor *y = node->outputs[0];
  int32_t activation;
  operation_of(node, &activation);
  own->count = (int32_t)mslite_element_count(y);
  own->period_a = (int32_t)period_of(node->inputs[0], y);
  own->period_b = (int32_t)period_of(node->inputs[1], y);
  limits_of(activation, &own->low, &own->high);
  schedule->phase_count = 1;
  schedule->part_count[0] = own->count > 0;
  return MSLITE_OK;
}

static int64_t lead(const mslite_node *node, const void *derived, int32_t input) {
  const binary_derived *own = derived;
  (void)node;
  return (input == 0 ? own->period_a : own->period_b) == own->count ? 0 : -1;
}

/* Defines the kernel `name`, which computes `expression` of elements p and q. */
#define OPERATION(name, operation, expression)                                                 \
  static int32_t name##_support(const mslite_node *node) { return supports(node, operation); } \
  static void name##_run(const mslite_run *run, int32_t phase, int32_t part) {                 \
    (void)phase;                                                                               \
    (void)part;                                                                                \
    const binary_derived *own = run->derived;                                                  \
    const float *const a = run->inputs[0], *const b = run->inputs[1];                          \
    float *y = run->outputs[0];                                                                \
    for (int32_t i = own->count, at_a = 0, at_b = 0; i > 0; --i) {                             \
      const float p = a[at_a], q = b[at_b];                                                    \
      *y++ = math_clamp((expression), own->low, own->high);                                    \
      if (++at_a == own->period_a) at_a = 0;                                                   \
      if (++at_b == own->period_b) at_b = 0;                                                   \
    }                                                                                          \
  }
OPERATION(add, ADD, p + q)
OPERATION(subtract, SUBTRACT, p - q)
OPERATION(multiply, MULTIPLY, p *q)
OPERATION(divide, DIVIDE, p / q)
OPERATION(maximum, MAXIMUM, math_max(p, q))
OPERATION(minimum, MINIMUM, math_min(p, q))
OPERATION(squared, SQUARED, (p - q) * (p - q))

#define BINARY(kernel, operator_, operation)                      \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##kernel) = { \
      .name = MSLITE_ISA_STRING(kernel),                          \
      .op = MSLITE_OP_##operator_,                                \
      .isa = MSLITE_THIS_ISA,                                     \
      .derived_size = sizeof(binary_derived),                     \
      .support = operation##_support,                             \
      .prepare = prepare,                                         \
      .run = operation##_run,                                     \
      .lead = lead,                                               \
  };

BINARY(add_f32, AddFusion, add)
BINARY(subtract_f32, SubFusion, subtract)
BINARY(multiply_f32, MulFusion, multiply)
BINARY(divide_f32, DivFusion, divide)
BINARY(real_div_f32, RealDiv, divide)
BINARY(maximum_f32, Maximum, maximum)
BINARY(minimum_f32, Minimum, minimum)
BINARY(squared_difference_f32, SquaredDifference, squared)
BINARY(bias_add_f32, BiasAdd, add)
BINARY(eltwise_add_f32, Eltwise, add)
BINARY(eltwise_multiply_f32, Eltwise, multiply)
BINARY(eltwise_maximum_f32, Eltwise, maximum)
