/* L2NormalizeFusion and LpNormalization, float32: x divided by its norm along any axes. */
#include <math.h>

#include "reduction/reduce_plan.h"

typedef struct {
  mslite_reduce_plan plan;
  int64_t count; /* number of norms */
  int64_t per_part;
  float epsilon;
  int32_t l2_normalize; /* otherwise LpNormalization */
  int32_t p;
  float low; /* the fused activation */
  float high;
} lp_norm_derived;

enum { PART_WORK = 16384 };

static bool plan_of(const mslite_node *node, mslite_reduce_plan *plan) {
  if (node->op == MSLITE_OP_LpNormalization) {
    const int64_t axis = ((const mslite_LpNormalization *)node->params)->axis;
    const mslite_tensor axes = {.type = MSLITE_INT64, .rank = 1, .dims = {1}, .data = &axis};
    return mslite_plan_reduce(node->inputs[0], &axes, false, plan);
  }
  const mslite_longs list = ((const mslite_L2NormalizeFusion *)node->params)->axis;
  const mslite_tensor axes = {.type = MSLITE_INT64, .rank = 1, .dims = {list.count}, .data = list.at};
  return mslite_plan_reduce(node->inputs[0], &axes, false, plan);
}

static int32_t support(const mslite_node *node) {
  mslite_reduce_plan ignored;
  if (node->inputs[0]->type != MSLITE_FLOAT32 || !plan_of(node, &ignored)) return 0;
  if (node->op == MSLITE_OP_LpNormalization) return 1;
  switch (((const mslite_L2NormalizeFusion *)node->params)->activation_type) {
    case MSLITE_ACTIVATION_TYPE_NO_ACTIVATION:
    case MSLITE_ACTIVATION_TYPE_RELU:
    case MSLITE_ACTIVATION_TYPE_RELU6:
      return 1;
    default:
      return 0;
  }
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  lp_norm_derived *numbers = derived;
  if (!plan_of(node, &numbers->plan)) return MSLITE_ERROR_ATTRIBUTE;
  numbers->count = numbers->plan.outer * numbers->plan.inner;
  numbers->per_part = numbers->plan.reduced < PART_WORK ? PART_WORK / (numbers->plan.reduced + 1) + 1 : 1;
  numbers->l2_normalize = node->op == MSLITE_OP_L2NormalizeFusion;
  numbers->p = 2;
  numbers->epsilon = 0.0F;
  numbers->low = -INFINITY;
  numbers->high = INFINITY;
  if (numbers->l2_normalize) {
    const mslite_L2NormalizeFusion *fusion = node->params;
    numbers->epsilon = fusion->epsilon;
    if (fusion->activation_type != MSLITE_ACTIVATION_TYPE_NO_ACTIVATION) numbers->low = 0.0F;
    if (fusion->activation_type == MSLITE_ACTIVATION_TYPE_RELU6) numbers->high = 6.0F;
  } else {
    numbers->p = (int32_t)((const mslite_LpNormalization *)node->params)->p;
  }
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + numbers->per_part - 1) / numbers->per_part);
  return MSLITE_OK;
}

/* Returns 1 / norm; a norm of zero gives zeros. */
static float inverse_norm(const lp_norm_derived *numbers, const float *x) {
  const mslite_reduce_plan *plan = &numbers->plan;
  double sum = 0;
  for (int64_t r = 0; r < plan->runs; ++r) {
    const float *row = x + mslite_reduce_run_offset(plan, r);
    for (int64_t i = 0; i < plan->length; ++i) {
      const double v = (double)row[i * plan->length_stride];
      sum += numbers->p == 1 ? fabs(v) : v * v;
    }
  }
  if (numbers->l2_normalize) sum = sum < (double)numbers->epsilon ? (double)numbers->epsilon : sum;
  const double norm = numbers->p == 1 ? sum : sqrt(sum);
  return norm == 0 ? 0.0F : (float)(1 / norm);
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const lp_norm_derived *numbers = run->derived;
  const mslite_reduce_plan *plan = &numbers->plan;
  const int64_t begin = part * numbers->per_part;
  const int64_t end = numbers->count - begin < numbers->per_part ? numbers->count : begin + numbers->per_part;
  for (int64_t k = begin; k < end; ++k) {
    const int64_t offset = mslite_reduce_kept_offset(plan, k / plan->inner) + k % plan->inner;
    const float *x = (const float *)run->inputs[0] + offset;
    float *y = (float *)run->outputs[0] + offset;
    const float scale = inverse_norm(numbers, x);
    for (int64_t r = 0; r < plan->runs; ++r) {
      const int64_t run_offset = mslite_reduce_run_offset(plan, r);
      for (int64_t i = 0; i < plan->length; ++i) {
        const int64_t at = run_offset + i * plan->length_stride;
        const float v = x[at] * scale;
        y[at] = v < numbers->low ? numbers->low : v > numbers->high ? numbers->high : v;
      }
    }
  }
}

static int32_t in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

#define LP_NORM(function, operator)                \
  const mslite_kernel mslite_kernel_##function = { \
      .name = #function "_scalar",                 \
      .op = MSLITE_OP_##operator,                  \
      .isa = MSLITE_ISA_SCALAR,                    \
      .derived_size = sizeof(lp_norm_derived),     \
      .support = support,                          \
      .prepare = prepare,                          \
      .run = run_part,                             \
      .in_place = in_place,                        \
  };

LP_NORM(l2_normalize, L2NormalizeFusion)
LP_NORM(lp_normalization, LpNormalization)
