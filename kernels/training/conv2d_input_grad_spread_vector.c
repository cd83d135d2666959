/* The gradient of a convolution with few channels for its input. A GEMM computes the contribution of each pixel of
 * dy to its whole window, [ky][kx][channel], and these windows are added at their positions: adjacent columns of a
 * window are adjacent in dx, too. As a transposed convolution, each tap would use only a few lanes of a vector. One
 * part is one image. */
#include "convolution/gradient.h"
#include "training/outer.h"

enum {
  SPREAD_PIXELS = 8 * OUTER_ROWS, /* pixels of dy at a time */
  ADDING = 12                     /* multiply-accumulates that take as long as adding one element of a window */
};

typedef struct {
  mslite_convolution geometry;
  int64_t columns; /* elements per window */
  int64_t depth;   /* channels of dy at a time */
} spread_derived;

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static int32_t spread_support(const mslite_node *node) {
  mslite_convolution g;
  if (!mslite_convolution_gradient_fits(node, &g) || g.group != 1) return 0;
  const int64_t padded = (g.in_channels + SIMD_WIDTH - 1) / SIMD_WIDTH * SIMD_WIDTH;
  /* The transposed convolution gains a fifth by reading windows in place. */
  return (g.out_channels + ADDING) * g.in_channels * 5 < g.out_channels * padded * 4 ? 3 : 1;
}

static mslite_status spread_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  spread_derived *numbers = derived;
  mslite_convolution *g = &numbers->geometry;
  const mslite_status status = mslite_convolution_gradient_of(node, g);
  if (status != MSLITE_OK) return status;
  numbers->columns = g->height.kernel * g->width.kernel * g->in_channels;
  numbers->depth = smaller(g->out_channels, OUTER_STEP);
  if (g->batch > INT32_MAX || numbers->columns > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)g->batch;
  const int64_t floats = SPREAD_PIXELS * (numbers->columns + numbers->depth) + OUTER_STEP * OUTER_COLUMNS;
  schedule->scratch_bytes = floats * (int64_t)sizeof(float);
  return MSLITE_OK;
}

/* Copies channels [first, first + depth) of `count` pixels, channel by channel within each tile of the GEMM. */
static void turn_pixels(const float *dy, int64_t channels, int64_t count, int64_t depth, float *tiles) {
  for (int64_t pixel = 0; pixel < count; pixel += OUTER_ROWS, tiles += depth * OUTER_ROWS) {
    const int64_t rows = smaller(OUTER_ROWS, count - pixel);
    for (int64_t row = 0; row < rows; ++row) {
      const float *from = dy + (pixel + row) * channels;
      for (int64_t i = 0; i < depth; ++i) tiles[i * OUTER_ROWS + row] = from[i];
    }
  }
}

/* Computes the windows of `count` pixels of dy, one after the other. */
static void multiply_pixels(const mslite_run *run, const spread_derived *numbers, const float *dy, int64_t count,
                            float *windows) {
  const mslite_convolution *g = &numbers->geometry;
  const float *weight = run->inputs[1], *end = weight + g->out_channels * numbers->columns;
  float *tiles = windows + SPREAD_PIXELS * numbers->columns, *copy = tiles + SPREAD_PIXELS * numbers->depth;
  const float *right[OUTER_STEP];
  for (int64_t first = 0; first < g->out_channels; first += numbers->depth) {
    const int64_t depth = smaller(numbers->depth, g->out_channels - first);
    turn_pixels(dy + first, g->out_channels, count, depth, tiles);
    for (int64_t column = 0; column < numbers->columns; column += OUTER_COLUMNS) {
      const outer_block block = {
          .left = tiles,
          .left_step = OUTER_ROWS,
          .left_tile = depth * OUTER_ROWS,
          .right = right,
          .count = depth,
          .c = windows + column,
          .c_step = numbers->columns,
          .columns = smaller(OUTER_COLUMNS, numbers->columns - column),
          .adds = first > 0,
      };
      for (int64_t i = 0; i < depth; ++i) {
        const float *line = weight + (first + i) * numbers->columns + column;
        right[i] = outer_line(line, block.columns, false, end, copy + i * OUTER_COLUMNS);
      }
      MSLITE_ISA_NAME(mslite_outer_run)(&block, count);
    }
  }
}

SIMD_INLINE void add_floats(const float *from, float *to, int64_t count) {
  for (int64_t i = 0; i < count; i += SIMD_WIDTH) {
    const int32_t lanes = (int32_t)smaller(SIMD_WIDTH, count - i);
    simd_store_lanes_f32(to + i, simd_load_lanes_f32(to + i, lanes) + simd_load_lanes_f32(from + i, lanes), lanes);
  }
}

/* Adds the windows of `count` pixels, beginning at `pixel`, to the image dx. */
static void add_windows(const spread_derived *numbers, const float *windows, int64_t pixel, int64_t count, float *dx) {
  const mslite_convolution *g = &numbers->geometry;
  const int64_t channels = g->in_channels, dilation = g->width.dilation;
  int64_t oy = pixel / g->width.output, ox = pixel % g->width.output, top, bottom, left, right;
  for (int64_t i = 0; i < count; ++oy, ox = 0) {
    mslite_window_taps(&g->height, oy, &top, &bottom);
    for (; ox < g->width.output && i < count; ++ox, ++i, windows += numbers->columns) {
      mslite_window_taps(&g->width, ox, &left, &right);
      const int64_t taps = right - left, column = ox * g->width.stride - g->width.pad_before + left * dilation;
      if (taps <= 0) continue;
      for (int64_t ky = top; ky < bottom; ++ky) {
        const int64_t row = oy * g->height.stride - g->height.pad_before + ky * g->height.dilation;
        const float *from = windows + (ky * g->width.kernel + left) * channels;
        float *to = dx + (row * g->width.input + column) * channels;
        if (dilation == 1) {
          add_floats(from, to, taps * channels);
          continue;
        }
        for (int64_t kx = 0; kx < taps; ++kx) add_floats(from + kx * channels, to + kx * dilation * channels, channels);
      }
    }
  }
}

static void spread_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const spread_derived *numbers = run->derived;
  const mslite_convolution *g = &numbers->geometry;
  const int64_t plane = g->height.output * g->width.output, image = g->height.input * g->width.input * g->in_channels;
  const float *dy = (const float *)run->inputs[0] + part * plane * g->out_channels;
  float *dx = (float *)run->outputs[0] + part * image;
  memset(dx, 0, (size_t)image * sizeof *dx);
  for (int64_t pixel = 0; pixel < plane; pixel += SPREAD_PIXELS) {
    const int64_t count = smaller(SPREAD_PIXELS, plane - pixel);
    multiply_pixels(run, numbers, dy + pixel * g->out_channels, count, run->scratch);
    add_windows(numbers, run->scratch, pixel, count, dx);
  }
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_conv2d_input_grad_spread) = {
    .name = MSLITE_ISA_STRING(conv2d_input_grad_spread),
    .op = MSLITE_OP_Conv2DBackpropInputFusion,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(spread_derived),
    .support = spread_support,
    .prepare = spread_prepare,
    .run = spread_run,
};
