/* Reference transposed convolution, computed per output pixel; weight [in, kh, kw, out / group]. */
#include "convolution/fused.h"
#include "convolution/geometry.h"

static int32_t conv2d_transpose_support(const mslite_node *node) {
  mslite_convolution geometry;
  return mslite_convolution_fits(node, MSLITE_FLOAT32, &geometry) && activation_is_fusable(geometry.activation);
}

/* One part is one output row. */
static mslite_status conv2d_transpose_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  mslite_convolution *geometry = derived;
  const mslite_status status = mslite_convolution_of(node, geometry);
  if (status != MSLITE_OK) return status;
  const int64_t rows = geometry->batch * geometry->height.output;
  if (rows > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)rows;
  return MSLITE_OK;
}

/* Returns the input position that tap `tap` connects to output position `at`, or -1. */
static int64_t source_of(const mslite_axis *axis, int64_t at, int64_t tap) {
  const int64_t distance = at + axis->pad_before - tap * axis->dilation;
  if (distance < 0 || distance % axis->stride != 0) return -1;
  return distance / axis->stride < axis->input ? distance / axis->stride : -1;
}

/* Adds x [in] * w [in, ..., out / group] to y [out] for one tap, group by group. */
static void add_tap(const mslite_convolution *g, const float *x, const float *w, float *y) {
  const int64_t w_step = g->height.kernel * g->width.kernel * g->group_out;
  for (int64_t i = 0; i < g->in_channels; ++i) {
    const float value = x[i];
    float *target = y + i / g->group_in * g->group_out;
    for (int64_t o = 0; o < g->group_out; ++o) target[o] += value * w[i * w_step + o];
  }
}

static void conv2d_transpose_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const mslite_convolution *g = run->derived;
  const int64_t image = part / g->height.output, oy = part % g->height.output;
  const float *x = (const float *)run->inputs[0] + image * g->height.input * g->width.input * g->in_channels;
  const float *w = run->inputs[1], *bias = g->has_bias ? run->inputs[2] : NULL;
  float *row = (float *)run->outputs[0] + (int64_t)part * g->width.output * g->out_channels;
  for (int64_t ox = 0; ox < g->width.output; ++ox) {
    float *y = row + ox * g->out_channels;
    for (int64_t o = 0; o < g->out_channels; ++o) y[o] = bias != NULL ? bias[o] : 0.0f;
    for (int64_t ky = 0; ky < g->height.kernel; ++ky) {
      const int64_t iy = source_of(&g->height, oy, ky);
      for (int64_t kx = 0; iy >= 0 && kx < g->width.kernel; ++kx) {
        const int64_t ix = source_of(&g->width, ox, kx);
        if (ix < 0) continue;
        add_tap(g, x + (iy * g->width.input + ix) * g->in_channels, w + (ky * g->width.kernel + kx) * g->group_out, y);
      }
    }
    for (int64_t o = 0; o < g->out_channels; ++o) y[o] = mslite_fused_activation(g->activation, y[o]);
  }
}

const mslite_kernel mslite_kernel_conv2d_transpose_f32 = {
    .name = "conv2d_transpose_f32",
    .op = MSLITE_OP_Conv2dTransposeFusion,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(mslite_convolution),
    .support = conv2d_transpose_support,
    .prepare = conv2d_transpose_prepare,
    .run = conv2d_transpose_run,
};
