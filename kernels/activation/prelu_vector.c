/* PReLUFusion and GLU, float32. */
#include "arithmetic/broadcast.h"
#include "math/simd_math.h"

typedef struct {
  mslite_broadcast_plan plan;
} prelu_derived;

/* Returns the slope with a shape that broadcasts to x: one value, one per channel (last dimension), or any such
 * shape. */
static mslite_tensor slope_shape(const mslite_tensor *x, const mslite_tensor *slope) {
  mslite_tensor shape = *slope;
  const int64_t count = mslite_element_count(slope);
  if (x->rank > 0 && (count == 1 || count == x->dims[x->rank - 1])) {
    shape.rank = 1;
    shape.dims[0] = count;
  }
  return shape;
}

static int32_t prelu_support(const mslite_node *node) {
  const mslite_tensor *x = node->inputs[0];
  if (x->type != MSLITE_FLOAT32 || node->inputs[1]->type != MSLITE_FLOAT32) return 0;
  const mslite_tensor slope = slope_shape(x, node->inputs[1]);
  if (slope.rank > x->rank) return slope.rank == 1 && slope.dims[0] == 1;
  for (int32_t i = 0; i < slope.rank; ++i)
    if (slope.dims[i] != 1 && slope.dims[i] != x->dims[x->rank - slope.rank + i]) return 0;
  return 1;
}

static mslite_status prelu_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  prelu_derived *numbers = derived;
  mslite_tensor slope = slope_shape(node->inputs[0], node->inputs[1]);
  if (slope.rank > node->inputs[0]->rank) slope.rank = 0;
  const mslite_tensor *const operands[2] = {node->inputs[0], &slope};
  mslite_plan_broadcast(node->outputs[0], operands, 2, &numbers->plan, schedule);
  return MSLITE_OK;
}

static void prelu_row(const float *x, const float *slope, int64_t step, float *y, int64_t n) {
  const simd_f32 zero = simd_set(0.0F);
  for (int64_t i = 0; i < n; i += SIMD_WIDTH) {
    const int32_t lanes = n - i < SIMD_WIDTH ? (int32_t)(n - i) : SIMD_WIDTH;
    const simd_f32 v = simd_load_lanes(x + i, lanes);
    const simd_f32 s = step == 0 ? simd_set(*slope) : simd_load_lanes(slope + i, lanes);
    simd_store_lanes(y + i, simd_select(simd_less(v, zero), s * v, v), lanes);
  }
}

static void prelu_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const mslite_broadcast_plan *plan = &((const prelu_derived *)run->derived)->plan;
  const int64_t step = plan->strides[1][plan->rank - 1];
  mslite_broadcast_cursor at;
  mslite_broadcast_begin(plan, part, &at);
  for (int64_t n; (n = mslite_broadcast_row(plan, &at)) > 0; mslite_broadcast_next(plan, n, &at))
    prelu_row((const float *)run->inputs[0] + at.offset[0], (const float *)run->inputs[1] + at.offset[1], step,
              (float *)run->outputs[0] + at.at, n);
}

static int32_t prelu_in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

typedef struct {
  int64_t rows;  /* product of the dimensions before the axis */
  int64_t width; /* contiguous elements of one half */
} glu_derived;

static int32_t glu_support(const mslite_node *node) { return node->inputs[0]->type == MSLITE_FLOAT32; }

static mslite_status glu_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *y = node->outputs[0];
  const int32_t axis = mslite_normalize_axis(((const mslite_GLU *)node->params)->axis, y->rank);
  glu_derived *numbers = derived;
  numbers->rows = numbers->width = 1;
  for (int32_t i = 0; i < y->rank; ++i) *(i < axis ? &numbers->rows : &numbers->width) *= y->dims[i];
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)numbers->rows;
  return MSLITE_OK;
}

static void glu_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const int64_t n = ((const glu_derived *)run->derived)->width;
  const float *x = (const float *)run->inputs[0] + part * 2 * n;
  float *y = (float *)run->outputs[0] + part * n;
  for (int64_t i = 0; i < n; i += SIMD_WIDTH) {
    const int32_t lanes = n - i < SIMD_WIDTH ? (int32_t)(n - i) : SIMD_WIDTH;
    const simd_f32 gate = math_sigmoid(simd_load_lanes(x + n + i, lanes));
    simd_store_lanes(y + i, simd_load_lanes(x + i, lanes) * gate, lanes);
  }
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_prelu_f32) = {
    .name = MSLITE_ISA_STRING(prelu_f32),
    .op = MSLITE_OP_PReLUFusion,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(prelu_derived),
    .support = prelu_support,
    .prepare = prelu_prepare,
    .run = prelu_run,
    .in_place = prelu_in_place,
};

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_glu_f32) = {
    .name = MSLITE_ISA_STRING(glu_f32),
    .op = MSLITE_OP_GLU,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(glu_derived),
    .support = glu_support,
    .prepare = glu_prepare,
    .run = glu_run,
};
