/* float32 element-wise functions of one tensor. */
#include "activation/functions.h"
#include "math/scalar_math.h"

enum { PART_ELEMENTS = 16384 };

typedef struct {
  int64_t count;
  int32_t op;
  float factor; /* ExpFusion: exp(factor * x + addend) */
  float addend;
} unary_derived;

static int32_t support(const mslite_node *node) {
  const int32_t type = node->inputs[0]->type;
  return type == MSLITE_FLOAT32 || type == MSLITE_FLOAT;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  unary_derived *numbers = derived;
  numbers->count = mslite_element_count(node->outputs[0]);
  numbers->op = node->op;
  numbers->factor = 1.0F;
  numbers->addend = 0.0F;
  if (node->op == MSLITE_OP_ExpFusion) {
    const mslite_ExpFusion *fusion = node->params;
    if (fusion->base != -1.0F && !(fusion->base > 0.0F)) return MSLITE_ERROR_ATTRIBUTE;
    const double log_base = fusion->base == -1.0F ? 1.0 : mslite_log((double)fusion->base);
    numbers->factor = (float)((double)fusion->scale * log_base);
    numbers->addend = (float)((double)fusion->shift * log_base);
  }
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const unary_derived *numbers = run->derived;
  const int64_t begin = (int64_t)part * PART_ELEMENTS;
  const int64_t n = numbers->count - begin < PART_ELEMENTS ? numbers->count - begin : PART_ELEMENTS;
  const float *x = (const float *)run->inputs[0] + begin;
  float *y = (float *)run->outputs[0] + begin;
  const simd_f32 one = simd_set(1.0F), factor = simd_set(numbers->factor), addend = simd_set(numbers->addend);
  switch (numbers->op) {
    case MSLITE_OP_Abs:
      ACTIVATION_LOOP(math_abs(v));
    case MSLITE_OP_Ceil:
      ACTIVATION_LOOP(math_ceil(v));
    case MSLITE_OP_Floor:
      ACTIVATION_LOOP(math_floor(v));
    case MSLITE_OP_Round:
      ACTIVATION_LOOP(math_round(v));
    case MSLITE_OP_Neg:
      ACTIVATION_LOOP(-v);
    case MSLITE_OP_Square:
      ACTIVATION_LOOP(v * v);
    case MSLITE_OP_Sqrt:
      ACTIVATION_LOOP(math_sqrt(v));
    case MSLITE_OP_Rsqrt:
      ACTIVATION_LOOP(one / math_sqrt(v));
    case MSLITE_OP_Reciprocal:
      ACTIVATION_LOOP(one / v);
    case MSLITE_OP_ExpFusion:
      ACTIVATION_LOOP(math_exp(simd_fma(v, factor, addend)));
    case MSLITE_OP_Log:
      ACTIVATION_LOOP(math_log(v));
    case MSLITE_OP_Erf:
      ACTIVATION_LOOP(math_erf(v));
    default:
      ACTIVATION_LOOP(activation_sign(v));
  }
}

static int32_t in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

#define UNARY(operator)                                                       \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_unary_f32_##operator) = { \
      .name = MSLITE_ISA_STRING(unary_f32_##operator),                        \
      .op = MSLITE_OP_##operator,                                             \
      .isa = MSLITE_THIS_ISA,                                                 \
      .derived_size = sizeof(unary_derived),                                  \
      .support = support,                                                     \
      .prepare = prepare,                                                     \
      .run = run_part,                                                        \
      .in_place = in_place,                                                   \
  };

UNARY(Abs)
UNARY(Ceil)
UNARY(Floor)
UNARY(Round)
UNARY(Neg)
UNARY(Square)
UNARY(Sqrt)
UNARY(Rsqrt)
UNARY(Reciprocal)
UNARY(ExpFusion)
UNARY(Log)
UNARY(Erf)
UNARY(Sign)
