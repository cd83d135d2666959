/* Gather and BatchGather: slices along one axis. */
#include <string.h>

#include "known_values.h"
#include "movement.h"

/* params [batch, outer, limit, row], indices [batch, count], output [batch, outer, count, row] */
typedef struct {
  int64_t outer, limit, count, row_bytes;
  int64_t rows, rows_per_part;
  int32_t index_type;
} gather_derived;

static mslite_status prepare_gather(const mslite_node *node, int32_t axis, int32_t batch_dims, gather_derived *numbers,
                                    mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0];
  const mslite_tensor *indices = node->inputs[1];
  int64_t batch = 1;
  for (int32_t i = 0; i < batch_dims; ++i) {
    if (indices->dims[i] != x->dims[i]) return MSLITE_ERROR_SHAPE;
    batch *= x->dims[i];
  }
  numbers->outer = numbers->count = 1;
  numbers->row_bytes = mslite_type_size(x->type);
  numbers->limit = x->dims[axis];
  numbers->index_type = indices->type;
  for (int32_t i = batch_dims; i < axis; ++i) numbers->outer *= x->dims[i];
  for (int32_t i = batch_dims; i < indices->rank; ++i) numbers->count *= indices->dims[i];
  for (int32_t i = axis + 1; i < x->rank; ++i) numbers->row_bytes *= x->dims[i];
  numbers->rows = numbers->row_bytes > 0 ? batch * numbers->outer * numbers->count : 0;
  numbers->rows_per_part = 1;
  if (numbers->row_bytes > 0 && numbers->row_bytes < MSLITE_COPY_PART_BYTES) {
    numbers->rows_per_part = MSLITE_COPY_PART_BYTES / numbers->row_bytes;
  }
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->rows + numbers->rows_per_part - 1) / numbers->rows_per_part);
  return MSLITE_OK;
}

static bool read_axis(const mslite_node *node, int32_t *axis) {
  int64_t wanted = 0;
  int32_t count;
  if (node->input_count > 2 && (!mslite_read_known_entries(node->inputs[2], &wanted, 1, &count) || count != 1))
    return false;
  *axis = mslite_normalize_axis(wanted, node->inputs[0]->rank);
  return *axis >= 0;
}

static mslite_status gather_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  int32_t axis;
  if (!read_axis(node, &axis)) return MSLITE_ERROR_SHAPE;
  return prepare_gather(node, axis, 0, derived, schedule);
}

static mslite_status batch_gather_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_BatchGather *attributes = node->params;
  const int32_t axis = mslite_normalize_axis(attributes->axis, node->inputs[0]->rank);
  if (axis < 0 || attributes->batch_dims < 0 || attributes->batch_dims > axis) return MSLITE_ERROR_ATTRIBUTE;
  return prepare_gather(node, axis, (int32_t)attributes->batch_dims, derived, schedule);
}

static int32_t batch_gather_support(const mslite_node *node) {
  if (!mslite_copies_elements(node) || node->input_count < 2) return 0;
  const int32_t type = node->inputs[1]->type;
  return type == MSLITE_INT32 || type == MSLITE_INT64 || type == MSLITE_UINT8 || type == MSLITE_INT8;
}

static int32_t gather_support(const mslite_node *node) {
  int32_t axis;
  return batch_gather_support(node) && read_axis(node, &axis);
}

static void gather_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const gather_derived *numbers = run->derived;
  const size_t bytes = (size_t)numbers->row_bytes;
  int64_t row = part * numbers->rows_per_part;
  const int64_t end = numbers->rows - row < numbers->rows_per_part ? numbers->rows : row + numbers->rows_per_part;
  for (; row < end; ++row) {
    const int64_t at = row % numbers->count;
    const int64_t slab = row / numbers->count;
    const int64_t batch = slab / numbers->outer;
    int64_t index = mslite_integer_at(run->inputs[1], numbers->index_type, batch * numbers->count + at);
    char *to = (char *)run->outputs[0] + row * numbers->row_bytes;
    if (index < 0) index += numbers->limit;
    if (index < 0 || index >= numbers->limit) {
      memset(to, 0, bytes);
      const int64_t place = batch * numbers->count + at;
      mslite_report_value(run, 1, place, mslite_integer_at(run->inputs[1], numbers->index_type, place), -numbers->limit,
                          numbers->limit);
    } else {
      memcpy(to, (const char *)run->inputs[0] + (slab * numbers->limit + index) * numbers->row_bytes, bytes);
    }
  }
}

MSLITE_MOVEMENT_KERNEL(gather, Gather, gather_derived, gather_support, gather_prepare, gather_run, NULL)
MSLITE_MOVEMENT_KERNEL(batch_gather, BatchGather, gather_derived, batch_gather_support, batch_gather_prepare,
                       gather_run, NULL)
