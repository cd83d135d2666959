/* The gradients of a depthwise convolution, vectorized over channels: one tap at a time, along one row of windows. */
#include "convolution/gradient.h"
#include "simd/simd.h"

enum {
  CHANNELS = 64,           /* per part: their rows stay in the L1 cache for all taps */
  VECTORS = 4,             /* at a time */
  SMALLEST_PART = 1 << 15, /* multiply-accumulates */
  MAX_PARTS = 64,
  MAX_PIECES = 16,
  MAX_SUMS = 1 << 17 /* floats of the pieces' gradients for the weight */
};

typedef struct {
  mslite_convolution geometry;
  int64_t taps;
  int64_t step;                  /* channels per tap in the workspace: [tap][channel] */
  int64_t row_block, row_blocks; /* rows of dx, or of dy for the weight, per part, in all images */
  int64_t channel_blocks;
} depthwise_grad_derived;

static int32_t depthwise_grad_support(const mslite_node *node) {
  mslite_convolution g;
  return mslite_convolution_gradient_fits(node, &g) && mslite_is_depthwise(&g) ? 3 : 0;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Divides the rows of dx, or of dy for the weight. */
static mslite_status plan_parts(const mslite_node *node, depthwise_grad_derived *numbers, bool for_weight) {
  mslite_convolution *g = &numbers->geometry;
  const mslite_status status = mslite_convolution_gradient_of(node, g);
  if (status != MSLITE_OK) return status;
  numbers->taps = g->height.kernel * g->width.kernel;
  numbers->channel_blocks = (g->group + CHANNELS - 1) / CHANNELS;
  numbers->step = numbers->channel_blocks * CHANNELS;
  const int64_t rows = g->batch * (for_weight ? g->height.output : g->height.input);
  if (rows > INT32_MAX || numbers->taps > INT32_MAX / numbers->step) return MSLITE_ERROR_UNSUPPORTED;
  const int64_t sums = numbers->taps * numbers->step;
  int64_t most = MAX_PARTS;
  if (for_weight) most = smaller(MAX_PIECES, MAX_SUMS / sums);
  const double work = (double)g->batch * (double)(g->height.output * g->width.output) * (double)sums;
  int64_t blocks = work >= (double)(most * numbers->channel_blocks) * (double)SMALLEST_PART
                       ? most
                       : (int64_t)(work / (double)SMALLEST_PART) / numbers->channel_blocks;
  blocks = smaller(blocks, rows);
  if (blocks < 1) blocks = 1;
  numbers->row_block = rows == 0 ? 1 : (rows + blocks - 1) / blocks;
  numbers->row_blocks = (rows + numbers->row_block - 1) / numbers->row_block;
  return numbers->row_blocks > INT32_MAX / numbers->channel_blocks ? MSLITE_ERROR_UNSUPPORTED : MSLITE_OK;
}

/* Finds the outputs [first, last) whose tap `tap` is inside of the input, and the input position of the first one. */
static int64_t find_outputs(const mslite_axis *axis, int64_t tap, int64_t *first, int64_t *last) {
  const int64_t shift = tap * axis->dilation - axis->pad_before, room = axis->input - 1 - shift;
  *first = shift < 0 ? (-shift + axis->stride - 1) / axis->stride : 0;
  *last = room < 0 ? 0 : smaller(room / axis->stride + 1, axis->output);
  return *first * axis->stride + shift;
}

/* Adjacent pixels of dy, beginning at its first channel, and the steps between them and between those of x or dx. */
typedef struct {
  const float *dy;
  int64_t dy_step, x_step, count;
} pixel_row;

/* ---- for the input: one part is some of its rows, for some channels ---- */

/* dx += dy * weight */
SIMD_INLINE void add_scaled_lanes(const pixel_row *row, const float *weight, float *dx, int64_t c,
                                  const int32_t vectors, const int32_t lanes) {
  simd_f32 factor[VECTORS];
  SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) factor[v] = simd_load_f32(weight + c + v * SIMD_WIDTH);
  const float *dy = row->dy + c;
  dx += c;
  for (int64_t i = row->count; i > 0; --i, dy += row->dy_step, dx += row->x_step) {
    SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
      const simd_f32 sum = simd_load_lanes_f32(dx + v * SIMD_WIDTH, lanes);
      simd_store_lanes(dx + v * SIMD_WIDTH, simd_fma(simd_load_lanes_f32(dy + v * SIMD_WIDTH, lanes), factor[v], sum),
                       lanes);
    }
  }
}

