/* Reference convolution: any group, dilation and padding. The fast kernels are tested against it. */
#include "convolution/fused.h"
#include "convolution/geometry.h"

/* One part is one output row. Output elements are computed one at a time. */
typedef struct {
  mslite_convolution geometry;
  int32_t op;
} conv2d_derived;

static int32_t conv2d_support(const mslite_node *node) {
  mslite_convolution geometry;
  if (!mslite_convolution_fits(node, MSLITE_FLOAT32, &geometry)) return 0;
  if (node->op == MSLITE_OP_Conv2DAddFusion && node->inputs[3]->type != MSLITE_FLOAT32) return 0;
  return activation_is_fusable(geometry.activation);
}

static mslite_status conv2d_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  conv2d_derived *numbers = derived;
  const mslite_status status = mslite_convolution_of(node, &numbers->geometry);
  if (status != MSLITE_OK) return status;
  numbers->op = node->op;
  const int64_t rows = numbers->geometry.batch * numbers->geometry.height.output;
  if (rows > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)rows;
  return MSLITE_OK;
}

/* Returns the sum over the window at (oy, ox) for the output channel whose weights begin at `w`. */
static float window_sum(const mslite_convolution *g, const float *x, const float *w, int64_t oy, int64_t ox,
                        bool adder) {
  int64_t top, bottom, left, right;
  mslite_window_taps(&g->height, oy, &top, &bottom);
  mslite_window_taps(&g->width, ox, &left, &right);
  float sum = 0.0f;
  for (int64_t ky = adder ? 0 : top; ky < (adder ? g->height.kernel : bottom); ++ky) {
    for (int64_t kx = adder ? 0 : left; kx < (adder ? g->width.kernel : right); ++kx) {
      const int64_t iy = oy * g->height.stride - g->height.pad_before + ky * g->height.dilation;
      const int64_t ix = ox * g->width.stride - g->width.pad_before + kx * g->width.dilation;
      const bool inside = ky >= top && ky < bottom && kx >= left && kx < right;
      const float *weights = w + (ky * g->width.kernel + kx) * g->group_in;
      const float *pixel = inside ? x + (iy * g->width.input + ix) * g->in_channels : NULL;
      for (int64_t i = 0; i < g->group_in; ++i) {
        if (adder) {
          const float difference = (inside ? pixel[i] : 0.0f) - weights[i];
          sum -= difference < 0.0f ? -difference : difference;
        } else {
          sum += pixel[i] * weights[i];
        }
      }
    }
  }
  return sum;
}

static void conv2d_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const conv2d_derived *numbers = run->derived;
  const mslite_convolution *g = &numbers->geometry;
  const int64_t image = part / g->height.output, oy = part % g->height.output;
  const int64_t weights_per_channel = g->height.kernel * g->width.kernel * g->group_in;
  const float *x = (const float *)run->inputs[0] + image * g->height.input * g->width.input * g->in_channels;
  const float *w = run->inputs[1], *bias = g->has_bias ? run->inputs[2] : NULL;
  const int64_t row = (int64_t)part * g->width.output * g->out_channels;
  const float *residual = numbers->op == MSLITE_OP_Conv2DAddFusion ? (const float *)run->inputs[3] + row : NULL;
  float *y = (float *)run->outputs[0] + row;
  for (int64_t ox = 0; ox < g->width.output; ++ox) {
    for (int64_t o = 0; o < g->out_channels; ++o) {
      const int64_t at = ox * g->out_channels + o;
      float sum = window_sum(g, x + o / g->group_out * g->group_in, w + o * weights_per_channel, oy, ox,
                             numbers->op == MSLITE_OP_AdderFusion);
      if (bias != NULL) sum += bias[o];
      if (residual != NULL) sum += residual[at];
      y[at] = mslite_fused_activation(g->activation, sum);
    }
  }
}

#define CONV2D(function, operator)                 \
  const mslite_kernel mslite_kernel_##function = { \
      .name = #function,                           \
      .op = MSLITE_OP_##operator,                  \
      .isa = MSLITE_ISA_SCALAR,                    \
      .derived_size = sizeof(conv2d_derived),      \
      .support = conv2d_support,                   \
      .prepare = conv2d_prepare,                   \
      .run = conv2d_run,                           \
  };

CONV2D(conv2d_f32, Conv2DFusion)
CONV2D(conv2d_add_f32, Conv2DAddFusion)
CONV2D(adder_f32, AdderFusion)
