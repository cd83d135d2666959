/* StridedSliceGrad: dy at the position of the slice in x, zeros elsewhere. One part is a block of the outermost
 * dimension, so that its zeros are written before dy. */
#include <string.h>

#include "assembly/slice_plan.h"

enum { PART_ELEMENTS = 16384 };

typedef struct {
  int64_t rank;
  int64_t dims[MSLITE_MAX_RANK], begin[MSLITE_MAX_RANK], stride[MSLITE_MAX_RANK], size[MSLITE_MAX_RANK];
  int64_t inner;     /* elements of x per entry of its first dimension */
  int64_t cut_inner; /* the same for dy */
  int64_t part_rows;
} slice_grad_derived;

/* The begin of the slice must be constant. */
static int32_t support(const mslite_node *node) {
  if (node->input_count < 5 || node->inputs[0]->type != MSLITE_FLOAT32) return 0;
  for (int32_t i = 2; i < 5; ++i) {
    if (node->inputs[i]->known_count < 0 && node->inputs[i]->data == NULL) return 0;
  }
  return 1;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  slice_grad_derived *numbers = derived;
  const mslite_StridedSliceGrad *attributes = node->params;
  const mslite_StridedSlice forward = {
      .begin_mask = attributes->begin_mask,
      .end_mask = attributes->end_mask,
      .ellipsis_mask = attributes->ellipsis_mask,
      .new_axis_mask = attributes->new_axis_mask,
      .shrink_axis_mask = attributes->shrink_axis_mask,
  };
  const mslite_tensor *x = node->outputs[0];
  const mslite_tensor *const operands[4] = {x, node->inputs[2], node->inputs[3], node->inputs[4]};
  mslite_shape_context context = {.next_symbol = MSLITE_SYMBOL_LIMIT};
  mslite_slice_plan plan;
  const mslite_status status = mslite_plan_strided_slice(&context, &forward, operands, 4, &plan);
  if (status != MSLITE_OK) return status;
  memset(numbers, 0, sizeof *numbers);
  numbers->rank = x->rank;
  int64_t count = 1;
  for (int32_t i = 0; i < x->rank; ++i) {
    if (mslite_is_symbol(plan.begin[i]) || mslite_is_symbol(plan.size[i])) return MSLITE_ERROR_UNSUPPORTED;
    numbers->dims[i] = x->dims[i];
    numbers->begin[i] = plan.begin[i];
    numbers->stride[i] = plan.stride[i];
    numbers->size[i] = plan.size[i];
    count *= plan.size[i];
  }
  if (count != mslite_element_count(node->inputs[0])) return MSLITE_ERROR_SHAPE;
  numbers->inner = numbers->cut_inner = 1;
  for (int32_t i = 1; i < x->rank; ++i) {
    numbers->inner *= x->dims[i];
    numbers->cut_inner *= plan.size[i];
  }
  const int64_t rows = x->rank > 0 ? x->dims[0] : 1;
  numbers->part_rows = numbers->inner > 0 && numbers->inner < PART_ELEMENTS ? PART_ELEMENTS / numbers->inner : 1;
  const int64_t parts = numbers->inner > 0 ? (rows + numbers->part_rows - 1) / numbers->part_rows : 0;
  if (parts > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)parts;
  return MSLITE_OK;
}

/* Copies the elements of one entry of dy's first dimension to one entry of x's. */
static void spread(const slice_grad_derived *numbers, const float *dy, float *dx) {
  int64_t index[MSLITE_MAX_RANK] = {0};
  int64_t steps[MSLITE_MAX_RANK] = {0};
  int64_t at = 0, step = 1;
  for (int64_t axis = numbers->rank - 1; axis >= 1; --axis) {
    steps[axis] = step * numbers->stride[axis];
    at += step * numbers->begin[axis];
    step *= numbers->dims[axis];
  }
  for (int64_t i = 0; i < numbers->cut_inner; ++i) {
    dx[at] = dy[i];
    for (int64_t axis = numbers->rank - 1; axis >= 1; --axis) {
      at += steps[axis];
      if (++index[axis] < numbers->size[axis]) break;
      at -= steps[axis] * numbers->size[axis];
      index[axis] = 0;
    }
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const slice_grad_derived *numbers = run->derived;
  const float *dy = run->inputs[0];
  float *dx = run->outputs[0];
  if (numbers->rank == 0) {
    dx[0] = dy[0];
    return;
  }
  const int64_t first = (int64_t)part * numbers->part_rows;
  const int64_t left = numbers->dims[0] - first, rows = left < numbers->part_rows ? left : numbers->part_rows;
  memset(dx + first * numbers->inner, 0, (size_t)(rows * numbers->inner) * sizeof(float));
  for (int64_t row = first; row < first + rows; ++row) {
    const int64_t from = row - numbers->begin[0];
    if (numbers->stride[0] == 0 || from % numbers->stride[0] != 0) continue;
    const int64_t cut = from / numbers->stride[0];
    if (cut < 0 || cut >= numbers->size[0]) continue;
    spread(numbers, dy + cut * numbers->cut_inner, dx + row * numbers->inner);
  }
}

const mslite_kernel mslite_kernel_strided_slice_grad = {
    .name = "strided_slice_grad_scalar",
    .op = MSLITE_OP_StridedSliceGrad,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(slice_grad_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
};