static void add_scaled(const pixel_row *row, const float *weight, float *dx, int64_t channels) {
  int64_t c = 0;
  for (; c + VECTORS * SIMD_WIDTH <= channels; c += VECTORS * SIMD_WIDTH) {
    add_scaled_lanes(row, weight, dx, c, VECTORS, SIMD_WIDTH);
  }
  for (; c + SIMD_WIDTH <= channels; c += SIMD_WIDTH) add_scaled_lanes(row, weight, dx, c, 1, SIMD_WIDTH);
  if (c < channels) add_scaled_lanes(row, weight, dx, c, 1, (int32_t)(channels - c));
}

static mslite_status input_grad_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  depthwise_grad_derived *numbers = derived;
  const mslite_status status = plan_parts(node, numbers, false);
  if (status != MSLITE_OK) return status;
  schedule->phase_count = 2;
  schedule->part_count[0] = (int32_t)numbers->channel_blocks;
  schedule->part_count[1] = (int32_t)(numbers->row_blocks * numbers->channel_blocks);
  schedule->shared_bytes = numbers->taps * numbers->step * (int64_t)sizeof(float);
  return MSLITE_OK;
}

/* Computes row `row` of dx in all images, for `channels` channels beginning at `channel`. */
static void input_grad_row(const mslite_run *run, const depthwise_grad_derived *numbers, int64_t row, int64_t channel,
                           int64_t channels) {
  const mslite_convolution *g = &numbers->geometry;
  const int64_t image = row / g->height.input, iy = row % g->height.input;
  const float *dy = (const float *)run->inputs[0] + channel, *weight = (const float *)run->shared + channel;
  float *dx = (float *)run->outputs[0] + row * g->width.input * g->group + channel;
  for (int64_t ix = 0; ix < g->width.input; ++ix) memset(dx + ix * g->group, 0, (size_t)channels * sizeof *dx);
  for (int64_t ky = 0; ky < g->height.kernel; ++ky) {
    const int64_t from = iy + g->height.pad_before - ky * g->height.dilation, oy = from / g->height.stride;
    if (from < 0 || from % g->height.stride != 0 || oy >= g->height.output) continue;
    for (int64_t kx = 0; kx < g->width.kernel; ++kx) {
      int64_t first, last;
      const int64_t ix = find_outputs(&g->width, kx, &first, &last);
      const pixel_row pixels = {
          .dy = dy + ((image * g->height.output + oy) * g->width.output + first) * g->group,
          .dy_step = g->group,
          .x_step = g->width.stride * g->group,
          .count = last - first,
      };
      add_scaled(&pixels, weight + (ky * g->width.kernel + kx) * numbers->step, dx + ix * g->group, channels);
    }
  }
}

static void input_grad_run(const mslite_run *run, int32_t phase, int32_t part) {
  const depthwise_grad_derived *numbers = run->derived;
  const mslite_convolution *g = &numbers->geometry;
  const int64_t channel = part % numbers->channel_blocks * CHANNELS, channels = smaller(CHANNELS, g->group - channel);
  if (phase == 0) {
    const float *from = (const float *)run->inputs[1] + channel * numbers->taps;
    float *to = (float *)run->shared + channel;
    for (int64_t tap = 0; tap < numbers->taps; ++tap) {
      for (int64_t c = 0; c < CHANNELS; ++c) {
        to[tap * numbers->step + c] = c < channels ? from[c * numbers->taps + tap] : 0.0f;
      }
    }
    return;
  }
  const int64_t first = part / numbers->channel_blocks * numbers->row_block, rows = g->batch * g->height.input;
  for (int64_t row = first; row < first + numbers->row_block && row < rows; ++row) {
    input_grad_row(run, numbers, row, channel, channels);
  }
}

/* ---- for the weight: one part is some rows of dy, for some channels; a last phase adds the parts ---- */

/* Adds dy * x to the sums, summed over the row first, which keeps sums accurate. */
SIMD_INLINE void add_products_lanes(const pixel_row *row, const float *x, float *sums, int64_t c, const int32_t vectors,
                                    const int32_t lanes) {
  simd_f32 sum[VECTORS];
  SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) sum[v] = simd_set(0.0f);
  const float *dy = row->dy + c;
  x += c;
  for (int64_t i = row->count; i > 0; --i, dy += row->dy_step, x += row->x_step) {
    SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
      sum[v] = simd_fma(simd_load_lanes_f32(dy + v * SIMD_WIDTH, lanes), simd_load_lanes_f32(x + v * SIMD_WIDTH, lanes),
                        sum[v]);
    }
  }
  SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
    float *to = sums + c + v * SIMD_WIDTH;
    simd_store_f32(to, simd_load_f32(to) + sum[v]);
  }
}

