/* Gradients of a float32 convolution on microcontrollers: without workspace, any group. */
#include "convolution/conv2d_f32_micro.h"
#include "convolution/gradient.h"

typedef struct {
  micro_float_convolution convolution;
  int32_t images;
} conv2d_grad_derived;

static int32_t conv2d_grad_support(const mslite_node *node) {
  const int64_t most = INT32_MAX / 16;
  mslite_convolution g;
  return mslite_convolution_gradient_fits(node, &g) && micro_float_axis_fits(&g.height) &&
                 micro_float_axis_fits(&g.width) && mslite_element_count(node->inputs[0]) <= most &&
                 mslite_element_count(node->inputs[1]) <= most && mslite_element_count(node->outputs[0]) <= most
             ? 4
             : 0;
}

static mslite_status conv2d_grad_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  conv2d_grad_derived *numbers = derived;
  micro_float_convolution *own = &numbers->convolution;
  mslite_convolution g;
  const mslite_status status = mslite_convolution_gradient_of(node, &g);
  if (status != MSLITE_OK) return status;
  memset(numbers, 0, sizeof *numbers);
  own->height = micro_float_axis_of(&g.height);
  own->width = micro_float_axis_of(&g.width);
  own->in_channels = (int32_t)g.in_channels;
  own->out_channels = (int32_t)g.out_channels;
  own->groups = (int32_t)g.group;
  own->group_in = (int32_t)g.group_in;
  own->group_out = (int32_t)g.group_out;
  numbers->images = (int32_t)g.batch;
  schedule->phase_count = 1;
  schedule->part_count[0] =
      node->op == MSLITE_OP_Conv2DBackpropInputFusion ? (int32_t)(g.batch * g.height.input) : own->out_channels;
  return MSLITE_OK;
}

/* y += factor * x */
MICRO_INLINE void add_scaled(float *y, const float *x, float factor, int32_t count) {
  for (int32_t i = 0; i < count; ++i) y[i] = micro_fma(factor, x[i], y[i]);
}

/* Returns the output position whose window has input element `at` under tap `tap`, or -1. */
MICRO_INLINE int32_t reader(const micro_float_axis *axis, int32_t at, int32_t tap) {
  const int32_t from = at + axis->pad - tap * axis->dilation, position = from / axis->stride;
  return from < 0 || position * axis->stride != from || position >= axis->output ? -1 : position;
}

/* The gradient for the input: one part is one of its rows. */
static void input_grad_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const conv2d_grad_derived *numbers = run->derived;
  const micro_float_convolution *own = &numbers->convolution;
  const micro_float_axis *height = &own->height, *width = &own->width;
  const int32_t image = part / height->input, at = part - image * height->input;
  const int32_t terms = height->kernel * width->kernel * own->group_in;
  const float *dy = (const float *)run->inputs[0] + image * height->output * width->output * own->out_channels;
  float *dx = (float *)run->outputs[0] + part * width->input * own->in_channels;
  memset(dx, 0, (size_t)(width->input * own->in_channels) * sizeof(float));
  for (int32_t ky = 0; ky < height->kernel; ++ky) {
    const int32_t row = reader(height, at, ky);
    if (row < 0) continue;
    for (int32_t x = 0; x < width->input; ++x) {
      for (int32_t kx = 0; kx < width->kernel; ++kx) {
        const int32_t column = reader(width, x, kx);
        if (column < 0) continue;
        const float *pixel = dy + (row * width->output + column) * own->out_channels;
        const float *weight = (const float *)run->inputs[1] + (ky * width->kernel + kx) * own->group_in;
        float *target = dx + x * own->in_channels;
        for (int32_t group = 0; group < own->groups; ++group, target += own->group_in) {
          for (int32_t o = own->group_out; o > 0; --o, weight += terms) {
            add_scaled(target, weight, *pixel++, own->group_in);
          }
        }
      }
    }
  }
}

/* The gradient for the weight: one part is one output channel. */
static void filter_grad_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const conv2d_grad_derived *numbers = run->derived;
  const micro_float_convolution *own = &numbers->convolution;
  const micro_float_axis *height = &own->height, *width = &own->width;
  const int32_t terms = height->kernel * width->kernel * own->group_in, x_row = width->input * own->in_channels;
  const float *dy = (const float *)run->inputs[0] + part;
  const float *x = (const float *)run->inputs[1] + part / own->group_out * own->group_in;
  float *gradient = (float *)run->outputs[0] + part * terms;
  memset(gradient, 0, (size_t)terms * sizeof(float));
  for (int32_t image = 0; image < numbers->images; ++image, x += height->input * x_row) {
    for (int32_t row = 0; row < height->output; ++row) {
      const int32_t y_first = row * height->stride - height->pad;
      int32_t top, bottom;
      micro_float_taps(height, y_first, &top, &bottom);
      for (int32_t column = 0; column < width->output; ++column, dy += own->out_channels) {
        const int32_t x_first = column * width->stride - width->pad;
        int32_t left, right;
        micro_float_taps(width, x_first, &left, &right);
        for (int32_t ky = top; ky < bottom; ++ky) {
          for (int32_t kx = left; kx < right; ++kx) {
            const int32_t pixel = (y_first + ky * height->dilation) * width->input + x_first + kx * width->dilation;
            add_scaled(gradient + (ky * width->kernel + kx) * own->group_in, x + pixel * own->in_channels, *dy,
                       own->group_in);
          }
        }
      }
    }
  }
}

#define CONV2D_GRAD(function, operator_, way)                       \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function) = { \
      .name = MSLITE_ISA_STRING(function),                          \
      .op = MSLITE_OP_##operator_,                                  \
      .isa = MSLITE_THIS_ISA,                                       \
      .derived_size = sizeof(conv2d_grad_derived),                  \
      .support = conv2d_grad_support,                               \
      .prepare = conv2d_grad_prepare,                               \
      .run = way##_run,                                             \
  };

CONV2D_GRAD(conv2d_input_grad, Conv2DBackpropInputFusion, input_grad)
CONV2D_GRAD(conv2d_filter_grad, Conv2DBackpropFilterFusion, filter_grad)
