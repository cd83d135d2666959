/* float32 pooling in NHWC, vectorized over channels. */
#include "matmul/fused.h"
#include "pooling/geometry.h"
#include "simd/real.h"

enum { POOL_VECTORS = 4 }; /* at a time */

static int32_t pool_support(const mslite_node *node) {
  mslite_pooling geometry;
  return node->inputs[0]->type == SIMD_REAL_TYPE && node->output_count == 1 &&
         mslite_pooling_resolve(node->op, node->params, node->inputs[0], &geometry, NULL) == MSLITE_OK &&
         activation_is_fusable(geometry.activation);
}

/* One part is one output row. */
static mslite_status pool_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  mslite_pooling *geometry = derived;
  const mslite_status status = mslite_pooling_resolve(node->op, node->params, node->inputs[0], geometry, NULL);
  if (status != MSLITE_OK) return status;
  const int64_t rows = geometry->batch * geometry->height.output;
  if (rows > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)rows;
  return MSLITE_OK;
}

/* The taps of one window: `first` is the first tap inside of the input, steps are in elements. */
typedef struct {
  const simd_real *first;
  int64_t rows, columns;
  int64_t row_step, column_step;
  float divisor;
  float low, high; /* the result is clamped to this range */
} window;

/* Computes the average of `vectors` vectors of channels of one output pixel, or of the first `lanes` of a single
 * one. Sums are in float32. */
SIMD_INLINE void average_lanes(const window *w, int64_t channel, const int32_t vectors, int32_t lanes, simd_real *y) {
  simd_f32 sum[POOL_VECTORS];
  SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) sum[v] = simd_set(0.0f);
  const simd_real *row = w->first + channel;
  const int64_t column_step = w->column_step;
  for (int64_t i = w->rows; i > 0; --i, row += w->row_step) {
    const simd_real *p = row;
    for (int64_t j = w->columns; j > 0; --j, p += column_step) {
      simd_f32 x[POOL_VECTORS];
      SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) x[v] = simd_load_lanes(p + v * SIMD_WIDTH, lanes);
      SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) sum[v] += x[v];
    }
  }
  const simd_f32 divisor = simd_set(w->divisor), low = simd_set(w->low), high = simd_set(w->high);
  SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
    simd_store_lanes(y + channel + v * SIMD_WIDTH, simd_min(simd_max(sum[v] / divisor, low), high), lanes);
  }
}

/* Computes the maximum; as many values at a time as an instruction compares. */
SIMD_INLINE void maximum_lanes(const window *w, int64_t channel, const int32_t vectors, int32_t lanes, simd_real *y) {
  real_vector result[POOL_VECTORS];
  SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) result[v] = real_set(-INFINITY);
  const simd_real *row = w->first + channel;
  const int64_t column_step = w->column_step;
  for (int64_t i = w->rows; i > 0; --i, row += w->row_step) {
    const simd_real *p = row;
    for (int64_t j = w->columns; j > 0; --j, p += column_step) {
      real_vector x[POOL_VECTORS];
      SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) x[v] = real_load_lanes(p + v * REAL_LANES, lanes);
      SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) result[v] = real_max(x[v], result[v]);
    }
  }
  const real_vector low = real_set(w->low), high = real_set(w->high);
  SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
    real_store_lanes(y + channel + v * REAL_LANES, real_min(real_max(result[v], low), high), lanes);
  }
}

/* Computes all channels of a pixel. */
#define POOL_PIXEL(function, width)                                            \
  {                                                                            \
    int64_t c = 0;                                                             \
    for (; c + POOL_VECTORS * width <= g->channels; c += POOL_VECTORS * width) \
      function(&w, c, POOL_VECTORS, width, y);                                 \
    for (; c + width <= g->channels; c += width) function(&w, c, 1, width, y); \
    if (c < g->channels) function(&w, c, 1, (int32_t)(g->channels - c), y);    \
  }

SIMD_INLINE void pool_row(const mslite_pooling *g, const simd_real *x, simd_real *y, int64_t oy, bool average) {
  window w = {.low = fused_low(g->activation), .high = fused_high(g->activation)};
  int64_t top, bottom, left, right;
  mslite_window_taps(&g->height, oy, &top, &bottom);
  const int64_t iy = oy * g->height.stride - g->height.pad_before + top * g->height.dilation;
  const int64_t divisor_h = mslite_pooling_divisor(&g->height, oy, g->count_include_pad);
  w.rows = bottom - top;
  w.row_step = g->height.dilation * g->width.input * g->channels;
  w.column_step = g->width.dilation * g->channels;
  for (int64_t ox = 0; ox < g->width.output; ++ox, y += g->channels) {
    mslite_window_taps(&g->width, ox, &left, &right);
    const int64_t ix = ox * g->width.stride - g->width.pad_before + left * g->width.dilation;
    w.columns = right - left;
    if (w.columns == 0) w.rows = 0;
    w.first = w.rows == 0 ? x : x + (iy * g->width.input + ix) * g->channels;
    w.divisor = (float)(divisor_h * mslite_pooling_divisor(&g->width, ox, g->count_include_pad));
    if (average)
      POOL_PIXEL(average_lanes, SIMD_WIDTH)
    else
      POOL_PIXEL(maximum_lanes, REAL_LANES)
    w.rows = bottom - top;
  }
}

static void pool_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const mslite_pooling *g = run->derived;
  const int64_t image = part / g->height.output, oy = part % g->height.output;
  const simd_real *x = (const simd_real *)run->inputs[0] + image * g->height.input * g->width.input * g->channels;
  simd_real *y = (simd_real *)run->outputs[0] + (int64_t)part * g->width.output * g->channels;
  if (g->average) {
    pool_row(g, x, y, oy, true);
  } else {
    pool_row(g, x, y, oy, false);
  }
  fused_rows(g->activation, y, g->channels, g->width.output, g->channels);
}

#define POOL(function, operator)                                    \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function) = { \
      .name = MSLITE_ISA_STRING(function),                          \
      .op = MSLITE_OP_##operator,                                   \
      .isa = MSLITE_THIS_ISA,                                       \
      .derived_size = sizeof(mslite_pooling),                       \
      .support = pool_support,                                      \
      .prepare = pool_prepare,                                      \
      .run = pool_run,                                              \
  };

POOL(average_pool_f32, AvgPoolFusion)
POOL(maximum_pool_f32, MaxPoolFusion)
POOL(average_pool_extended_f32, AvgPoolExtended)
POOL(maximum_pool_extended_f32, MaxPoolExtended)
