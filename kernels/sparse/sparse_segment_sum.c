/* SparseSegmentSum: row s of the result is the sum of the rows data[indices[k]] with segment_ids[k] = s. The ids
 * must not decrease; the last one gives the number of segments. */
#include <string.h>

#include "reduction/add_row.h"
#include "sparse/sparse.h"

typedef struct {
  int64_t count, rows, width, segments;
  int32_t type, size, index_type, id_type;
} segment_derived;

static int32_t support(const mslite_node *node) {
  return node->input_count == 3 && mslite_adds_rows(node->inputs[0]->type) &&
         mslite_is_index_type(node->inputs[1]->type) && mslite_is_index_type(node->inputs[2]->type);
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *data = node->inputs[0];
  segment_derived *numbers = derived;
  numbers->count = mslite_element_count(node->inputs[1]);
  if (data->rank < 1 || mslite_element_count(node->inputs[2]) != numbers->count) return MSLITE_ERROR_SHAPE;
  numbers->rows = data->dims[0];
  numbers->width = 1;
  for (int32_t i = 1; i < data->rank; ++i) numbers->width *= data->dims[i];
  numbers->segments = node->outputs[0]->dims[0];
  numbers->type = data->type;
  numbers->size = mslite_type_size(data->type);
  numbers->index_type = node->inputs[1]->type;
  numbers->id_type = node->inputs[2]->type;
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

static mslite_status count_segments(const mslite_run *run, int64_t dims[][MSLITE_MAX_RANK]) {
  const segment_derived *numbers = run->derived;
  int64_t last = -1;
  for (int64_t i = 0; i < numbers->count; ++i) {
    const int64_t id = mslite_index_at(run->inputs[2], numbers->id_type, i);
    const int64_t index = mslite_index_at(run->inputs[1], numbers->index_type, i);
    if (id < last || id < 0 || id >= (int64_t)1 << 31 || index < 0 || index >= numbers->rows) return MSLITE_ERROR_VALUE;
    last = id;
  }
  dims[0][0] = last + 1;
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const segment_derived *numbers = run->derived;
  const void *x = run->inputs[0];
  void *y = run->outputs[0];
  memset(y, 0, (size_t)(numbers->segments * numbers->width * numbers->size));
  for (int64_t i = 0; i < numbers->count; ++i) {
    const int64_t id = mslite_index_at(run->inputs[2], numbers->id_type, i);
    const int64_t index = mslite_index_at(run->inputs[1], numbers->index_type, i);
    if (id < 0 || id >= numbers->segments || index < 0 || index >= numbers->rows) continue;
    mslite_add_row(numbers->type, numbers->width, x, index, y, id);
  }
}

const mslite_kernel mslite_kernel_sparse_segment_sum = {
    .name = "sparse_segment_sum_scalar",
    .op = MSLITE_OP_SparseSegmentSum,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(segment_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
    .count = count_segments,
};
