/* Gradients of pooling: of an average every tap gets its share, of a maximum the first largest tap gets it all. One
 * part is one image: windows may overlap. */
#include <string.h>

#include "pooling/geometry.h"

typedef struct {
  mslite_pooling geometry;
} pool_grad_derived;

static int32_t support(const mslite_node *node) {
  return node->inputs[0]->type == MSLITE_FLOAT32 && node->inputs[2]->type == MSLITE_FLOAT32;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  mslite_pooling *g = &((pool_grad_derived *)derived)->geometry;
  const mslite_tensor *x = node->inputs[0], *dy = node->inputs[2];
  const mslite_longs none = {0, NULL};
  mslite_longs kernel, strides;
  int32_t pad_mode;
  g->average = node->op == MSLITE_OP_AvgPoolGrad;
  if (g->average) {
    const mslite_AvgPoolGrad *attributes = node->params;
    kernel = attributes->kernel_size;
    strides = attributes->strides;
    pad_mode = attributes->pad_mode;
  } else {
    const mslite_MaxPoolGrad *attributes = node->params;
    kernel = attributes->kernel_size;
    strides = attributes->strides;
    pad_mode = attributes->pad_mode;
  }
  if (x->rank != 4 || dy->rank != 4) return MSLITE_ERROR_SHAPE;
  g->batch = x->dims[0];
  g->channels = x->dims[3];
  g->activation = MSLITE_ACTIVATION_TYPE_NO_ACTIVATION;
  g->count_include_pad = false;
  for (int32_t i = 0; i < 2; ++i) {
    mslite_axis *axis = i == 0 ? &g->height : &g->width;
    mslite_status status = mslite_read_axis(i, kernel, strides, none, none, axis);
    if (status != MSLITE_OK) return status;
    axis->input = x->dims[1 + i];
    status = mslite_resolve_axis(axis, pad_mode, false);
    if (status != MSLITE_OK) return status;
    if (axis->output != dy->dims[1 + i]) return MSLITE_ERROR_SHAPE;
  }
  if (dy->dims[0] != g->batch || dy->dims[3] != g->channels || g->batch > INT32_MAX) return MSLITE_ERROR_SHAPE;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)g->batch;
  return MSLITE_OK;
}

/* The taps of a window that lie inside of the image: rows and columns [first, end). */
typedef struct {
  int64_t first_row, end_row, first_column, end_column;
} window;

static window window_at(const mslite_pooling *g, int64_t oy, int64_t ox) {
  int64_t top, bottom, left, right;
  mslite_window_taps(&g->height, oy, &top, &bottom);
  mslite_window_taps(&g->width, ox, &left, &right);
  const int64_t y = oy * g->height.stride - g->height.pad_before, x = ox * g->width.stride - g->width.pad_before;
  const window found = {y + top, y + bottom, x + left, x + right};
  return found;
}

static void spread_average(const mslite_pooling *g, window w, const float *dy, float *dx) {
  const int64_t taps = (w.end_row - w.first_row) * (w.end_column - w.first_column);
  const float share = taps > 0 ? 1.0f / (float)taps : 0.0f;
  for (int64_t y = w.first_row; y < w.end_row; ++y) {
    for (int64_t x = w.first_column; x < w.end_column; ++x) {
      float *target = dx + (y * g->width.input + x) * g->channels;
      for (int64_t c = 0; c < g->channels; ++c) target[c] += dy[c] * share;
    }
  }
}

static void spread_maximum(const mslite_pooling *g, window w, const float *values, const float *dy, float *dx) {
  for (int64_t c = 0; c < g->channels; ++c) {
    int64_t best = -1;
    for (int64_t y = w.first_row; y < w.end_row; ++y) {
      for (int64_t x = w.first_column; x < w.end_column; ++x) {
        const int64_t at = (y * g->width.input + x) * g->channels + c;
        if (best < 0 || values[at] > values[best]) best = at;
      }
    }
    if (best >= 0) dx[best] += dy[c];
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const mslite_pooling *g = &((const pool_grad_derived *)run->derived)->geometry;
  const int64_t size = g->height.input * g->width.input * g->channels;
  const float *x = (const float *)run->inputs[0] + part * size;
  const float *dy = (const float *)run->inputs[2] + part * g->height.output * g->width.output * g->channels;
  float *dx = (float *)run->outputs[0] + part * size;
  memset(dx, 0, (size_t)size * sizeof(float));
  for (int64_t oy = 0; oy < g->height.output; ++oy) {
    for (int64_t ox = 0; ox < g->width.output; ++ox, dy += g->channels) {
      if (g->average) {
        spread_average(g, window_at(g, oy, ox), dy, dx);
      } else {
        spread_maximum(g, window_at(g, oy, ox), x, dy, dx);
      }
    }
  }
}

#define POOL_GRAD(name_, operator)               \
  const mslite_kernel mslite_kernel_##name_ = {  \
      .name = #name_ "_scalar",                  \
      .op = MSLITE_OP_##operator,                \
      .isa = MSLITE_ISA_SCALAR,                  \
      .derived_size = sizeof(pool_grad_derived), \
      .support = support,                        \
      .prepare = prepare,                        \
      .run = run_part,                           \
  };

POOL_GRAD(average_pool_grad, AvgPoolGrad)
POOL_GRAD(maximum_pool_grad, MaxPoolGrad)
