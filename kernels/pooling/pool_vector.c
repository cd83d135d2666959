/* float32 pooling on NHWC, vectorised over channels. */
#include "matmul/fused.h"
#include "pooling/geometry.h"

enum { POOL_VECTORS = 4 }; /* at once */

static int32_t pool_support(const mslite_node *node) {
  mslite_pooling geometry;
  return node->inputs[0]->type == MSLITE_FLOAT32 && node->output_count == 1 &&
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

/* Where the taps of one window lie: `first` is the first tap inside the input, steps are in elements. */
typedef struct {
  const float *first;
  int64_t rows, columns;
  int64_t row_step, column_step;
  float divisor;
  float low, high; /* the result is clamped to these */
} window;

/* `vectors` vectors of channels of one output pixel, of a single one the first `lanes`. */
SIMD_INLINE void pool_lanes(const window *w, int64_t channel, bool average, const int32_t vectors, int32_t lanes,
                            float *y) {
  simd_f32 result[POOL_VECTORS];
  SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) result[v] = simd_set(average ? 0.0f : -INFINITY);
  const float *row = w->first + channel;
  const int64_t column_step = w->column_step;
  for (int64_t i = w->rows; i > 0; --i, row += w->row_step) {
    const float *p = row;
    for (int64_t j = w->columns; j > 0; --j, p += column_step) {
      simd_f32 x[POOL_VECTORS];
      SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) x[v] = simd_load_lanes(p + v * SIMD_WIDTH, lanes);
      SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
        result[v] = average ? result[v] + x[v] : simd_max(x[v], result[v]);
      }
    }
  }
  const simd_f32 low = simd_set(w->low), high = simd_set(w->high);
  SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
    if (average) result[v] = result[v] / simd_set(w->divisor);
    simd_store_lanes(y + channel + v * SIMD_WIDTH, simd_min(simd_max(result[v], low), high), lanes);
  }
}

SIMD_INLINE void pool_row(const mslite_pooling *g, const float *x, float *y, int64_t oy, bool average) {
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
    int64_t c = 0;
    for (; c + POOL_VECTORS * SIMD_WIDTH <= g->channels; c += POOL_VECTORS * SIMD_WIDTH) {
      pool_lanes(&w, c, average, POOL_VECTORS, SIMD_WIDTH, y);
    }
    for (; c + SIMD_WIDTH <= g->channels; c += SIMD_WIDTH) pool_lanes(&w, c, average, 1, SIMD_WIDTH, y);
    if (c < g->channels) pool_lanes(&w, c, average, 1, (int32_t)(g->channels - c), y);
    w.rows = bottom - top;
  }
}

static void pool_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const mslite_pooling *g = run->derived;
  const int64_t image = part / g->height.output, oy = part % g->height.output;
  const float *x = (const float *)run->inputs[0] + image * g->height.input * g->width.input * g->channels;
  float *y = (float *)run->outputs[0] + (int64_t)part * g->width.output * g->channels;
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
