/* SparseReshape: the coordinates [count, rank] of elements after the tensor is reshaped. */
#include "sparse/sparse.h"

typedef struct {
  int64_t count;
  int32_t old_rank, new_rank, type, old_type, new_type;
} reshape_derived;

static int32_t support(const mslite_node *node) {
  return node->input_count == 3 && mslite_is_index_type(node->inputs[0]->type) &&
         mslite_is_index_type(node->inputs[1]->type) && mslite_is_index_type(node->inputs[2]->type);
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *indices = node->inputs[0];
  reshape_derived *numbers = derived;
  numbers->count = indices->dims[0];
  numbers->old_rank = (int32_t)indices->dims[1];
  numbers->new_rank = (int32_t)mslite_element_count(node->inputs[2]);
  numbers->type = indices->type;
  numbers->old_type = node->inputs[1]->type;
  numbers->new_type = node->inputs[2]->type;
  if (mslite_element_count(node->inputs[1]) != indices->dims[1] || numbers->new_rank > MSLITE_MAX_RANK ||
      indices->dims[1] > MSLITE_MAX_RANK) {
    return MSLITE_ERROR_SHAPE;
  }
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

/* Returns a * b, saturated to INT64_MAX, for positive numbers. */
static int64_t saturated(int64_t a, int64_t b) { return b != 0 && a > INT64_MAX / b ? INT64_MAX : a * b; }

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const reshape_derived *numbers = run->derived;
  int64_t old_dims[MSLITE_MAX_RANK], new_dims[MSLITE_MAX_RANK];
  int64_t total = 1, known = 1;
  int32_t open = -1;
  for (int32_t i = 0; i < numbers->old_rank; ++i) {
    const int64_t dim = mslite_index_at(run->inputs[1], numbers->old_type, i);
    old_dims[i] = dim < 0 ? 0 : dim;
    total = saturated(total, old_dims[i]);
  }
  for (int32_t i = 0; i < numbers->new_rank; ++i) {
    new_dims[i] = mslite_index_at(run->inputs[2], numbers->new_type, i);
    if (new_dims[i] < 0) {
      open = i;
    } else {
      known = saturated(known, new_dims[i]);
    }
  }
  if (open >= 0) new_dims[open] = known == 0 ? 0 : total / known;
  for (int64_t k = 0; k < numbers->count; ++k) {
    int64_t flat = 0;
    for (int32_t i = 0; i < numbers->old_rank; ++i) {
      const int64_t index = mslite_index_at(run->inputs[0], numbers->type, k * numbers->old_rank + i);
      flat = (int64_t)((uint64_t)flat * (uint64_t)old_dims[i] + (uint64_t)index);
    }
    for (int32_t i = numbers->new_rank - 1; i >= 0; --i) {
      const int64_t dim = new_dims[i] > 0 ? new_dims[i] : 1;
      mslite_store_index(run->outputs[0], numbers->type, k * numbers->new_rank + i, flat % dim);
      flat /= dim;
    }
  }
  for (int32_t i = 0; i < numbers->new_rank; ++i)
    mslite_store_index(run->outputs[1], numbers->new_type, i, new_dims[i]);
}

const mslite_kernel mslite_kernel_sparse_reshape = {
    .name = "sparse_reshape_scalar",
    .op = MSLITE_OP_SparseReshape,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(reshape_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
};
