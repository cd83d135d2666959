/* float32 Softmax and LogSoftmax along one axis: exp(x - max) divided by its sum. Also Hardmax. */
#include "math/simd_math.h"

/* x as [outer, size, inner], where `size` is the axis. A part is some outer rows, or a stripe of inner columns. */
typedef struct {
  int64_t outer;
  int64_t size;
  int64_t inner;
  int64_t rows_per_part; /* if inner == 1 */
  int64_t stripes;       /* if inner > 1: parts per outer row, of STRIPE columns each */
  int32_t op;
} softmax_derived;

enum { PART_ELEMENTS = 8192, STRIPE = 64, SUM_BLOCK = 64 /* vectors per partial sum in float32 */ };

static int64_t axis_of(const mslite_node *node) {
  switch (node->op) {
    case MSLITE_OP_Softmax: {
      const mslite_longs axes = ((const mslite_Softmax *)node->params)->axis;
      return axes.count == 0 ? -1 : axes.at[0];
    }
    case MSLITE_OP_LogSoftmax:
      return ((const mslite_LogSoftmax *)node->params)->axis;
    default:
      return ((const mslite_Hardmax *)node->params)->axis;
  }
}

static int32_t support(const mslite_node *node) {
  return node->inputs[0]->type == SIMD_REAL_TYPE && mslite_normalize_axis(axis_of(node), node->inputs[0]->rank) >= 0;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  softmax_derived *numbers = derived;
  const mslite_tensor *x = node->inputs[0];
  const int32_t axis = mslite_normalize_axis(axis_of(node), x->rank);
  numbers->outer = numbers->inner = 1;
  for (int32_t i = 0; i < axis; ++i) numbers->outer *= x->dims[i];
  for (int32_t i = axis + 1; i < x->rank; ++i) numbers->inner *= x->dims[i];
  numbers->size = x->dims[axis];
  numbers->op = node->op;
  numbers->rows_per_part = numbers->size < PART_ELEMENTS ? PART_ELEMENTS / (numbers->size < 1 ? 1 : numbers->size) : 1;
  numbers->stripes = (numbers->inner + STRIPE - 1) / STRIPE;
  schedule->phase_count = 1;
  if (numbers->inner == 1)
    schedule->part_count[0] = (int32_t)((numbers->outer + numbers->rows_per_part - 1) / numbers->rows_per_part);
  else
    schedule->part_count[0] = (int32_t)(numbers->outer * numbers->stripes);
  if (numbers->size == 0) schedule->part_count[0] = 0;
  return MSLITE_OK;
}

static float largest_lane(simd_f32 v) {
  float lanes[SIMD_WIDTH];
  simd_store_f32(lanes, v);
  for (int32_t i = 1; i < SIMD_WIDTH; ++i) lanes[0] = lanes[0] < lanes[i] ? lanes[i] : lanes[0];
  return lanes[0];
}

static double sum_of_lanes(simd_f32 v) {
  float lanes[SIMD_WIDTH];
  double sum = 0;
  simd_store_f32(lanes, v);
  for (int32_t i = 0; i < SIMD_WIDTH; ++i) sum += (double)lanes[i];
  return sum;
}

/* Loads the last vector of a row, padded with the lowest value, whose exponential is 0. */
static simd_f32 load_tail(const simd_real *x, int32_t rest) {
  float lanes[SIMD_WIDTH];
  for (int32_t i = 0; i < SIMD_WIDTH; ++i) lanes[i] = i < rest ? (float)x[i] : -INFINITY;
  return simd_load_f32(lanes);
}

static void softmax_row(const simd_real *x, simd_real *y, int64_t n, bool logarithm) {
  const int64_t whole = n - n % SIMD_WIDTH;
  const int32_t rest = (int32_t)(n - whole);
  simd_f32 best = simd_set(-INFINITY);
  for (int64_t i = 0; i < whole; i += SIMD_WIDTH) best = simd_max(best, simd_load(x + i));
  if (rest > 0) best = simd_max(best, load_tail(x + whole, rest));
  const float top = largest_lane(best);
  const simd_f32 shift = simd_set(top == -INFINITY ? 0.0F : top);
  double blocks = 0;
  simd_f32 sum = simd_set(0.0F);
  for (int64_t begin = 0; begin < whole; begin += SUM_BLOCK * SIMD_WIDTH) {
    const int64_t end = whole - begin < SUM_BLOCK * SIMD_WIDTH ? whole : begin + SUM_BLOCK * SIMD_WIDTH;
    for (int64_t i = begin; i < end; i += SIMD_WIDTH) {
      const simd_f32 e = math_exp(simd_load(x + i) - shift);
      if (!logarithm) simd_store(y + i, e);
      sum += e;
    }
    blocks += sum_of_lanes(sum);
    sum = simd_set(0.0F);
  }
  if (rest > 0) {
    const simd_f32 e = math_exp(load_tail(x + whole, rest) - shift);
    if (!logarithm) simd_store_partial(y + whole, e, rest);
    sum += e;
  }
  const simd_f32 total = simd_set((float)(blocks + sum_of_lanes(sum)));
  if (logarithm) {
    const simd_f32 log_total = math_log(total);
    for (int64_t i = 0; i < whole; i += SIMD_WIDTH) simd_store(y + i, (simd_load(x + i) - shift) - log_total);
    if (rest > 0) simd_store_partial(y + whole, (load_tail(x + whole, rest) - shift) - log_total, rest);
    return;
  }
  const simd_f32 scale = simd_set(1.0F) / total;
  for (int64_t i = 0; i < whole; i += SIMD_WIDTH) simd_store(y + i, simd_load(y + i) * scale);
  if (rest > 0) simd_store_partial(y + whole, simd_load_partial(y + whole, rest) * scale, rest);
}

