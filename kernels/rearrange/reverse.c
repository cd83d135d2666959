/* ReverseV2, ReverseSequence and InvertPermutation. */
#include <string.h>

#include "movement.h"

static mslite_status reverse_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_ReverseV2 *attributes = node->params;
  const mslite_tensor *x = node->inputs[0];
  mslite_copy *copy = derived;
  int64_t strides[MSLITE_MAX_RANK];
  bool reversed[MSLITE_MAX_RANK] = {false};
  for (int32_t i = 0; i < attributes->axis.count; ++i) {
    const int32_t axis = mslite_normalize_axis(attributes->axis.at[i], x->rank);
    if (axis < 0) return MSLITE_ERROR_ATTRIBUTE;
    reversed[axis] = true;
  }
  mslite_row_major(x->dims, x->rank, strides);
  mslite_copy_begin(copy, mslite_type_size(x->type));
  for (int32_t i = 0; i < x->rank; ++i) {
    mslite_copy_dimension(copy, x->dims[i], reversed[i] ? -strides[i] : strides[i], strides[i]);
    if (reversed[i]) copy->from_base += (x->dims[i] - 1) * strides[i];
  }
  return mslite_schedule_copy(copy, schedule);
}

/* x as [before, first axis, between, second axis, row]; a part is one index of the two axes. */
typedef struct {
  int64_t before, between, row_bytes;
  int64_t batch, steps;
  int64_t batch_stride, step_stride, before_stride, between_stride; /* bytes */
  int32_t length_type;
} sequence_derived;

static mslite_status sequence_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_ReverseSequence *attributes = node->params;
  const mslite_tensor *x = node->inputs[0];
  sequence_derived *numbers = derived;
  const int32_t batch = mslite_normalize_axis(attributes->batch_dim, x->rank);
  const int32_t step = mslite_normalize_axis(attributes->seq_dim, x->rank);
  if (batch < 0 || step < 0 || batch == step || node->input_count < 2) return MSLITE_ERROR_ATTRIBUTE;
  if (mslite_element_count(node->inputs[1]) != x->dims[batch]) return MSLITE_ERROR_SHAPE;
  const int32_t first = batch < step ? batch : step;
  const int32_t second = batch < step ? step : batch;
  int64_t strides[MSLITE_MAX_RANK];
  mslite_row_major(x->dims, x->rank, strides);
  const int64_t size = mslite_type_size(x->type);
  numbers->before = numbers->between = 1;
  for (int32_t i = 0; i < first; ++i) numbers->before *= x->dims[i];
  for (int32_t i = first + 1; i < second; ++i) numbers->between *= x->dims[i];
  numbers->row_bytes = strides[second] * size;
  numbers->batch = x->dims[batch];
  numbers->steps = x->dims[step];
  numbers->batch_stride = strides[batch] * size;
  numbers->step_stride = strides[step] * size;
  numbers->before_stride = strides[first] * x->dims[first] * size;
  numbers->between_stride = strides[second] * x->dims[second] * size;
  numbers->length_type = node->inputs[1]->type;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)(numbers->batch * numbers->before);
  return MSLITE_OK;
}

static int32_t sequence_support(const mslite_node *node) {
  return mslite_copies_elements(node) && node->input_count > 1 &&
         (node->inputs[1]->type == MSLITE_INT32 || node->inputs[1]->type == MSLITE_INT64);
}

static void sequence_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const sequence_derived *numbers = run->derived;
  const int64_t batch = part / numbers->before;
  const int64_t base = part % numbers->before * numbers->before_stride + batch * numbers->batch_stride;
  int64_t length = mslite_integer_at(run->inputs[1], numbers->length_type, batch);
  length = length < 0 ? 0 : length > numbers->steps ? numbers->steps : length;
  for (int64_t between = 0; between < numbers->between; ++between) {
    const int64_t at = base + between * numbers->between_stride;
    for (int64_t step = 0; step < numbers->steps; ++step) {
      const int64_t source = step < length ? length - 1 - step : step;
      memcpy((char *)run->outputs[0] + at + step * numbers->step_stride,
             (const char *)run->inputs[0] + at + source * numbers->step_stride, (size_t)numbers->row_bytes);
    }
  }
}

typedef struct {
  int32_t type;
  int32_t count;
} invert_derived;

static int32_t invert_support(const mslite_node *node) {
  const int32_t type = node->inputs[0]->type;
  return (type == MSLITE_INT32 || type == MSLITE_INT64) && node->outputs[0]->type == type;
}

static mslite_status invert_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  invert_derived *numbers = derived;
  const int64_t count = mslite_element_count(node->inputs[0]);
  if (count > INT32_MAX) return MSLITE_ERROR_SHAPE;
  numbers->type = node->inputs[0]->type;
  numbers->count = (int32_t)count;
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

static void invert_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const invert_derived *numbers = run->derived;
  const size_t size = numbers->type == MSLITE_INT64 ? 8 : 4;
  memset(run->outputs[0], 0, (size_t)numbers->count * size); /* entries that an invalid permutation leaves out */
  for (int32_t i = 0; i < numbers->count; ++i) {
    const int64_t to = mslite_integer_at(run->inputs[0], numbers->type, i);
    if (to < 0 || to >= numbers->count) continue;
    if (numbers->type == MSLITE_INT64) {
      ((int64_t *)run->outputs[0])[to] = i;
    } else {
      ((int32_t *)run->outputs[0])[to] = i;
    }
  }
}

MSLITE_MOVEMENT_KERNEL(reverse, ReverseV2, mslite_copy, mslite_copies_elements, reverse_prepare, mslite_run_copy, NULL)
MSLITE_MOVEMENT_KERNEL(reverse_sequence, ReverseSequence, sequence_derived, sequence_support, sequence_prepare,
                       sequence_run, NULL)
MSLITE_MOVEMENT_KERNEL(invert_permutation, InvertPermutation, invert_derived, invert_support, invert_prepare,
                       invert_run, NULL)
