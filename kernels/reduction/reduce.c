/* ReduceFusion, ReduceLogSumExp and All on float64, integers and bool, and on all types if the axes are not
 * constant. Integer sums wrap around; an integer mean rounds towards zero. */
#include <math.h>
#include <string.h>

#include "math/scalar_math.h"
#include "movement.h"
#include "reduction/reduce_plan.h"

enum { LOG_SUM_EXP = 100, PART_WORK = 16384 };

typedef struct {
  mslite_reduce_plan plan;
  int64_t count;
  int64_t per_part;
  int32_t mode;
  int32_t type;
  bool computed, to_end; /* axes that are read at run time, and what is needed for them */
  int32_t axes_type, rank;
  int64_t axes;
  int64_t dims[MSLITE_MAX_RANK];
} reduce_derived;

static int32_t mode_of(const mslite_node *node) {
  if (node->op == MSLITE_OP_All) return MSLITE_REDUCE_MODE_REDUCE_ALL;
  return node->op == MSLITE_OP_ReduceLogSumExp ? LOG_SUM_EXP : ((const mslite_ReduceFusion *)node->params)->mode;
}

static bool to_end_of(const mslite_node *node) {
  return node->op == MSLITE_OP_ReduceFusion && ((const mslite_ReduceFusion *)node->params)->reduce_to_end;
}

static bool plan_of(const mslite_node *node, mslite_reduce_plan *plan) {
  const mslite_tensor *axes = node->input_count > 1 ? node->inputs[1] : NULL;
  return mslite_plan_reduce(node->inputs[0], axes, to_end_of(node), plan);
}

static bool computes_axes(const mslite_node *node) {
  if (node->input_count < 2 || node->inputs[1]->data != NULL || node->inputs[0]->rank < 0) return false;
  const int32_t type = node->inputs[1]->type;
  return (type == MSLITE_INT32 || type == MSLITE_INT64) && mslite_element_count(node->inputs[1]) > 0;
}

static bool has_mode(int32_t type, int32_t mode) {
  switch (type) {
    case MSLITE_BOOL:
      return mode == MSLITE_REDUCE_MODE_REDUCE_ALL || mode == MSLITE_REDUCE_MODE_REDUCE_MAX ||
             mode == MSLITE_REDUCE_MODE_REDUCE_MIN || mode == MSLITE_REDUCE_MODE_REDUCE_PROD;
    case MSLITE_INT8:
    case MSLITE_UINT8:
      return mode == MSLITE_REDUCE_MODE_REDUCE_MAX || mode == MSLITE_REDUCE_MODE_REDUCE_MIN;
    case MSLITE_INT32:
    case MSLITE_INT64:
      return mode >= 0 && mode <= MSLITE_REDUCE_MODE_REDUCE_ASUM;
    case MSLITE_FLOAT32:
    case MSLITE_FLOAT64:
      return mode >= 0 && mode != MSLITE_REDUCE_MODE_REDUCE_ALL;
    default:
      return false;
  }
}

static int32_t support(const mslite_node *node) {
  mslite_reduce_plan plan;
  const int32_t type = node->inputs[0]->type, mode = mode_of(node);
  if (node->outputs[0]->type != type || !has_mode(type, mode)) return 0;
  if (computes_axes(node)) return 1;
  if (type == MSLITE_FLOAT32 || !plan_of(node, &plan)) return 0;
  return plan.reduced > 0 || type == MSLITE_FLOAT64 || mode != MSLITE_REDUCE_MODE_REDUCE_MEAN;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  reduce_derived *numbers = derived;
  memset(numbers, 0, sizeof *numbers);
  numbers->mode = mode_of(node);
  numbers->type = node->inputs[0]->type;
  if (computes_axes(node)) {
    numbers->computed = true;
    numbers->to_end = to_end_of(node);
    numbers->axes_type = node->inputs[1]->type;
    numbers->axes = mslite_element_count(node->inputs[1]);
    numbers->rank = node->inputs[0]->rank;
    numbers->count = mslite_element_count(node->outputs[0]);
    memcpy(numbers->dims, node->inputs[0]->dims, sizeof numbers->dims);
    schedule->phase_count = 1;
    schedule->part_count[0] = 1; /* the amount of work is unknown */
    return MSLITE_OK;
  }
  if (!plan_of(node, &numbers->plan)) return MSLITE_ERROR_VALUE;
  numbers->count = numbers->plan.outer * numbers->plan.inner;
  numbers->per_part = numbers->plan.reduced < PART_WORK ? PART_WORK / (numbers->plan.reduced + 1) + 1 : 1;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + numbers->per_part - 1) / numbers->per_part);
  return MSLITE_OK;
}

