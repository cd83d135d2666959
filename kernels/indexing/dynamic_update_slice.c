/* DynamicUpdateSlice: x with a box overwritten; the start indices of the box are inputs and are clamped to keep it
 * inside of x. */
#include <string.h>

#include "movement.h"

typedef struct {
  int64_t bytes, rows, row_bytes; /* rows of the update, along its last dimension */
  int64_t dims[MSLITE_MAX_RANK], box[MSLITE_MAX_RANK];
  int32_t rank, size, start_type;
} update_derived;

static int32_t update_support(const mslite_node *node) {
  if (node->input_count != 3 || !mslite_copies_elements(node) || node->inputs[1]->type != node->inputs[0]->type)
    return 0;
  if (!mslite_same_quant(node->inputs[0], node->inputs[1])) return 0;
  return node->inputs[2]->type == MSLITE_INT32 || node->inputs[2]->type == MSLITE_INT64;
}

static mslite_status update_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0], *update = node->inputs[1];
  update_derived *numbers = derived;
  numbers->rank = x->rank;
  numbers->size = mslite_type_size(x->type);
  numbers->bytes = mslite_element_count(x) * numbers->size;
  numbers->start_type = node->inputs[2]->type;
  numbers->rows = 1;
  if (update->rank != x->rank || mslite_element_count(node->inputs[2]) != x->rank) return MSLITE_ERROR_SHAPE;
  for (int32_t i = 0; i < x->rank; ++i) {
    if (update->dims[i] > x->dims[i]) return MSLITE_ERROR_SHAPE;
    numbers->dims[i] = x->dims[i];
    numbers->box[i] = update->dims[i];
    if (i < x->rank - 1) numbers->rows *= update->dims[i];
  }
  numbers->row_bytes = (x->rank == 0 ? 1 : update->dims[x->rank - 1]) * numbers->size;
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

static void update_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const update_derived *numbers = run->derived;
  int64_t begin[MSLITE_MAX_RANK] = {0}, index[MSLITE_MAX_RANK] = {0};
  const int32_t last = numbers->rank - 1;
  for (int32_t i = 0; i < numbers->rank; ++i) {
    const int64_t start = mslite_integer_at(run->inputs[2], numbers->start_type, i);
    const int64_t limit = numbers->dims[i] - numbers->box[i];
    begin[i] = start < 0 ? 0 : start > limit ? limit : start;
  }
  if (run->outputs[0] != run->inputs[0] && numbers->bytes > 0)
    memcpy(run->outputs[0], run->inputs[0], (size_t)numbers->bytes);
  const char *from = run->inputs[1];
  for (int64_t row = 0; row < numbers->rows && numbers->row_bytes > 0; ++row) {
    int64_t at = 0;
    for (int32_t i = 0; i < numbers->rank; ++i) at = at * numbers->dims[i] + begin[i] + (i == last ? 0 : index[i]);
    memcpy((char *)run->outputs[0] + at * numbers->size, from + row * numbers->row_bytes, (size_t)numbers->row_bytes);
    for (int32_t i = last - 1; i >= 0 && ++index[i] == numbers->box[i]; --i) index[i] = 0;
  }
}

static int32_t update_in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

MSLITE_MOVEMENT_KERNEL(dynamic_update_slice, DynamicUpdateSlice, update_derived, update_support, update_prepare,
                       update_run, update_in_place)
