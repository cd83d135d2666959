/* Transpose and FormatTranspose of elements of any type. */
#include "known_values.h"
#include "movement.h"

static mslite_status permute(const mslite_node *node, const int32_t *perm, mslite_copy *copy,
                             mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0];
  const mslite_tensor *y = node->outputs[0];
  int64_t from[MSLITE_MAX_RANK];
  int64_t to[MSLITE_MAX_RANK];
  mslite_row_major(x->dims, x->rank, from);
  mslite_row_major(y->dims, y->rank, to);
  mslite_copy_begin(copy, mslite_type_size(x->type));
  for (int32_t i = 0; i < y->rank; ++i) mslite_copy_dimension(copy, y->dims[i], from[perm[i]], to[i]);
  return mslite_schedule_copy(copy, schedule);
}

static int32_t transpose_support(const mslite_node *node) {
  int64_t perm[MSLITE_MAX_RANK];
  int32_t count;
  return mslite_copies_elements(node) &&
         (node->input_count < 2 || mslite_read_known_entries(node->inputs[1], perm, MSLITE_MAX_RANK, &count));
}

static mslite_status transpose_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const int32_t rank = node->inputs[0]->rank;
  int64_t entries[MSLITE_MAX_RANK];
  int32_t perm[MSLITE_MAX_RANK];
  int32_t count = rank;
  for (int32_t i = 0; i < rank; ++i) entries[i] = rank - 1 - i;
  if (node->input_count > 1 && !mslite_read_known_entries(node->inputs[1], entries, MSLITE_MAX_RANK, &count)) {
    return MSLITE_ERROR_UNSUPPORTED;
  }
  if (count != rank || node->outputs[0]->rank != rank) return MSLITE_ERROR_SHAPE;
  for (int32_t i = 0; i < rank; ++i) {
    perm[i] = mslite_normalize_axis(entries[i], rank);
    if (perm[i] < 0 || node->outputs[0]->dims[i] != node->inputs[0]->dims[perm[i]]) return MSLITE_ERROR_SHAPE;
  }
  return permute(node, perm, derived, schedule);
}

/* If only dimensions of size 1 move, the order of the elements does not change. */
static int32_t transpose_in_place(const mslite_node *node) {
  const mslite_tensor *x = node->inputs[0];
  int64_t entries[MSLITE_MAX_RANK];
  int32_t count, last = -1;
  if (node->input_count < 2 || !mslite_read_known_entries(node->inputs[1], entries, MSLITE_MAX_RANK, &count)) return -1;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t axis = mslite_normalize_axis(entries[i], x->rank);
    if (axis < 0) return -1;
    if (x->dims[axis] == 1) continue;
    if (axis < last) return -1;
    last = axis;
  }
  return 0;
}

static void transpose_run(const mslite_run *run, int32_t phase, int32_t part) {
  if (run->inputs[0] != run->outputs[0]) mslite_run_copy(run, phase, part);
}

static mslite_status format_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_FormatTranspose *attributes = node->params;
  const int32_t rank = node->inputs[0]->rank;
  int32_t perm[MSLITE_MAX_RANK];
  for (int32_t i = 0; i < rank; ++i) perm[i] = i;
  if (rank > 2 && attributes->src_format != attributes->dst_format) {
    const bool to_last = attributes->dst_format == MSLITE_FORMAT_NHWC;
    for (int32_t i = 1; i < rank; ++i) perm[i] = to_last ? (i == rank - 1 ? 1 : i + 1) : (i == 1 ? rank - 1 : i - 1);
  }
  return permute(node, perm, derived, schedule);
}

MSLITE_MOVEMENT_KERNEL(transpose, Transpose, mslite_copy, transpose_support, transpose_prepare, transpose_run,
                       transpose_in_place)
MSLITE_MOVEMENT_KERNEL(format_transpose, FormatTranspose, mslite_copy, mslite_copies_elements, format_prepare,
                       mslite_run_copy, NULL)