/* Visits the elements of one output, in order, as `v`. */
#define EACH(type, statement)                                                       \
  for (int64_t r = 0; r < plan->runs; ++r) {                                        \
    const type *row = (const type *)x + offset + mslite_reduce_run_offset(plan, r); \
    for (int64_t i = 0; i < plan->length; ++i) {                                    \
      const type v = row[i * plan->length_stride];                                  \
      statement;                                                                    \
    }                                                                               \
  }

static uint64_t magnitude(int64_t v) { return v < 0 ? 0 - (uint64_t)v : (uint64_t)v; }

#define INTEGER_REDUCE(name, type, lowest, highest)                                               \
  static type name(const mslite_reduce_plan *plan, int32_t mode, const void *x, int64_t offset) { \
    uint64_t sum = 0, product = 1;                                                                \
    type top = lowest, bottom = highest;                                                          \
    switch (mode) {                                                                               \
      case MSLITE_REDUCE_MODE_REDUCE_MAX:                                                         \
        EACH(type, if (v > top) top = v)                                                          \
        return top;                                                                               \
      case MSLITE_REDUCE_MODE_REDUCE_ALL:                                                         \
      case MSLITE_REDUCE_MODE_REDUCE_MIN:                                                         \
        EACH(type, if (v < bottom) bottom = v)                                                    \
        return bottom;                                                                            \
      case MSLITE_REDUCE_MODE_REDUCE_PROD:                                                        \
        EACH(type, product *= (uint64_t)v)                                                        \
        return (type)product;                                                                     \
      case MSLITE_REDUCE_MODE_REDUCE_SUM_SQUARE:                                                  \
        EACH(type, sum += (uint64_t)v * (uint64_t)v)                                              \
        return (type)sum;                                                                         \
      case MSLITE_REDUCE_MODE_REDUCE_ASUM:                                                        \
        EACH(type, sum += magnitude(v))                                                           \
        return (type)sum;                                                                         \
      case MSLITE_REDUCE_MODE_REDUCE_MEAN:                                                        \
        EACH(type, sum += (uint64_t)v)                                                            \
        return (type)(plan->reduced == 0 ? 0 : (int64_t)sum / plan->reduced);                     \
      default:                                                                                    \
        EACH(type, sum += (uint64_t)v)                                                            \
        return (type)sum;                                                                         \
    }                                                                                             \
  }

INTEGER_REDUCE(reduce_bool, uint8_t, 0, 1)
INTEGER_REDUCE(reduce_u8, uint8_t, 0, UINT8_MAX)
INTEGER_REDUCE(reduce_i8, int8_t, INT8_MIN, INT8_MAX)
INTEGER_REDUCE(reduce_i32, int32_t, INT32_MIN, INT32_MAX)
INTEGER_REDUCE(reduce_i64, int64_t, INT64_MIN, INT64_MAX)

