/* TileFusion and BroadcastTo. */
#include "movement.h"

static mslite_status tile_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0];
  const mslite_tensor *y = node->outputs[0];
  mslite_copy *copy = derived;
  int64_t from[MSLITE_MAX_RANK];
  int64_t to[MSLITE_MAX_RANK];
  if (x->rank != y->rank) return MSLITE_ERROR_SHAPE;
  mslite_row_major(x->dims, x->rank, from);
  mslite_row_major(y->dims, y->rank, to);
  mslite_copy_begin(copy, mslite_type_size(x->type));
  for (int32_t i = 0; i < x->rank; ++i) {
    if (x->dims[i] > 0 && y->dims[i] % x->dims[i] != 0) return MSLITE_ERROR_SHAPE;
    mslite_copy_dimension(copy, x->dims[i] > 0 ? y->dims[i] / x->dims[i] : 0, 0, to[i] * x->dims[i]);
    mslite_copy_dimension(copy, x->dims[i], from[i], to[i]);
  }
  return mslite_schedule_copy(copy, schedule);
}

static mslite_status broadcast_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0];
  const mslite_tensor *y = node->outputs[0];
  mslite_copy *copy = derived;
  int64_t from[MSLITE_MAX_RANK];
  int64_t to[MSLITE_MAX_RANK];
  if (x->rank > y->rank) return MSLITE_ERROR_SHAPE;
  mslite_row_major(x->dims, x->rank, from);
  mslite_row_major(y->dims, y->rank, to);
  mslite_copy_begin(copy, mslite_type_size(x->type));
  for (int32_t i = 0; i < y->rank; ++i) {
    const int32_t source = i - (y->rank - x->rank);
    const bool repeated = source < 0 || (x->dims[source] == 1 && y->dims[i] != 1);
    if (!repeated && x->dims[source] != y->dims[i]) return MSLITE_ERROR_SHAPE;
    mslite_copy_dimension(copy, y->dims[i], repeated ? 0 : from[source], to[i]);
  }
  return mslite_schedule_copy(copy, schedule);
}

MSLITE_MOVEMENT_KERNEL(tile, TileFusion, mslite_copy, mslite_copies_elements, tile_prepare, mslite_run_copy, NULL)
MSLITE_MOVEMENT_KERNEL(broadcast_to, BroadcastTo, mslite_copy, mslite_copies_elements, broadcast_prepare,
                       mslite_run_copy, NULL)
