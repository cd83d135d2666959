/* SparseToDense: a tensor filled with one value, with other values at some indices. Indices are [count, rank], or
 * [count] or a scalar for a vector; there is one value per index, or one for all. Indices outside of the result are
 * ignored. */
#include <string.h>

#include "movement.h"
#include "sparse/sparse.h"

typedef struct {
  int64_t count, total, dims[MSLITE_MAX_RANK];
  int32_t rank, size, index_type, one_value;
} dense_derived;

static int32_t support(const mslite_node *node) {
  return node->input_count == 4 && mslite_type_size(node->inputs[2]->type) > 0 &&
         node->inputs[2]->type == node->inputs[3]->type && mslite_is_index_type(node->inputs[0]->type);
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *indices = node->inputs[0], *y = node->outputs[0];
  dense_derived *numbers = derived;
  numbers->rank = y->rank;
  numbers->count = indices->rank == 0 ? 1 : indices->dims[0];
  numbers->total = mslite_element_count(y);
  memcpy(numbers->dims, y->dims, sizeof numbers->dims);
  numbers->size = mslite_type_size(node->inputs[2]->type);
  numbers->index_type = indices->type;
  const int64_t values = mslite_element_count(node->inputs[2]);
  numbers->one_value = values == 1;
  const int64_t entries = indices->rank < 2 ? 1 : indices->dims[1];
  if (indices->rank > 2 || entries != y->rank || (values != 1 && values != numbers->count)) return MSLITE_ERROR_SHAPE;
  if (mslite_element_count(node->inputs[3]) != 1) return MSLITE_ERROR_SHAPE;
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const dense_derived *numbers = run->derived;
  const int32_t size = numbers->size;
  const char *values = run->inputs[2];
  char *y = run->outputs[0];
  for (int64_t i = 0; i < numbers->total; ++i) memcpy(y + i * size, run->inputs[3], (size_t)size);
  for (int64_t i = 0; i < numbers->count; ++i) {
    int64_t at = 0;
    for (int32_t axis = 0; axis < numbers->rank && at >= 0; ++axis) {
      const int64_t index = mslite_index_at(run->inputs[0], numbers->index_type, i * numbers->rank + axis);
      at = index < 0 || index >= numbers->dims[axis] ? -1 : at * numbers->dims[axis] + index;
    }
    if (at >= 0) memcpy(y + at * size, values + (numbers->one_value ? 0 : i * size), (size_t)size);
  }
}

const mslite_kernel mslite_kernel_sparse_to_dense = {
    .name = "sparse_to_dense_scalar",
    .op = MSLITE_OP_SparseToDense,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(dense_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
};