#define REAL_REDUCE(name, type)                                                                     \
  static double name(const mslite_reduce_plan *plan, int32_t mode, const void *x, int64_t offset) { \
    double sum = 0, product = 1, top = -INFINITY, bottom = INFINITY;                                \
    switch (mode) {                                                                                 \
      case MSLITE_REDUCE_MODE_REDUCE_MAX:                                                           \
        EACH(type, if (!(v <= top)) top = top != top ? top : v)                                     \
        return top;                                                                                 \
      case MSLITE_REDUCE_MODE_REDUCE_MIN:                                                           \
        EACH(type, if (!(v >= bottom)) bottom = bottom != bottom ? bottom : v)                      \
        return bottom;                                                                              \
      case MSLITE_REDUCE_MODE_REDUCE_PROD:                                                          \
        EACH(type, product *= v)                                                                    \
        return product;                                                                             \
      case MSLITE_REDUCE_MODE_REDUCE_SUM_SQUARE:                                                    \
      case MSLITE_REDUCE_MODE_REDUCE_L2:                                                            \
        EACH(type, sum += v * v)                                                                    \
        return mode == MSLITE_REDUCE_MODE_REDUCE_L2 ? sqrt(sum) : sum;                              \
      case MSLITE_REDUCE_MODE_REDUCE_ASUM:                                                          \
        EACH(type, sum += fabs(v))                                                                  \
        return sum;                                                                                 \
      case LOG_SUM_EXP:                                                                             \
        EACH(type, if (v > top) top = v)                                                            \
        if (top - top != 0) top = 0;                                                                \
        EACH(type, sum += mslite_exp(v - top))                                                      \
        return mslite_log(sum) + top;                                                               \
      default:                                                                                      \
        EACH(type, sum += v)                                                                        \
        return mode == MSLITE_REDUCE_MODE_REDUCE_MEAN ? sum / (double)plan->reduced : sum;          \
    }                                                                                               \
  }

REAL_REDUCE(reduce_f32, float)
REAL_REDUCE(reduce_f64, double)

/* Plans the current axes. */
static bool plan_of_run(const mslite_run *run, mslite_reduce_plan *plan) {
  const reduce_derived *numbers = run->derived;
  mslite_tensor x = {0}, axes = {0};
  x.type = numbers->type;
  x.rank = numbers->rank;
  memcpy(x.dims, numbers->dims, sizeof x.dims);
  axes.type = numbers->axes_type;
  axes.rank = 1;
  axes.dims[0] = numbers->axes;
  axes.data = run->inputs[1];
  axes.known_count = -1;
  return mslite_plan_reduce(&x, &axes, numbers->to_end, plan);
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const reduce_derived *numbers = run->derived;
  mslite_reduce_plan computed;
  const mslite_reduce_plan *plan = &numbers->plan;
  int64_t begin = part * numbers->per_part;
  int64_t end = numbers->count - begin < numbers->per_part ? numbers->count : begin + numbers->per_part;
  if (numbers->computed) {
    if (!plan_of_run(run, &computed) || computed.outer * computed.inner != numbers->count) {
      const int64_t wanted = mslite_integer_at(run->inputs[1], numbers->axes_type, 0);
      mslite_report_value(run, 1, 0, wanted, -numbers->rank, numbers->rank);
      return;
    }
    plan = &computed;
    begin = 0;
    end = numbers->count;
  }
  const void *x = run->inputs[0];
  void *y = run->outputs[0];
  for (int64_t i = begin; i < end; ++i) {
    const int64_t offset = mslite_reduce_kept_offset(plan, i / plan->inner) + i % plan->inner;
    switch (numbers->type) {
      case MSLITE_BOOL:
        ((uint8_t *)y)[i] = reduce_bool(plan, numbers->mode, x, offset);
        break;
      case MSLITE_UINT8:
        ((uint8_t *)y)[i] = reduce_u8(plan, numbers->mode, x, offset);
        break;
      case MSLITE_INT8:
        ((int8_t *)y)[i] = reduce_i8(plan, numbers->mode, x, offset);
        break;
      case MSLITE_INT32:
        ((int32_t *)y)[i] = reduce_i32(plan, numbers->mode, x, offset);
        break;
      case MSLITE_INT64:
        ((int64_t *)y)[i] = reduce_i64(plan, numbers->mode, x, offset);
        break;
      case MSLITE_FLOAT32:
        ((float *)y)[i] = (float)reduce_f32(plan, numbers->mode, x, offset);
        break;
      default:
        ((double *)y)[i] = reduce_f64(plan, numbers->mode, x, offset);
        break;
    }
  }
}

#define REDUCE(function, operator)                 \
  const mslite_kernel mslite_kernel_##function = { \
      .name = #function "_scalar",                 \
      .op = MSLITE_OP_##operator,                  \
      .isa = MSLITE_ISA_SCALAR,                    \
      .derived_size = sizeof(reduce_derived),      \
      .support = support,                          \
      .prepare = prepare,                          \
      .run = run_part,                             \
  };

REDUCE(reduce, ReduceFusion)
REDUCE(reduce_log_sum_exp, ReduceLogSumExp)
REDUCE(all, All)
