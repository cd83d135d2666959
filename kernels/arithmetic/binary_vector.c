/* Binary operators on float32, with broadcasting and a fused activation. */
#include "activation/functions.h"
#include "arithmetic/broadcast.h"
#include "simd/real.h"

enum { ADD, SUB, MUL, DIV, MAX, MIN, SQUARED };

/* Maximum and minimum; NaN if either operand is NaN. */
#if SIMD_HALF
SIMD_INLINE real_vector real_maximum(real_vector a, real_vector b) { return real_max(a, b); }
SIMD_INLINE real_vector real_minimum(real_vector a, real_vector b) { return real_min(a, b); }
#else
SIMD_INLINE real_vector real_maximum(real_vector a, real_vector b) { return math_max(a, b); }
SIMD_INLINE real_vector real_minimum(real_vector a, real_vector b) { return math_min(a, b); }
#endif

#define ROW_LOOP(load_a, load_b, expression)                  \
  {                                                           \
    int64_t i = 0;                                            \
    for (; i + REAL_LANES <= n; i += REAL_LANES) {            \
      const real_vector p = load_a(a + i), q = load_b(b + i); \
      real_store(y + i, expression);                          \
    }                                                         \
    if (i < n) {                                              \
      const int32_t rest = (int32_t)(n - i);                  \
      const real_vector p = load_a##_partial(a + i, rest);    \
      const real_vector q = load_b##_partial(b + i, rest);    \
      real_store_partial(y + i, expression, rest);            \
    }                                                         \
  }

/* A repeated operand is already in the register `same_a` or `same_b`. */
#define repeat_a(pointer) same_a
#define repeat_a_partial(pointer, rest) same_a
#define repeat_b(pointer) same_b
#define repeat_b_partial(pointer, rest) same_b

#define ROWS(expression)                       \
  if (step_a == 1 && step_b == 1) {            \
    ROW_LOOP(real_load, real_load, expression) \
  } else if (step_a == 1) {                    \
    ROW_LOOP(real_load, repeat_b, expression)  \
  } else {                                     \
    ROW_LOOP(repeat_a, real_load, expression)  \
  }                                            \
  break

static void binary_row(int32_t operation, const simd_real *a, int64_t step_a, const simd_real *b, int64_t step_b,
                       simd_real *y, int64_t n) {
  const real_vector same_a = real_set((float)*a), same_b = real_set((float)*b);
  switch (operation) {
    case ADD:
      ROWS(p + q);
    case SUB:
      ROWS(p - q);
    case MUL:
      ROWS(p * q);
    case DIV:
      ROWS(p / q);
    case MAX:
      ROWS(real_maximum(p, q));
    case MIN:
      ROWS(real_minimum(p, q));
    default:
      ROWS((p - q) * (p - q));
  }
}

typedef struct {
  mslite_broadcast_plan plan;
  mslite_activation_params activation;
  int32_t operation;
} binary_derived;

/* Returns the operation of a node and sets its fused activation; -1 if it is not supported. */
static int32_t operation_of(const mslite_node *node, int32_t *activation) {
  *activation = MSLITE_ACTIVATION_TYPE_NO_ACTIVATION;
  switch (node->op) {
    case MSLITE_OP_AddFusion:
      *activation = ((const mslite_AddFusion *)node->params)->activation_type;
      return ADD;
    case MSLITE_OP_SubFusion:
      *activation = ((const mslite_SubFusion *)node->params)->activation_type;
      return SUB;
    case MSLITE_OP_MulFusion:
      *activation = ((const mslite_MulFusion *)node->params)->activation_type;
      return MUL;
    case MSLITE_OP_DivFusion:
      *activation = ((const mslite_DivFusion *)node->params)->activation_type;
      return DIV;
    case MSLITE_OP_Eltwise:
      switch (((const mslite_Eltwise *)node->params)->mode) {
        case MSLITE_ELTWISE_MODE_PROD:
          return MUL;
        case MSLITE_ELTWISE_MODE_SUM:
          return ADD;
        case MSLITE_ELTWISE_MODE_MAXIMUM:
          return MAX;
        default:
          return -1;
      }
    case MSLITE_OP_BiasAdd:
      return ADD;
    case MSLITE_OP_RealDiv:
      return DIV;
    case MSLITE_OP_Maximum:
      return MAX;
    case MSLITE_OP_Minimum:
      return MIN;
    case MSLITE_OP_SquaredDifference:
      return SQUARED;
    default:
      return -1;
  }
}

static bool is_real(const mslite_tensor *tensor) {
  return tensor->type == SIMD_REAL_TYPE || (!SIMD_HALF && tensor->type == MSLITE_FLOAT);
}

static int32_t support(const mslite_node *node) {
  int32_t activation;
  return node->input_count == 2 && is_real(node->inputs[0]) && is_real(node->inputs[1]) &&
         operation_of(node, &activation) >= 0 && activation_is_fusable(activation);
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  binary_derived *numbers = derived;
  int32_t activation;
  numbers->operation = operation_of(node, &activation);
  activation_params_of(activation, 0, 0, 0, false, &numbers->activation);
  mslite_plan_broadcast(node->outputs[0], node->inputs, 2, &numbers->plan, schedule);
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const binary_derived *numbers = run->derived;
  const mslite_broadcast_plan *plan = &numbers->plan;
  const simd_real *a = run->inputs[0], *b = run->inputs[1];
  simd_real *y = run->outputs[0];
  const int64_t step_a = plan->strides[0][plan->rank - 1], step_b = plan->strides[1][plan->rank - 1];
  const bool active = numbers->activation.type != MSLITE_ACTIVATION_TYPE_NO_ACTIVATION;
  mslite_broadcast_cursor at;
  mslite_broadcast_begin(plan, part, &at);
  for (int64_t n; (n = mslite_broadcast_row(plan, &at)) > 0; mslite_broadcast_next(plan, n, &at)) {
    if (n > 2048) n = 2048; /* the activation then finds the row in the L1 cache */
    binary_row(numbers->operation, a + at.offset[0], step_a, b + at.offset[1], step_b, y + at.at, n);
    if (active) activation_row(&numbers->activation, y + at.at, y + at.at, n);
  }
}

#define BINARY(operator)                                                       \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_binary_f32_##operator) = { \
      .name = MSLITE_ISA_STRING(binary_f32_##operator),                        \
      .op = MSLITE_OP_##operator,                                              \
      .isa = MSLITE_THIS_ISA,                                                  \
      .derived_size = sizeof(binary_derived),                                  \
      .support = support,                                                      \
      .prepare = prepare,                                                      \
      .run = run_part,                                                         \
      .in_place = mslite_broadcast_in_place,                                   \
  };

BINARY(AddFusion)
BINARY(SubFusion)
BINARY(MulFusion)
BINARY(DivFusion)
BINARY(RealDiv)
BINARY(Maximum)
BINARY(Minimum)
BINARY(SquaredDifference)
BINARY(Eltwise)
BINARY(BiasAdd)
