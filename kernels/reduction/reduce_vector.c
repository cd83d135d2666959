/* ReduceFusion and ReduceLogSumExp, float32. Sums are computed in blocks, which are then added, in an order that
 * depends only on the shapes; a reduction is never divided between parts. */
#include "math/simd_math.h"
#include "reduction/reduce_plan.h"

enum { LOG_SUM_EXP = 100, BLOCK = 4096, ROW_BLOCK = 64, STRIPE = 64, PART_ELEMENTS = 16384 };

typedef struct {
  mslite_reduce_plan plan;
  int64_t units; /* output rows (inner == 1), or stripes of STRIPE columns */
  int64_t units_per_part;
  int64_t stripes; /* per outer block */
  int32_t mode;
  float factor; /* of the result */
} reduce_derived;

static int32_t mode_of(const mslite_node *node) {
  return node->op == MSLITE_OP_ReduceLogSumExp ? LOG_SUM_EXP : ((const mslite_ReduceFusion *)node->params)->mode;
}

static bool plan_of(const mslite_node *node, mslite_reduce_plan *plan) {
  const bool to_end = node->op == MSLITE_OP_ReduceFusion && ((const mslite_ReduceFusion *)node->params)->reduce_to_end;
  return mslite_plan_reduce(node->inputs[0], node->input_count > 1 ? node->inputs[1] : NULL, to_end, plan);
}

static int32_t support(const mslite_node *node) {
  mslite_reduce_plan ignored;
  const int32_t mode = mode_of(node);
  return node->inputs[0]->type == SIMD_REAL_TYPE && mode != MSLITE_REDUCE_MODE_REDUCE_ALL && mode >= 0 &&
         (mode <= MSLITE_REDUCE_MODE_REDUCE_L2 || mode == LOG_SUM_EXP) && plan_of(node, &ignored);
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  reduce_derived *numbers = derived;
  mslite_reduce_plan *plan = &numbers->plan;
  if (!plan_of(node, plan)) return MSLITE_ERROR_VALUE;
  numbers->mode = mode_of(node);
  numbers->factor = 1.0F;
  if (node->op == MSLITE_OP_ReduceFusion) {
    const mslite_ReduceFusion *fusion = node->params;
    /* Only Caffe models have a coefficient; other files contain 0. */
    if (fusion->reduce_to_end && (fusion->coeff > 1e-5F || fusion->coeff < -1e-5F)) numbers->factor = fusion->coeff;
  }
  numbers->stripes = plan->inner == 1 ? 1 : (plan->inner + STRIPE - 1) / STRIPE;
  numbers->units = plan->outer * numbers->stripes;
  const int64_t width = plan->inner < STRIPE ? plan->inner : STRIPE;
  const int64_t work = plan->reduced < PART_ELEMENTS ? (plan->reduced + 1) * width : PART_ELEMENTS;
  numbers->units_per_part = work > 0 && work < PART_ELEMENTS ? PART_ELEMENTS / work : 1;
  if (plan->inner == 0) numbers->units = 0;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->units + numbers->units_per_part - 1) / numbers->units_per_part);
  return MSLITE_OK;
}

static double sum_of_lanes(simd_f32 v) {
  float lanes[SIMD_WIDTH];
  double sum = 0;
  simd_store_f32(lanes, v);
  for (int32_t i = 0; i < SIMD_WIDTH; ++i) sum += (double)lanes[i];
  return sum;
}

/* The sum of `expression` over n adjacent elements. */
#define ROW_SUM(expression)                                                         \
  for (int64_t begin = 0; begin < n; begin += BLOCK) {                              \
    const int64_t end = n - begin < BLOCK ? n : begin + BLOCK;                      \
    simd_f32 sums[4] = {zero, zero, zero, zero};                                    \
    int64_t i = begin;                                                              \
    for (; i + 4 * SIMD_WIDTH <= end; i += 4 * SIMD_WIDTH)                          \
      for (int32_t k = 0; k < 4; ++k) {                                             \
        const simd_f32 v = simd_load(x + i + k * SIMD_WIDTH);                       \
        sums[k] += expression;                                                      \
      }                                                                             \
    for (; i < end; i += SIMD_WIDTH) {                                              \
      const int32_t lanes = end - i < SIMD_WIDTH ? (int32_t)(end - i) : SIMD_WIDTH; \
      const simd_f32 v = simd_load_lanes(x + i, lanes);                             \
      float kept[SIMD_WIDTH];                                                       \
      simd_store_f32(kept, expression);                                             \
      sums[0] += simd_load_partial_f32(kept, lanes);                                \
    }                                                                               \
    total += sum_of_lanes((sums[0] + sums[1]) + (sums[2] + sums[3]));               \
  }                                                                                 \
  break

