/* Gradients of pooling: for an average, every tap gets its share; for a maximum, the first largest tap gets
 * everything. One part is one image, because windows may overlap. */
#include <string.h>

#include "pooling/geometry.h"
#include "simd/simd.h"

typedef struct {
  mslite_pooling geometry;
} pool_grad_derived;

static int32_t pool_grad_support(const mslite_node *node) {
  return node->inputs[0]->type == MSLITE_FLOAT32 && node->inputs[2]->type == MSLITE_FLOAT32;
}

static mslite_status pool_grad_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
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

/* The taps of a window that are inside of the image, beginning with `first`, and its gradient. Steps are in
 * elements. */
typedef struct {
  int64_t first, rows, columns;
  int64_t row_step, column_step;
  float share;   /* of each tap in an average */
  bool overlaps; /* other windows share some of its taps */
} window;

/* Stores or adds a tap's share. A tap of a single window is not read first: reading part of a vector that was just
 * stored is slow. */
SIMD_INLINE void give(const window *w, float *p, simd_f32 v, int32_t lanes) {
  simd_store_lanes_f32(p, w->overlaps ? simd_load_lanes_f32(p, lanes) + v : v, lanes);
}

/* Computes `lanes` adjacent channels, beginning at x, dy and dx. */
SIMD_INLINE void spread_average(const window *w, const float *dy, float *dx, int32_t lanes) {
  const simd_f32 share = simd_load_lanes_f32(dy, lanes) * simd_set(w->share);
  for (int64_t i = 0; i < w->rows; ++i) {
    float *p = dx + w->first + i * w->row_step;
    for (int64_t j = 0; j < w->columns; ++j, p += w->column_step) give(w, p, share, lanes);
  }
}

SIMD_INLINE void spread_maximum(const window *w, const float *x, const float *dy, float *dx, int32_t lanes) {
  simd_f32 largest = simd_load_lanes_f32(x + w->first, lanes);
  simd_i32 largest_tap = simd_set_i32(0);
  int32_t tap = 0;
  for (int64_t i = 0; i < w->rows; ++i) {
    const float *p = x + w->first + i * w->row_step;
    for (int64_t j = 0; j < w->columns; ++j, ++tap, p += w->column_step) {
      const simd_f32 value = simd_load_lanes_f32(p, lanes);
      const simd_i32 larger = simd_less(largest, value);
      largest = simd_select(larger, value, largest);
      largest_tap = (simd_set_i32(tap) & larger) | (largest_tap & ~larger);
    }
  }
  const simd_f32 gradient = simd_load_lanes_f32(dy, lanes);
  tap = 0;
  for (int64_t i = 0; i < w->rows; ++i) {
    float *p = dx + w->first + i * w->row_step;
    for (int64_t j = 0; j < w->columns; ++j, ++tap, p += w->column_step) {
      const simd_i32 here = simd_equal_i32(largest_tap, simd_set_i32(tap));
      give(w, p, simd_select(here, gradient, simd_set(0.0f)), lanes);
    }
  }
}

SIMD_INLINE void spread(const mslite_pooling *g, const window *w, const float *x, const float *dy, float *dx,
                        const bool average) {
  for (int64_t c = 0; c < g->channels; c += SIMD_WIDTH) {
    const int32_t lanes = g->channels - c < SIMD_WIDTH ? (int32_t)(g->channels - c) : SIMD_WIDTH;
    if (average) {
      spread_average(w, dy + c, dx + c, lanes);
    } else {
      spread_maximum(w, x + c, dy + c, dx + c, lanes);
    }
  }
}

SIMD_INLINE void image_gradient(const mslite_pooling *g, const float *x, const float *dy, float *dx,
                                const bool average) {
  window w = {
      .row_step = g->width.input * g->channels,
      .column_step = g->channels,
      .overlaps = g->height.stride < g->height.kernel || g->width.stride < g->width.kernel,
  };
  for (int64_t oy = 0; oy < g->height.output; ++oy) {
    int64_t top, bottom, left, right;
    mslite_window_taps(&g->height, oy, &top, &bottom);
    w.rows = bottom - top;
    const int64_t first_row = oy * g->height.stride - g->height.pad_before + top;
    for (int64_t ox = 0; ox < g->width.output; ++ox, dy += g->channels) {
      mslite_window_taps(&g->width, ox, &left, &right);
      w.columns = right - left;
      if (w.rows <= 0 || w.columns <= 0) continue;
      const int64_t first_column = ox * g->width.stride - g->width.pad_before + left;
      w.first = first_row * w.row_step + first_column * w.column_step;
      w.share = 1.0f / (float)(w.rows * w.columns);
      spread(g, &w, x, dy, dx, average);
    }
  }
}

static void pool_grad_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const mslite_pooling *g = &((const pool_grad_derived *)run->derived)->geometry;
  const int64_t size = g->height.input * g->width.input * g->channels;
  const float *x = (const float *)run->inputs[0] + part * size;
  const float *dy = (const float *)run->inputs[2] + part * g->height.output * g->width.output * g->channels;
  float *dx = (float *)run->outputs[0] + part * size;
  memset(dx, 0, (size_t)size * sizeof(float));
  if (g->average) {
    image_gradient(g, x, dy, dx, true);
  } else {
    image_gradient(g, x, dy, dx, false);
  }
}

#define POOL_GRAD(name_, operator)                               \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##name_) = { \
      .name = MSLITE_ISA_STRING(name_),                          \
      .op = MSLITE_OP_##operator,                                \
      .isa = MSLITE_THIS_ISA,                                    \
      .derived_size = sizeof(pool_grad_derived),                 \
      .support = pool_grad_support,                              \
      .prepare = pool_grad_prepare,                              \
      .run = pool_grad_run,                                      \
  };

POOL_GRAD(average_pool_grad, AvgPoolGrad)
POOL_GRAD(maximum_pool_grad, MaxPoolGrad)
