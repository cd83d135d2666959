/* float32 convolution on microcontrollers with weights that are not constant, as in training: they are read in
 * place, [out][kh][kw][in], without workspace. Any kernel, stride, dilation, padding and group. */
#include "convolution/conv2d_f32_micro.h"

static int32_t conv2d_open_support(const mslite_node *node) {
  mslite_convolution g;
  float low, high;
  const bool is_open = node->inputs[1]->data == NULL && micro_float_convolution_is_small(node, &g);
  return is_open && micro_float_limits(g.activation, &low, &high) ? 6 : 0;
}

static void conv2d_open_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const micro_float_convolution *own = run->derived;
  const micro_float_axis *height = &own->height, *width = &own->width;
  const int32_t image = part / height->output, row = part - image * height->output;
  const int32_t y_first = row * height->stride - height->pad, x_row = width->input * own->in_channels;
  const int32_t tap = width->dilation * own->in_channels, terms = height->kernel * width->kernel * own->group_in;
  const float *weight = run->inputs[1], *bias = own->has_bias ? run->inputs[2] : NULL;
  float *y = (float *)run->outputs[0] + part * width->output * own->out_channels;
  int32_t top, bottom;
  micro_float_taps(height, y_first, &top, &bottom);
  const float *x = (const float *)run->inputs[0] + (image * height->input + y_first + top * height->dilation) * x_row;
  for (int32_t column = 0; column < width->output; ++column) {
    const int32_t first = column * width->stride - width->pad;
    int32_t left, right;
    micro_float_taps(width, first, &left, &right);
    for (int32_t channel = 0; channel < own->out_channels; ++channel) {
      const int32_t group = channel / own->group_out;
      const float *x_from = x + (first + left * width->dilation) * own->in_channels + group * own->group_in;
      const float *w_from = weight + channel * terms + (top * width->kernel + left) * own->group_in;
      float sum = bias != NULL ? bias[channel] : 0.0F;
      for (int32_t ky = top; ky < bottom; ++ky) {
        const float *p = x_from, *q = w_from;
        for (int32_t kx = left; kx < right; ++kx, p += tap, q += own->group_in) {
          for (int32_t k = 0; k < own->group_in; ++k) sum = micro_fma(p[k], q[k], sum);
        }
        x_from += height->dilation * x_row;
        w_from += width->kernel * own->group_in;
      }
      *y++ = micro_clamp(sum, own->low, own->high);
    }
  }
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_conv2d_open_f32) = {
    .name = MSLITE_ISA_STRING(conv2d_open_f32),
    .op = MSLITE_OP_Conv2DFusion,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(micro_float_convolution),
    .support = conv2d_open_support,
    .prepare = micro_float_convolution_prepare,
    .run = conv2d_open_run,
};
