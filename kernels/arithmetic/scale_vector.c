/* ScaleFusion: x * scale + offset, where the operands have the dimensions of x from `axis` on; then the activation. */
#include "activation/functions.h"
#include "arithmetic/broadcast.h"
#include "arithmetic/scale_row.h"

typedef struct {
  mslite_broadcast_plan plan;
  mslite_activation_params activation;
  int32_t has_offset;
} scale_derived;

static int32_t support(const mslite_node *node) {
  const mslite_ScaleFusion *scale = node->params;
  for (int32_t k = 0; k < node->input_count; ++k)
    if (node->inputs[k]->type != (k == 0 ? SIMD_REAL_TYPE : MSLITE_FLOAT32)) return 0;
  const int32_t axis = mslite_normalize_axis(scale->axis, node->inputs[0]->rank);
  return axis >= 0 && axis + node->inputs[1]->rank <= node->inputs[0]->rank && node->input_count >= 2 &&
         (node->input_count == 2 || mslite_element_count(node->inputs[2]) == mslite_element_count(node->inputs[1])) &&
         activation_is_fusable(scale->activation_type);
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_ScaleFusion *scale = node->params;
  scale_derived *numbers = derived;
  const mslite_tensor *x = node->inputs[0];
  const int32_t axis = mslite_normalize_axis(scale->axis, x->rank);
  mslite_tensor covering = {.rank = x->rank - axis};
  for (int32_t i = 0; i < covering.rank; ++i)
    covering.dims[i] = i < node->inputs[1]->rank ? node->inputs[1]->dims[i] : 1;
  const mslite_tensor *const operands[2] = {x, &covering};
  numbers->has_offset = node->input_count > 2;
  activation_params_of(scale->activation_type, 0, 0, 0, false, &numbers->activation);
  mslite_plan_broadcast(node->outputs[0], operands, 2, &numbers->plan, schedule);
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  enum { CHUNK = 256 };
  static const float zeros[CHUNK];
  const scale_derived *numbers = run->derived;
  const mslite_broadcast_plan *plan = &numbers->plan;
  const simd_real *x = run->inputs[0];
  const float *scale = run->inputs[1];
  simd_real *y = run->outputs[0];
  const int64_t step = plan->strides[1][plan->rank - 1];
  mslite_broadcast_cursor at;
  mslite_broadcast_begin(plan, part, &at);
  for (int64_t n; (n = mslite_broadcast_row(plan, &at)) > 0; mslite_broadcast_next(plan, n, &at)) {
    if (!numbers->has_offset && n > CHUNK) n = CHUNK;
    const float *offset = numbers->has_offset ? (const float *)run->inputs[2] + at.offset[1] : zeros;
    scale_row(x + at.offset[0], scale + at.offset[1], offset, step, y + at.at, n);
    activation_row(&numbers->activation, y + at.at, y + at.at, n);
  }
}

static int32_t in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_scale_f32) = {
    .name = MSLITE_ISA_STRING(scale_f32),
    .op = MSLITE_OP_ScaleFusion,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(scale_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
    .in_place = in_place,
};