static double row_sum(int32_t mode, const simd_real *x, int64_t n, float top) {
  const simd_f32 zero = simd_set(0.0F), shift = simd_set(top);
  double total = 0;
  switch (mode) {
    case MSLITE_REDUCE_MODE_REDUCE_SUM_SQUARE:
    case MSLITE_REDUCE_MODE_REDUCE_L2:
      ROW_SUM(v * v);
    case MSLITE_REDUCE_MODE_REDUCE_ASUM:
      ROW_SUM(math_abs(v));
    case LOG_SUM_EXP:
      ROW_SUM(math_exp(v - shift));
    default:
      ROW_SUM(v);
  }
  return total;
}

/* Maximum, minimum or product of `start` and n adjacent elements. */
#define ROW_COMBINE(combine, combine_scalar)                                                           \
  {                                                                                                    \
    int64_t i = 0;                                                                                     \
    if (n >= SIMD_WIDTH) {                                                                             \
      float lanes[SIMD_WIDTH];                                                                         \
      simd_f32 all = simd_load(x);                                                                     \
      for (i = SIMD_WIDTH; i + SIMD_WIDTH <= n; i += SIMD_WIDTH) all = combine(all, simd_load(x + i)); \
      simd_store_f32(lanes, all);                                                                      \
      for (int32_t k = 0; k < SIMD_WIDTH; ++k) start = combine_scalar(start, lanes[k]);                \
    }                                                                                                  \
    for (; i < n; ++i) start = combine_scalar(start, (float)x[i]);                                     \
  }                                                                                                    \
  break

static float larger(float a, float b) { return a != a || a > b ? a : b; }
static float smaller(float a, float b) { return a != a || a < b ? a : b; }
SIMD_INLINE simd_f32 times(simd_f32 a, simd_f32 b) { return a * b; }
static float times_scalar(float a, float b) { return a * b; }

static float row_combine(int32_t mode, const simd_real *x, int64_t n, float start) {
  switch (mode) {
    case MSLITE_REDUCE_MODE_REDUCE_MIN:
      ROW_COMBINE(math_min, smaller);
    case MSLITE_REDUCE_MODE_REDUCE_PROD:
      ROW_COMBINE(times, times_scalar);
    default:
      ROW_COMBINE(math_max, larger);
  }
  return start;
}

static float identity_of(int32_t mode) {
  if (mode == MSLITE_REDUCE_MODE_REDUCE_PROD) return 1.0F;
  return mode == MSLITE_REDUCE_MODE_REDUCE_MIN ? INFINITY : -INFINITY;
}

static float finish(const reduce_derived *numbers, double sum, float top) {
  const double reduced = (double)numbers->plan.reduced;
  switch (numbers->mode) {
    case MSLITE_REDUCE_MODE_REDUCE_MEAN:
      return (float)(sum / reduced) * numbers->factor;
    case MSLITE_REDUCE_MODE_REDUCE_L2:
      return (float)sqrt(sum) * numbers->factor;
    case LOG_SUM_EXP: {
      float lanes[SIMD_WIDTH];
      simd_store_f32(lanes, math_log(simd_set((float)sum)));
      return lanes[0] + top;
    }
    default:
      return (float)sum * numbers->factor;
  }
}

static void reduce_row(const reduce_derived *numbers, const simd_real *x, simd_real *y) {
  const mslite_reduce_plan *plan = &numbers->plan;
  const int32_t mode = numbers->mode;
  const bool compares = mode == MSLITE_REDUCE_MODE_REDUCE_MAX || mode == MSLITE_REDUCE_MODE_REDUCE_MIN ||
                        mode == MSLITE_REDUCE_MODE_REDUCE_PROD;
  float top = identity_of(mode);
  if (compares || mode == LOG_SUM_EXP)
    for (int64_t r = 0; r < plan->runs; ++r)
      top = row_combine(mode, x + mslite_reduce_run_offset(plan, r), plan->length, top);
  if (compares) {
    *y = (simd_real)(top * numbers->factor);
    return;
  }
  if (top - top != 0.0F) top = top != top ? top : 0.0F; /* infinities are not subtracted */
  double sum = 0;
  for (int64_t r = 0; r < plan->runs; ++r)
    sum += row_sum(mode, x + mslite_reduce_run_offset(plan, r), plan->length, top);
  *y = (simd_real)finish(numbers, sum, top);
}

/* Sums all elements of a column vector; block sums keep the error of long columns small. */
#define COLUMN_SUM(expression)                                                                 \
  for (int64_t r = 0; r < plan->runs; ++r) {                                                   \
    const simd_real *row = x + mslite_reduce_run_offset(plan, r);                              \
    for (int64_t begin = 0; begin < plan->length; begin += ROW_BLOCK) {                        \
      const int64_t end = plan->length - begin < ROW_BLOCK ? plan->length : begin + ROW_BLOCK; \
      simd_f32 block = simd_set(0.0F);                                                         \
      for (int64_t i = begin; i < end; ++i) {                                                  \
        const simd_f32 v = simd_load_lanes(row + i * stride, lanes);                           \
        block += expression;                                                                   \
      }                                                                                        \
      sum += block;                                                                            \
    }                                                                                          \
  }                                                                                            \
  break

