/* SliceFusion, StridedSlice and Crop. A begin that is not constant is read at run time. */
#include <string.h>

#include "assembly/slice_plan.h"
#include "movement.h"

typedef struct {
  mslite_copy copy;
  int32_t rank;
  int32_t begin_type;
  int32_t dynamic;                /* some begin is read at run time */
  int32_t entry[MSLITE_MAX_RANK]; /* the entry to read for a dimension, or -1 */
  int64_t limit[MSLITE_MAX_RANK]; /* the largest valid begin */
  int64_t dims[MSLITE_MAX_RANK];
  int64_t strides[MSLITE_MAX_RANK];
} slice_derived;

static mslite_status prepare_plan(const mslite_node *node, const mslite_slice_plan *plan, slice_derived *numbers,
                                  mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0];
  const mslite_tensor *y = node->outputs[0];
  int64_t size[MSLITE_MAX_RANK];
  int64_t to[MSLITE_MAX_RANK];
  if (plan->output_rank != y->rank) return MSLITE_ERROR_SHAPE;
  for (int32_t i = 0; i < x->rank; ++i) size[i] = 1;
  for (int32_t i = 0; i < y->rank; ++i) {
    if (plan->output_source[i] >= 0) size[plan->output_source[i]] = y->dims[i];
  }
  memset(numbers, 0, sizeof *numbers);
  numbers->rank = x->rank;
  numbers->begin_type = node->input_count > 1 ? node->inputs[1]->type : MSLITE_INT32;
  mslite_row_major(x->dims, x->rank, numbers->strides);
  mslite_row_major(size, x->rank, to);
  mslite_copy_begin(&numbers->copy, mslite_type_size(x->type));
  for (int32_t i = 0; i < x->rank; ++i) {
    const int64_t span = size[i] > 0 ? (size[i] - 1) * plan->stride[i] : 0;
    numbers->entry[i] = -1;
    numbers->dims[i] = x->dims[i];
    numbers->limit[i] = x->dims[i] - 1 - span;
    if (mslite_is_symbol(plan->begin[i])) {
      if (plan->entry[i] < 0 || plan->stride[i] != 1 || numbers->limit[i] < 0) return MSLITE_ERROR_UNSUPPORTED;
      numbers->entry[i] = plan->entry[i];
      numbers->dynamic = 1;
    } else {
      const int64_t last = plan->begin[i] + span;
      const bool inside = plan->begin[i] >= 0 && plan->begin[i] < x->dims[i] && last >= 0 && last < x->dims[i];
      if (size[i] > 0 && !inside) return MSLITE_ERROR_SHAPE;
      numbers->copy.from_base += plan->begin[i] * numbers->strides[i];
    }
    mslite_copy_dimension(&numbers->copy, size[i], numbers->strides[i] * plan->stride[i], to[i]);
  }
  return mslite_schedule_copy(&numbers->copy, schedule);
}

static mslite_status slice_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  mslite_shape_context context = {.next_symbol = MSLITE_SYMBOL_LIMIT};
  mslite_slice_plan plan;
  const mslite_status status = mslite_plan_slice(&context, node->params, node->inputs, node->input_count, &plan);
  return status == MSLITE_OK ? prepare_plan(node, &plan, derived, schedule) : status;
}

static mslite_status strided_slice_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  mslite_shape_context context = {.next_symbol = MSLITE_SYMBOL_LIMIT};
  mslite_slice_plan plan;
  const mslite_status status =
      mslite_plan_strided_slice(&context, node->params, node->inputs, node->input_count, &plan);
  return status == MSLITE_OK ? prepare_plan(node, &plan, derived, schedule) : status;
}

static mslite_status crop_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  mslite_shape_context context = {.next_symbol = MSLITE_SYMBOL_LIMIT};
  mslite_slice_plan plan;
  const mslite_status status = mslite_plan_crop(&context, node->params, node->inputs, node->input_count, &plan);
  return status == MSLITE_OK ? prepare_plan(node, &plan, derived, schedule) : status;
}

static int32_t slice_support(const mslite_node *node) {
  if (!mslite_copies_elements(node) || node->input_count < 2) return 0;
  const int32_t type = node->inputs[1]->type;
  return type == MSLITE_INT32 || type == MSLITE_INT64;
}

static int32_t crop_support(const mslite_node *node) { return mslite_copies_elements(node) && node->input_count > 1; }

static void slice_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const slice_derived *numbers = run->derived;
  int64_t offset = 0;
  for (int32_t i = 0; numbers->dynamic && i < numbers->rank; ++i) {
    if (numbers->entry[i] < 0) continue;
    int64_t begin = mslite_integer_at(run->inputs[1], numbers->begin_type, numbers->entry[i]);
    if (begin < 0) begin += numbers->dims[i];
    begin = begin < 0 ? 0 : begin > numbers->limit[i] ? numbers->limit[i] : begin;
    offset += begin * numbers->strides[i];
  }
  mslite_copy_part(&numbers->copy, run->inputs[0], offset, run->outputs[0], part);
}

MSLITE_MOVEMENT_KERNEL(slice, SliceFusion, slice_derived, slice_support, slice_prepare, slice_run, NULL)
MSLITE_MOVEMENT_KERNEL(strided_slice, StridedSlice, slice_derived, slice_support, strided_slice_prepare, slice_run,
                       NULL)
MSLITE_MOVEMENT_KERNEL(crop, Crop, slice_derived, crop_support, crop_prepare, slice_run, NULL)