static void add_products(const pixel_row *row, const float *x, float *sums, int64_t channels) {
  int64_t c = 0;
  for (; c + VECTORS * SIMD_WIDTH <= channels; c += VECTORS * SIMD_WIDTH) {
    add_products_lanes(row, x, sums, c, VECTORS, SIMD_WIDTH);
  }
  for (; c + SIMD_WIDTH <= channels; c += SIMD_WIDTH) add_products_lanes(row, x, sums, c, 1, SIMD_WIDTH);
  if (c < channels) add_products_lanes(row, x, sums, c, 1, (int32_t)(channels - c));
}

static mslite_status filter_grad_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  depthwise_grad_derived *numbers = derived;
  const mslite_status status = plan_parts(node, numbers, true);
  if (status != MSLITE_OK) return status;
  schedule->phase_count = 2;
  schedule->part_count[0] = (int32_t)(numbers->row_blocks * numbers->channel_blocks);
  schedule->part_count[1] = (int32_t)numbers->channel_blocks;
  schedule->shared_bytes = numbers->row_blocks * numbers->taps * numbers->step * (int64_t)sizeof(float);
  return MSLITE_OK;
}

static void sum_rows(const mslite_run *run, const depthwise_grad_derived *numbers, int64_t block, int64_t channel,
                     int64_t channels) {
  const mslite_convolution *g = &numbers->geometry;
  const int64_t begin = block * numbers->row_block, rows = g->batch * g->height.output;
  const float *dy = (const float *)run->inputs[0] + channel, *x = (const float *)run->inputs[1] + channel;
  float *sums = (float *)run->shared + block * numbers->taps * numbers->step + channel;
  for (int64_t tap = 0; tap < numbers->taps; ++tap) memset(sums + tap * numbers->step, 0, CHANNELS * sizeof *sums);
  for (int64_t row = begin; row < begin + numbers->row_block && row < rows; ++row) {
    const int64_t image = row / g->height.output, oy = row % g->height.output;
    int64_t top, bottom;
    mslite_window_taps(&g->height, oy, &top, &bottom);
    for (int64_t ky = top; ky < bottom; ++ky) {
      const int64_t iy = oy * g->height.stride - g->height.pad_before + ky * g->height.dilation;
      for (int64_t kx = 0; kx < g->width.kernel; ++kx) {
        int64_t first, last;
        const int64_t ix = find_outputs(&g->width, kx, &first, &last);
        const pixel_row pixels = {
            .dy = dy + (row * g->width.output + first) * g->group,
            .dy_step = g->group,
            .x_step = g->width.stride * g->group,
            .count = last - first,
        };
        add_products(&pixels, x + ((image * g->height.input + iy) * g->width.input + ix) * g->group,
                     sums + (ky * g->width.kernel + kx) * numbers->step, channels);
      }
    }
  }
}

static void filter_grad_run(const mslite_run *run, int32_t phase, int32_t part) {
  const depthwise_grad_derived *numbers = run->derived;
  const int64_t channel = part % numbers->channel_blocks * CHANNELS;
  const int64_t channels = smaller(CHANNELS, numbers->geometry.group - channel);
  if (phase == 0) {
    sum_rows(run, numbers, part / numbers->channel_blocks, channel, channels);
    return;
  }
  const int64_t block = numbers->taps * numbers->step;
  float *dweight = (float *)run->outputs[0] + channel * numbers->taps;
  for (int64_t tap = 0; tap < numbers->taps; ++tap) {
    const float *sums = (const float *)run->shared + tap * numbers->step + channel;
    for (int64_t c = 0; c < channels; ++c) {
      float sum = 0.0f;
      for (int64_t i = 0; i < numbers->row_blocks; ++i) sum += sums[i * block + c];
      dweight[c * numbers->taps + tap] = sum;
    }
  }
}

#define DEPTHWISE_GRAD(function, operator, prepare_, run_)          \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function) = { \
      .name = MSLITE_ISA_STRING(function),                          \
      .op = MSLITE_OP_##operator,                                   \
      .isa = MSLITE_THIS_ISA,                                       \
      .derived_size = sizeof(depthwise_grad_derived),               \
      .support = depthwise_grad_support,                            \
      .prepare = prepare_,                                          \
      .run = run_,                                                  \
  };

DEPTHWISE_GRAD(depthwise_input_grad, Conv2DBackpropInputFusion, input_grad_prepare, input_grad_run)
DEPTHWISE_GRAD(depthwise_filter_grad, Conv2DBackpropFilterFusion, filter_grad_prepare, filter_grad_run)