/* Computes one vector of columns; steps along the axis are `stride` elements apart. */
static void softmax_columns(const simd_real *x, simd_real *y, int64_t n, int64_t stride, int32_t lanes,
                            bool logarithm) {
  simd_f32 best = simd_load_lanes(x, lanes);
  for (int64_t i = 1; i < n; ++i) best = simd_max(best, simd_load_lanes(x + i * stride, lanes));
  best = simd_select(simd_equal(best, simd_set(-INFINITY)), simd_set(0.0F), best);
  simd_f32 sum = simd_set(0.0F);
  for (int64_t begin = 0; begin < n; begin += SUM_BLOCK) {
    const int64_t end = n - begin < SUM_BLOCK ? n : begin + SUM_BLOCK;
    simd_f32 block = simd_set(0.0F);
    for (int64_t i = begin; i < end; ++i) {
      const simd_f32 e = math_exp(simd_load_lanes(x + i * stride, lanes) - best);
      if (!logarithm) simd_store_lanes(y + i * stride, e, lanes);
      block += e;
    }
    sum += block;
  }
  const simd_f32 log_sum = math_log(sum);
  for (int64_t i = 0; i < n; ++i) {
    const simd_f32 value = logarithm ? (simd_load_lanes(x + i * stride, lanes) - best) - log_sum
                                     : simd_load_lanes(y + i * stride, lanes) / sum;
    simd_store_lanes(y + i * stride, value, lanes);
  }
}

static void hardmax_column(const simd_real *x, simd_real *y, int64_t n, int64_t stride) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i)
    if (x[i * stride] > x[best * stride]) best = i;
  for (int64_t i = 0; i < n; ++i) y[i * stride] = (simd_real)(i == best ? 1.0F : 0.0F);
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const softmax_derived *numbers = run->derived;
  const simd_real *x = run->inputs[0];
  simd_real *y = run->outputs[0];
  const int64_t n = numbers->size, inner = numbers->inner;
  const bool logarithm = numbers->op == MSLITE_OP_LogSoftmax, hard = numbers->op == MSLITE_OP_Hardmax;
  if (inner == 1) {
    const int64_t begin = part * numbers->rows_per_part;
    const int64_t left = numbers->outer - begin, rows = left < numbers->rows_per_part ? left : numbers->rows_per_part;
    for (int64_t row = begin; row < begin + rows; ++row) {
      if (hard)
        hardmax_column(x + row * n, y + row * n, n, 1);
      else
        softmax_row(x + row * n, y + row * n, n, logarithm);
    }
    return;
  }
  const int64_t first = part % numbers->stripes * STRIPE, last = first + STRIPE < inner ? first + STRIPE : inner;
  const int64_t base = part / numbers->stripes * n * inner;
  for (int64_t column = first; column < last; column += hard ? 1 : SIMD_WIDTH) {
    const int32_t lanes = last - column < SIMD_WIDTH ? (int32_t)(last - column) : SIMD_WIDTH;
    if (hard)
      hardmax_column(x + base + column, y + base + column, n, inner);
    else
      softmax_columns(x + base + column, y + base + column, n, inner, lanes, logarithm);
  }
}

static int32_t in_place(const mslite_node *node) { return node->op == MSLITE_OP_Hardmax ? -1 : 0; }

#define SOFTMAX(function, operator)                                       \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function##_f32) = { \
      .name = MSLITE_ISA_STRING(function##_f32),                          \
      .op = MSLITE_OP_##operator,                                         \
      .isa = MSLITE_THIS_ISA,                                             \
      .derived_size = sizeof(softmax_derived),                            \
      .support = support,                                                 \
      .prepare = prepare,                                                 \
      .run = run_part,                                                    \
      .in_place = in_place,                                               \
  };

SOFTMAX(softmax, Softmax)
SOFTMAX(log_softmax, LogSoftmax)
SOFTMAX(hardmax, Hardmax)
