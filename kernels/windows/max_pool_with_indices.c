/* MaxPoolWithIndices: the index of a maximum counts from the beginning of the whole tensor. A part is some planes. */
#include <math.h>
#include <string.h>

#include "windows/window_lists.h"

enum { PART_ELEMENTS = 16384, SPATIAL = 3 };

typedef struct {
  mslite_window_lists window; /* always three dimensions; leading ones are 1 */
  int64_t kernel[SPATIAL];
  int64_t in[SPATIAL], out[SPATIAL];
  int64_t index_step[SPATIAL]; /* what one step along a dimension adds to an
                                  index */
  int64_t planes, in_plane, out_plane, planes_per_part;
  int32_t type;
  bool has_indices;
} pool_derived;

static int32_t pool_support(const mslite_node *node) {
  const mslite_tensor *x = node->inputs[0];
  const bool type = x->type == MSLITE_FLOAT32 || x->type == MSLITE_INT8 || x->type == MSLITE_UINT8;
  return type && x->rank >= 3 && x->rank <= 2 + SPATIAL;
}

static mslite_status pool_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_MaxPoolWithIndices *attributes = node->params;
  const mslite_tensor *x = node->inputs[0];
  const mslite_tensor *y = node->outputs[0];
  pool_derived *n = derived;
  memset(n, 0, sizeof *n);
  const int32_t rank = x->rank - 2;
  mslite_window_lists lists;
  if (!mslite_read_lists(rank, &attributes->strides, &attributes->dilations, &attributes->pads, &lists) ||
      attributes->kernel_size.count != rank) {
    return MSLITE_ERROR_ATTRIBUTE;
  }
  n->type = x->type;
  n->has_indices = node->output_count > 1;
  n->window.rank = SPATIAL;
  n->in_plane = n->out_plane = 1;
  int64_t row_step = 1;
  for (int32_t i = SPATIAL - 1; i >= 0; --i) {
    const int32_t from = i - (SPATIAL - rank);
    n->kernel[i] = from < 0 ? 1 : attributes->kernel_size.at[from];
    n->window.stride[i] = from < 0 ? 1 : lists.stride[from];
    n->window.dilation[i] = from < 0 ? 1 : lists.dilation[from];
    n->window.begin[i] = from < 0 ? 0 : lists.begin[from];
    n->in[i] = from < 0 ? 1 : x->dims[2 + from];
    n->out[i] = from < 0 ? 1 : y->dims[2 + from];
    n->index_step[i] = row_step;
    row_step *= n->in[i];
    n->in_plane *= n->in[i];
    n->out_plane *= n->out[i];
  }
  if (attributes->column_major) {
    int64_t step = 1;
    for (int32_t i = SPATIAL - rank; i < SPATIAL; ++i) {
      n->index_step[i] = step;
      step *= n->in[i];
    }
  }
  n->planes = x->dims[0] * x->dims[1];
  n->planes_per_part = n->out_plane < PART_ELEMENTS ? PART_ELEMENTS / (n->out_plane + 1) + 1 : 1;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((n->planes + n->planes_per_part - 1) / n->planes_per_part);
  return MSLITE_OK;
}

static float element(const pool_derived *n, const void *x, int64_t at) {
  if (n->type == MSLITE_FLOAT32) return ((const float *)x)[at];
  return n->type == MSLITE_INT8 ? (float)((const int8_t *)x)[at] : (float)((const uint8_t *)x)[at];
}

static void store(const pool_derived *n, void *y, int64_t at, float value) {
  if (n->type == MSLITE_FLOAT32) {
    ((float *)y)[at] = value;
  } else if (n->type == MSLITE_INT8) {
    ((int8_t *)y)[at] = (int8_t)value;
  } else {
    ((uint8_t *)y)[at] = (uint8_t)value;
  }
}

/* Returns the first largest element of a window, with NaN above all; -1 if the window is empty. */
static float window_maximum(const pool_derived *n, const void *x, int64_t plane, const int64_t *place, int64_t *index) {
  float best = -INFINITY;
  int64_t at[SPATIAL];
  *index = -1;
  for (int64_t i = 0; i < n->kernel[0]; ++i) {
    at[0] = place[0] * n->window.stride[0] - n->window.begin[0] + i * n->window.dilation[0];
    if (at[0] < 0 || at[0] >= n->in[0]) continue;
    for (int64_t j = 0; j < n->kernel[1]; ++j) {
      at[1] = place[1] * n->window.stride[1] - n->window.begin[1] + j * n->window.dilation[1];
      if (at[1] < 0 || at[1] >= n->in[1]) continue;
      for (int64_t k = 0; k < n->kernel[2]; ++k) {
        at[2] = place[2] * n->window.stride[2] - n->window.begin[2] + k * n->window.dilation[2];
        if (at[2] < 0 || at[2] >= n->in[2]) continue;
        const int64_t flat = (at[0] * n->in[1] + at[1]) * n->in[2] + at[2];
        const float value = element(n, x, plane * n->in_plane + flat);
        if (*index >= 0 && !(value > best) && !(value != value && best == best)) continue;
        best = value;
        *index = plane * n->in_plane;
        for (int32_t d = 0; d < SPATIAL; ++d) *index += at[d] * n->index_step[d];
      }
    }
  }
  return best;
}

static void pool_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const pool_derived *n = run->derived;
  int64_t *indices = n->has_indices ? run->outputs[1] : NULL;
  const int64_t begin = part * n->planes_per_part;
  const int64_t end = begin + n->planes_per_part < n->planes ? begin + n->planes_per_part : n->planes;
  for (int64_t plane = begin; plane < end; ++plane) {
    for (int64_t at = 0; at < n->out_plane; ++at) {
      const int64_t rest = at / n->out[2];
      const int64_t place[SPATIAL] = {rest / n->out[1], rest % n->out[1], at % n->out[2]};
      int64_t index;
      const float best = window_maximum(n, run->inputs[0], plane, place, &index);
      store(n, run->outputs[0], plane * n->out_plane + at, best);
      if (indices != NULL) indices[plane * n->out_plane + at] = index;
    }
  }
}

const mslite_kernel mslite_kernel_max_pool_with_indices = {
    .name = "max_pool_with_indices_scalar",
    .op = MSLITE_OP_MaxPoolWithIndices,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(pool_derived),
    .support = pool_support,
    .prepare = pool_prepare,
    .run = pool_run,
};
