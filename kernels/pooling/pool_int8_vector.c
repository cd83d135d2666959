/* Pooling of quantized integers in NHWC, vectorized over channels. */
#include "pooling/pool_int8.h"
#include "simd/narrow.h"

enum { BLOCK = 64 };

/* The taps of one window that are inside of the input; offsets and steps are in elements. */
typedef struct {
  int64_t first;
  int64_t rows, columns;
  int64_t row_step, column_step;
  int32_t count; /* the divisor of an average */
} window;

/* Defines a function that computes the sums, or the maxima, of `lanes` channels. */
#define GATHER(name, type, lowest)                                                                           \
  SIMD_INLINE void name(const window *w, const type *x, bool average, int64_t lanes, int32_t *restrict to) { \
    for (int64_t c = 0; c < lanes; ++c) to[c] = average ? 0 : lowest;                                        \
    for (int64_t i = 0; i < w->rows; ++i) {                                                                  \
      for (int64_t j = 0; j < w->columns; ++j) {                                                             \
        const type *p = x + i * w->row_step + j * w->column_step;                                            \
        if (average) {                                                                                       \
          for (int64_t c = 0; c < lanes; ++c) to[c] += p[c];                                                 \
        } else {                                                                                             \
          for (int64_t c = 0; c < lanes; ++c) to[c] = p[c] > to[c] ? p[c] : to[c];                           \
        }                                                                                                    \
      }                                                                                                      \
    }                                                                                                        \
  }

GATHER(gather_i8, int8_t, INT8_MIN)
GATHER(gather_i16, int16_t, INT16_MIN)

/* Converts sums or maxima to quantized results, in place. */
SIMD_INLINE void finish(const mslite_stored_pool *pool, const window *w, int32_t *values, int64_t lanes) {
  const int32_t low = pool->low, high = pool->high, count = w->count;
  const int32_t taps = (int32_t)(w->rows * w->columns);
  if (taps == 0) {
    for (int64_t c = 0; c < lanes; ++c) values[c] = mslite_clamp(pool->to_zero, low, high);
  } else if (pool->is_rescaled) {
    const bool average = pool->geometry.average;
    const double factor = average ? pool->factor / count : pool->factor;
    const int32_t zero = pool->from_zero * (average ? taps : 1);
    for (int64_t c = 0; c < lanes; ++c) values[c] = mslite_stored_pool_rescaled(pool, values[c] - zero, factor);
  } else if (pool->geometry.average) {
    const int32_t domain = pool->domain;
    /* Padding that is counted has the real value zero. */
    const int32_t more = (count - taps) * pool->from_zero + domain * count;
    for (int64_t c = 0; c < lanes; ++c) {
      values[c] = mslite_clamp(mslite_rounded_quotient(values[c] + more, count) - domain, low, high);
    }
  } else {
    for (int64_t c = 0; c < lanes; ++c) values[c] = mslite_clamp(values[c], low, high);
  }
}

#define POOL_PIXEL(name, type, gather)                                                                    \
  static void name(const mslite_stored_pool *pool, const window *w, const void *x, void *y, int64_t at) { \
    const type *from = (const type *)x + w->first;                                                        \
    type *to = (type *)y + at;                                                                            \
    const bool average = pool->geometry.average;                                                          \
    const int64_t channels = pool->geometry.channels;                                                     \
    int32_t values[BLOCK];                                                                                \
    for (int64_t c = 0; c < channels; c += BLOCK) {                                                       \
      const int64_t lanes = channels - c < BLOCK ? channels - c : BLOCK;                                  \
      gather(w, from + c, average, lanes, values);                                                        \
      finish(pool, w, values, lanes);                                                                     \
      for (int64_t k = 0; k < lanes; ++k) to[c + k] = (type)values[k];                                    \
    }                                                                                                     \
  }