#define COLUMN_COMBINE(combine)                                                                              \
  for (int64_t r = 0; r < plan->runs; ++r) {                                                                 \
    const simd_real *row = x + mslite_reduce_run_offset(plan, r);                                            \
    for (int64_t i = 0; i < plan->length; ++i) all = combine(all, simd_load_lanes(row + i * stride, lanes)); \
  }                                                                                                          \
  break

static simd_f32 column_combine(const mslite_reduce_plan *plan, int32_t mode, const simd_real *x, int32_t lanes) {
  const int64_t stride = plan->length_stride;
  simd_f32 all = simd_set(identity_of(mode));
  switch (mode) {
    case MSLITE_REDUCE_MODE_REDUCE_MIN:
      COLUMN_COMBINE(math_min);
    case MSLITE_REDUCE_MODE_REDUCE_PROD:
      COLUMN_COMBINE(times);
    default:
      COLUMN_COMBINE(math_max);
  }
  return all;
}

static simd_f32 column_sum(const mslite_reduce_plan *plan, int32_t mode, const simd_real *x, int32_t lanes,
                           simd_f32 shift) {
  const int64_t stride = plan->length_stride;
  simd_f32 sum = simd_set(0.0F);
  switch (mode) {
    case MSLITE_REDUCE_MODE_REDUCE_SUM_SQUARE:
    case MSLITE_REDUCE_MODE_REDUCE_L2:
      COLUMN_SUM(v * v);
    case MSLITE_REDUCE_MODE_REDUCE_ASUM:
      COLUMN_SUM(math_abs(v));
    case LOG_SUM_EXP:
      COLUMN_SUM(math_exp(v - shift));
    default:
      COLUMN_SUM(v);
  }
  return sum;
}

static simd_f32 reduce_columns(const reduce_derived *numbers, const simd_real *x, int32_t lanes) {
  const mslite_reduce_plan *plan = &numbers->plan;
  const simd_f32 factor = simd_set(numbers->factor), zero = simd_set(0.0F);
  switch (numbers->mode) {
    case MSLITE_REDUCE_MODE_REDUCE_MAX:
    case MSLITE_REDUCE_MODE_REDUCE_MIN:
    case MSLITE_REDUCE_MODE_REDUCE_PROD:
      return column_combine(plan, numbers->mode, x, lanes) * factor;
    case MSLITE_REDUCE_MODE_REDUCE_MEAN:
      return column_sum(plan, numbers->mode, x, lanes, zero) / simd_set((float)plan->reduced) * factor;
    case MSLITE_REDUCE_MODE_REDUCE_L2:
      return math_sqrt(column_sum(plan, numbers->mode, x, lanes, zero)) * factor;
    case LOG_SUM_EXP: {
      const simd_f32 top = column_combine(plan, numbers->mode, x, lanes);
      const simd_f32 shift = simd_select(simd_equal(math_abs(top), simd_set(INFINITY)), zero, top);
      return math_log(column_sum(plan, numbers->mode, x, lanes, shift)) + shift;
    }
    default:
      return column_sum(plan, numbers->mode, x, lanes, zero) * factor;
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const reduce_derived *numbers = run->derived;
  const mslite_reduce_plan *plan = &numbers->plan;
  const int64_t begin = part * numbers->units_per_part;
  const int64_t end =
      numbers->units - begin < numbers->units_per_part ? numbers->units : begin + numbers->units_per_part;
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t outer = unit / numbers->stripes;
    const simd_real *x = (const simd_real *)run->inputs[0] + mslite_reduce_kept_offset(plan, outer);
    simd_real *y = (simd_real *)run->outputs[0] + outer * plan->inner;
    if (plan->inner == 1) {
      reduce_row(numbers, x, y);
      continue;
    }
    const int64_t first = unit % numbers->stripes * STRIPE;
    const int64_t last = plan->inner - first < STRIPE ? plan->inner : first + STRIPE;
    for (int64_t column = first; column < last; column += SIMD_WIDTH) {
      const int32_t lanes = last - column < SIMD_WIDTH ? (int32_t)(last - column) : SIMD_WIDTH;
      simd_store_lanes(y + column, reduce_columns(numbers, x + column, lanes), lanes);
    }
  }
}

#define REDUCE(function, operator)                                        \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function##_f32) = { \
      .name = MSLITE_ISA_STRING(function##_f32),                          \
      .op = MSLITE_OP_##operator,                                         \
      .isa = MSLITE_THIS_ISA,                                             \
      .derived_size = sizeof(reduce_derived),                             \
      .support = support,                                                 \
      .prepare = prepare,                                                 \
      .run = run_part,                                                    \
  };

REDUCE(reduce, ReduceFusion)
REDUCE(reduce_log_sum_exp, ReduceLogSumExp)
