/* Plans a reduction over any set of axes. */
#include "reduction/reduce_plan.h"

#include <string.h>

static bool mark_axes(const mslite_tensor *axes, int32_t rank, bool to_end, bool *reduced) {
  const int64_t count = axes == NULL ? 0 : mslite_element_count(axes);
  for (int32_t i = 0; i < rank; ++i) reduced[i] = count == 0;
  if (count > 0 && axes->data == NULL) return false;
  for (int64_t k = 0; k < count; ++k) {
    int64_t wanted;
    if (axes->type == MSLITE_INT32 || axes->type == MSLITE_INT)
      wanted = ((const int32_t *)axes->data)[k];
    else if (axes->type == MSLITE_INT64)
      wanted = ((const int64_t *)axes->data)[k];
    else
      return false;
    const int32_t axis = mslite_normalize_axis(wanted, rank);
    if (axis < 0) return rank == 0;
    for (int32_t i = axis; i < (to_end ? rank : axis + 1); ++i) reduced[i] = true;
  }
  return true;
}

bool mslite_plan_reduce(const mslite_tensor *x, const mslite_tensor *axes, bool to_end, mslite_reduce_plan *plan) {
  bool marked[MSLITE_MAX_RANK];
  if (x->rank < 0 || !mark_axes(axes, x->rank, to_end, marked)) return false;
  /* Merged dimensions, in reverse order. */
  int64_t dims[MSLITE_MAX_RANK], strides[MSLITE_MAX_RANK];
  bool reduced[MSLITE_MAX_RANK];
  int32_t rank = 0;
  int64_t stride = 1;
  for (int32_t i = x->rank - 1; i >= 0; --i) {
    const int64_t size = x->dims[i];
    if (size != 1 && rank > 0 && reduced[rank - 1] == marked[i]) {
      dims[rank - 1] *= size;
    } else if (size != 1) {
      dims[rank] = size;
      strides[rank] = stride;
      reduced[rank++] = marked[i];
    }
    stride *= size;
  }
  memset(plan, 0, sizeof *plan);
  plan->outer = plan->inner = plan->reduced = plan->runs = plan->length = plan->length_stride = 1;
  bool has_length = false;
  for (int32_t i = 0; i < rank; ++i) {
    if (reduced[i]) {
      plan->reduced *= dims[i];
      if (!has_length) {
        plan->length = dims[i];
        plan->length_stride = strides[i];
        has_length = true;
      } else {
        plan->runs *= dims[i];
        plan->run_dims[plan->run_rank] = dims[i];
        plan->run_strides[plan->run_rank++] = strides[i];
      }
    } else if (i == 0) {
      plan->inner = dims[i];
    } else {
      plan->outer *= dims[i];
      plan->kept_dims[plan->kept_rank] = dims[i];
      plan->kept_strides[plan->kept_rank++] = strides[i];
    }
  }
  return true;
}

static int64_t offset_of(int32_t rank, const int64_t *dims, const int64_t *strides, int64_t index) {
  int64_t offset = 0;
  for (int32_t i = 0; i < rank; ++i) {
    offset += index % dims[i] * strides[i];
    index /= dims[i];
  }
  return offset;
}

int64_t mslite_reduce_kept_offset(const mslite_reduce_plan *plan, int64_t outer) {
  return offset_of(plan->kept_rank, plan->kept_dims, plan->kept_strides, outer);
}

int64_t mslite_reduce_run_offset(const mslite_reduce_plan *plan, int64_t run) {
  return offset_of(plan->run_rank, plan->run_dims, plan->run_strides, run);
}