#if SIMD_WIDTH > 1
/* Computes the maxima of one window, clamped, if there is a vector of channels; the last ones may be computed twice. */
static void largest_int8(const mslite_stored_pool *pool, const window *w, const int8_t *x, int8_t *to) {
  const int64_t channels = pool->geometry.channels, lanes = sizeof(simd_bytes);
  const simd_bytes low = simd_set_bytes(pool->low), high = simd_set_bytes(pool->high);
  for (int64_t next = 0; next < channels; next += lanes) {
    const int64_t c = next + lanes <= channels ? next : channels - lanes;
    simd_bytes most = low;
    for (int64_t i = 0; i < w->rows; ++i) {
      const int8_t *from = x + c + i * w->row_step;
      for (int64_t j = 0; j < w->columns; ++j, from += w->column_step) {
        simd_bytes tap;
        memcpy(&tap, from, sizeof tap);
        most = simd_max_bytes(most, tap);
      }
    }
    most = simd_min_bytes(most, high);
    memcpy(to + c, &most, sizeof most);
  }
}
#endif

POOL_PIXEL(pixel_int8, int8_t, gather_i8)
POOL_PIXEL(pixel_i16, int16_t, gather_i16)

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const mslite_stored_pool *pool = run->derived;
  const mslite_pooling *g = &pool->geometry;
  const int64_t image = part / g->height.output, oy = part % g->height.output;
  const int64_t row = g->width.input * g->channels;
  int64_t top, bottom, left, right;
  mslite_window_taps(&g->height, oy, &top, &bottom);
  const int64_t iy = oy * g->height.stride - g->height.pad_before + top * g->height.dilation;
  const int64_t divisor = mslite_pooling_divisor(&g->height, oy, g->count_include_pad);
  const bool average = g->average;
#if SIMD_WIDTH > 1
  const bool is_fast =
      pool->type == MSLITE_INT8 && !average && !pool->is_rescaled && g->channels >= (int64_t)sizeof(simd_bytes);
#endif
  window w = {0};
  w.row_step = g->height.dilation * row;
  w.column_step = g->width.dilation * g->channels;
  for (int64_t ox = 0; ox < g->width.output; ++ox) {
    mslite_window_taps(&g->width, ox, &left, &right);
    const int64_t ix = ox * g->width.stride - g->width.pad_before + left * g->width.dilation;
    w.columns = right - left;
    w.rows = w.columns == 0 ? 0 : bottom - top;
    w.first = w.rows == 0 ? 0 : (image * g->height.input + iy) * row + ix * g->channels;
    w.count = average ? (int32_t)(divisor * mslite_pooling_divisor(&g->width, ox, g->count_include_pad)) : 1;
    const int64_t at = ((int64_t)part * g->width.output + ox) * g->channels;
#if SIMD_WIDTH > 1
    if (is_fast && w.rows > 0) {
      largest_int8(pool, &w, (const int8_t *)run->inputs[0] + w.first, (int8_t *)run->outputs[0] + at);
      continue;
    }
#endif
    if (pool->type == MSLITE_INT8) {
      pixel_int8(pool, &w, run->inputs[0], run->outputs[0], at);
    } else {
      pixel_i16(pool, &w, run->inputs[0], run->outputs[0], at);
    }
  }
}

#define POOL(function, operator)                                    \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function) = { \
      .name = MSLITE_ISA_STRING(function),                          \
      .op = MSLITE_OP_##operator,                                   \
      .isa = MSLITE_THIS_ISA,                                       \
      .derived_size = sizeof(mslite_stored_pool),                   \
      .support = mslite_stored_pool_support,                        \
      .prepare = mslite_stored_pool_prepare,                        \
      .run = run_part,                                              \
      .quantized = 1,                                               \
  };

POOL(average_pool_int8, AvgPoolFusion)
POOL(maximum_pool_int8, MaxPoolFusion)
POOL(average_pool_extended_int8, AvgPoolExtended)
POOL(maximum_pool_extended_int8, MaxPoolExtended)
