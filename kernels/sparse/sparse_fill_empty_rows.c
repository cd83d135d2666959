/* SparseFillEmptyRows: adds the default value in column 0 to every row of a sparse tensor without elements. The rows
 * of the elements must not decrease. */
#include <string.h>

#include "sparse/sparse.h"

typedef struct {
  int64_t count, rows; /* rows: -1 while the output is counted */
  int32_t rank, size, type, shape_type;
} fill_derived;

static int32_t support(const mslite_node *node) {
  return node->input_count == 4 && node->output_count == 4 && mslite_is_index_type(node->inputs[0]->type) &&
         mslite_is_index_type(node->inputs[2]->type) && mslite_type_size(node->inputs[1]->type) > 0 &&
         node->inputs[1]->type == node->inputs[3]->type;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *indices = node->inputs[0];
  fill_derived *numbers = derived;
  numbers->count = indices->dims[0];
  numbers->rank = (int32_t)indices->dims[1];
  numbers->rows = node->outputs[2]->dims[0] < 0 ? -1 : node->outputs[2]->dims[0];
  numbers->size = mslite_type_size(node->inputs[1]->type);
  numbers->type = indices->type;
  numbers->shape_type = node->inputs[2]->type;
  if (indices->dims[1] < 1 || indices->dims[1] > MSLITE_MAX_RANK ||
      mslite_element_count(node->inputs[2]) != indices->dims[1] ||
      mslite_element_count(node->inputs[1]) != numbers->count || mslite_element_count(node->inputs[3]) != 1) {
    return MSLITE_ERROR_SHAPE;
  }
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

static int64_t row_of(const fill_derived *numbers, const mslite_run *run, int64_t i) {
  return mslite_index_at(run->inputs[0], numbers->type, i * numbers->rank);
}

static mslite_status count_rows(const mslite_run *run, int64_t dims[][MSLITE_MAX_RANK]) {
  const fill_derived *numbers = run->derived;
  const int64_t rows = mslite_index_at(run->inputs[2], numbers->shape_type, 0);
  if (rows < 0) return MSLITE_ERROR_VALUE;
  int64_t used = 0, last = -1;
  for (int64_t i = 0; i < numbers->count; ++i) {
    const int64_t row = row_of(numbers, run, i);
    if (row < last || row < 0 || row >= rows) return MSLITE_ERROR_VALUE;
    used += row != last;
    last = row;
  }
  dims[0][0] = dims[1][0] = numbers->count + rows - used;
  dims[0][1] = numbers->rank;
  dims[2][0] = rows;
  dims[3][0] = numbers->count;
  return MSLITE_OK;
}

static void put(const fill_derived *numbers, const mslite_run *run, int64_t at, int64_t row, int64_t from) {
  for (int32_t i = 0; i < numbers->rank; ++i) {
    const int64_t index = i == 0     ? row
                          : from < 0 ? 0
                                     : mslite_index_at(run->inputs[0], numbers->type, from * numbers->rank + i);
    mslite_store_index(run->outputs[0], numbers->type, at * numbers->rank + i, index);
  }
  const char *value = from < 0 ? run->inputs[3] : (const char *)run->inputs[1] + from * numbers->size;
  memcpy((char *)run->outputs[1] + at * numbers->size, value, (size_t)numbers->size);
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const fill_derived *numbers = run->derived;
  uint8_t *is_empty = run->outputs[2];
  int64_t at = 0, i = 0;
  for (int64_t row = 0; row < numbers->rows; ++row) {
    is_empty[row] = i >= numbers->count || row_of(numbers, run, i) != row;
    if (is_empty[row]) put(numbers, run, at++, row, -1);
    for (; i < numbers->count && row_of(numbers, run, i) == row; ++i) {
      mslite_store_index(run->outputs[3], numbers->type, i, at);
      put(numbers, run, at++, row, i);
    }
  }
}

const mslite_kernel mslite_kernel_sparse_fill_empty_rows = {
    .name = "sparse_fill_empty_rows_scalar",
    .op = MSLITE_OP_SparseFillEmptyRows,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(fill_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
    .count = count_rows,
};
