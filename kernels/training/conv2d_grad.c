/* Reference gradients of a convolution. */
#include <string.h>

#include "convolution/gradient.h"

typedef struct {
  mslite_convolution geometry;
  int32_t y; /* for the weight: the input index of the convolution's result; the other input is the image */
} conv2d_grad_derived;

static int32_t support(const mslite_node *node) {
  mslite_convolution geometry;
  return mslite_convolution_gradient_fits(node, &geometry);
}

/* y += factor * x */
static void add_scaled(float *y, const float *x, float factor, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] += factor * x[i];
}

/* ---- for the input: one part is one of its rows ---- */

static mslite_status input_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  conv2d_grad_derived *numbers = derived;
  const mslite_status status = mslite_convolution_gradient_of(node, &numbers->geometry);
  if (status != MSLITE_OK) return status;
  const int64_t rows = numbers->geometry.batch * numbers->geometry.height.input;
  if (rows > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)rows;
  return MSLITE_OK;
}

/* Returns the output position whose window has input element `at` under tap `tap`, or -1. */
static int64_t reader(const mslite_axis *axis, int64_t at, int64_t tap) {
  const int64_t from = at + axis->pad_before - tap * axis->dilation;
  if (from < 0 || from % axis->stride != 0 || from / axis->stride >= axis->output) return -1;
  return from / axis->stride;
}

static void input_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const mslite_convolution *g = &((const conv2d_grad_derived *)run->derived)->geometry;
  const int64_t image = part / g->height.input, iy = part % g->height.input;
  const int64_t taps = g->height.kernel * g->width.kernel;
  const float *weight = run->inputs[1];
  const float *dy = (const float *)run->inputs[0] + image * g->height.output * g->width.output * g->out_channels;
  float *dx = (float *)run->outputs[0] + (int64_t)part * g->width.input * g->in_channels;
  memset(dx, 0, (size_t)(g->width.input * g->in_channels) * sizeof(float));
  for (int64_t ky = 0; ky < g->height.kernel; ++ky) {
    const int64_t oy = reader(&g->height, iy, ky);
    if (oy < 0) continue;
    for (int64_t ix = 0; ix < g->width.input; ++ix) {
      for (int64_t kx = 0; kx < g->width.kernel; ++kx) {
        const int64_t ox = reader(&g->width, ix, kx);
        if (ox < 0) continue;
        const float *pixel = dy + (oy * g->width.output + ox) * g->out_channels;
        const float *tap = weight + (ky * g->width.kernel + kx) * g->group_in;
        for (int64_t o = 0; o < g->out_channels; ++o) {
          float *target = dx + ix * g->in_channels + o / g->group_out * g->group_in;
          add_scaled(target, tap + o * taps * g->group_in, pixel[o], g->group_in);
        }
      }
    }
  }
}

/* ---- for the weight: one part is one output channel; images are summed one by one, which keeps sums accurate ---- */

static mslite_status filter_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  conv2d_grad_derived *numbers = derived;
  const mslite_convolution *g = &numbers->geometry;
  const mslite_status status = mslite_convolution_gradient_of(node, &numbers->geometry);
  if (status != MSLITE_OK) return status;
  numbers->y = node->op == MSLITE_OP_DeConv2DGradFilter;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)g->out_channels;
  schedule->scratch_bytes = g->height.kernel * g->width.kernel * g->group_in * (int64_t)sizeof(float);
  return MSLITE_OK;
}

static void filter_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const conv2d_grad_derived *numbers = run->derived;
  const mslite_convolution *g = &numbers->geometry;
  const float *results = run->inputs[numbers->y], *images = run->inputs[1 - numbers->y];
  const int64_t size = g->height.kernel * g->width.kernel * g->group_in;
  float *sums = run->scratch;
  float *dweight = (float *)run->outputs[0] + part * size;
  memset(dweight, 0, (size_t)size * sizeof(float));
  for (int64_t image = 0; image < g->batch; ++image) {
    const float *dy = results + image * g->height.output * g->width.output * g->out_channels + part;
    const float *x =
        images + image * g->height.input * g->width.input * g->in_channels + part / g->group_out * g->group_in;
    memset(sums, 0, (size_t)size * sizeof(float));
    for (int64_t oy = 0; oy < g->height.output; ++oy) {
      int64_t top, bottom;
      mslite_window_taps(&g->height, oy, &top, &bottom);
      for (int64_t ox = 0; ox < g->width.output; ++ox) {
        const float factor = dy[(oy * g->width.output + ox) * g->out_channels];
        int64_t left, right;
        mslite_window_taps(&g->width, ox, &left, &right);
        for (int64_t ky = top; ky < bottom; ++ky) {
          const int64_t iy = oy * g->height.stride - g->height.pad_before + ky * g->height.dilation;
          for (int64_t kx = left; kx < right; ++kx) {
            const int64_t ix = ox * g->width.stride - g->width.pad_before + kx * g->width.dilation;
            add_scaled(sums + (ky * g->width.kernel + kx) * g->group_in,
                       x + (iy * g->width.input + ix) * g->in_channels, factor, g->group_in);
          }
        }
      }
    }
    add_scaled(dweight, sums, 1.0f, size);
  }
}

#define CONV2D_GRAD(name_, operator, prepare_, run_) \
  const mslite_kernel mslite_kernel_##name_ = {      \
      .name = #name_ "_scalar",                      \
      .op = MSLITE_OP_##operator,                    \
      .isa = MSLITE_ISA_SCALAR,                      \
      .derived_size = sizeof(conv2d_grad_derived),   \
      .support = support,                            \
      .prepare = prepare_,                           \
      .run = run_,                                   \
  };

CONV2D_GRAD(conv2d_input_grad, Conv2DBackpropInputFusion, input_prepare, input_run)
CONV2D_GRAD(conv2d_filter_grad, Conv2DBackpropFilterFusion, filter_prepare, filter_run)
CONV2D_GRAD(conv2d_transpose_filter_grad, DeConv2DGradFilter, filter_prepare, filter_run)
