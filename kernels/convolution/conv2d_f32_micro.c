/* float32 convolution on microcontrollers: any kernel, stride, dilation, padding and group, without workspace.
 * Windows are read in place; taps outside of the image are skipped. */
#include "convolution/conv2d_f32_micro.h"

#include "activation/apply.h"

static int32_t conv2d_support(const mslite_node *node) {
  mslite_convolution g;
  float low, high;
  return micro_float_convolution_fits(node, &g) && micro_float_limits(g.activation, &low, &high) ? 6 : 0;
}

static int32_t conv2d_active_support(const mslite_node *node) {
  mslite_convolution g;
  return micro_float_convolution_fits(node, &g) && mslite_can_apply_activation(g.activation) ? 5 : 0;
}

static int64_t conv2d_pack_size(const mslite_node *node, int32_t input) {
  return input == 1 ? mslite_element_count(node->inputs[1]) * (int64_t)sizeof(float) : 0;
}

static void conv2d_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  mslite_convolution g;
  if (input != 1 || mslite_convolution_of(node, &g) != MSLITE_OK) return;
  const int64_t terms = g.height.kernel * g.width.kernel * g.group_in;
  for (int64_t group = 0; group < g.group; ++group) {
    const int64_t first = group * g.group_out * terms;
    micro_float_pack((const float *)source + first, g.group_out, terms, terms, 1, (float *)packed + first);
  }
}

static void conv2d_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const micro_float_convolution *own = run->derived;
  const micro_float_axis *height = &own->height, *width = &own->width;
  const int32_t image = part / height->output, row = part - image * height->output;
  const int32_t x_row = width->input * own->in_channels, y_at = part * width->output * own->out_channels;
  const int32_t tap = width->dilation * own->in_channels;
  const bool joined = tap == own->group_in; /* taps are contiguous */
  int32_t top, bottom, left, right, first = -width->pad;
  const int32_t y_first = row * height->stride - height->pad;
  micro_float_taps(height, y_first, &top, &bottom);
  micro_float_tile tile;
  memset(&tile, 0, sizeof tile);
  tile.rows = bottom - top;
  tile.x_step = width->stride * own->in_channels;
  tile.y_step = own->out_channels;
  tile.x_row = height->dilation * x_row;
  tile.x_tap = tap;
  tile.w_row = width->kernel * own->group_in;
  tile.terms = height->kernel * tile.w_row;
  tile.channels = own->group_out;
  tile.low = own->low;
  tile.high = own->high;
  const float *x = (const float *)run->inputs[0] + (image * height->input + y_first + top * height->dilation) * x_row;
  for (int32_t column = 0; column < width->output; column += tile.pixels, first += tile.pixels * width->stride) {
    tile.pixels = micro_float_pixels(width, column, first, &left, &right);
    tile.taps = joined ? 1 : right - left;
    tile.length = joined ? (right - left) * own->group_in : own->group_in;
    tile.w_first = top * tile.w_row + left * own->group_in;
    for (int32_t group = 0; group < own->groups; ++group) {
      const int32_t channel = group * own->group_out, at = y_at + column * own->out_channels + channel;
      tile.x = x + (first + left * width->dilation) * own->in_channels + group * own->group_in;
      tile.w = (const float *)run->inputs[1] + channel * tile.terms;
      if (own->has_bias) tile.bias = (const float *)run->inputs[2] + channel;
      if (own->has_residual) tile.residual = (const float *)run->inputs[3] + at;
      tile.y = (float *)run->outputs[0] + at;
      micro_float_products(&tile);
    }
  }
}

static void conv2d_active_run(const mslite_run *run, int32_t phase, int32_t part) {
  const micro_float_convolution *own = run->derived;
  const int32_t count = own->width.output * own->out_channels;
  conv2d_run(run, phase, part);
  mslite_apply_activation(own->activation, (float *)run->outputs[0] + part * count, count);
}

#define CONV2D(function, operator_, way)                            \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function) = { \
      .name = MSLITE_ISA_STRING(function),                          \
      .op = MSLITE_OP_##operator_,                                  \
      .isa = MSLITE_THIS_ISA,                                       \
      .derived_size = sizeof(micro_float_convolution),              \
      .support = way##_support,                                     \
      .prepare = micro_float_convolution_prepare,                   \
      .pack_size = conv2d_pack_size,                                \
      .pack = conv2d_pack,                                          \
      .run = way##_run,                                             \
      .lead = micro_float_convolution_lead,                         \
  };

CONV2D(conv2d_f32, Conv2DFusion, conv2d)
CONV2D(conv2d_active_f32, Conv2DFusion, conv2d_active)
CONV2D(conv2d_add_f32, Conv2DAddFusion, conv2d)
CONV2D(conv2d_add_active_f32, Conv2DAddFusion, conv2d_active)
