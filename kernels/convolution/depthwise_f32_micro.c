/* float32 depthwise convolution on microcontrollers, four channels at a time. Weights are packed as
 * [taps][channels]. */
#include "activation/apply.h"
#include "convolution/conv2d_f32_micro.h"

static int32_t depthwise_support(const mslite_node *node) {
  mslite_convolution g;
  float low, high;
  if (!micro_float_convolution_fits(node, &g) || !mslite_is_depthwise(&g)) return 0;
  return micro_float_limits(g.activation, &low, &high) ? 8 : 0;
}

static int32_t depthwise_active_support(const mslite_node *node) {
  mslite_convolution g;
  if (!micro_float_convolution_fits(node, &g) || !mslite_is_depthwise(&g)) return 0;
  return mslite_can_apply_activation(g.activation) ? 7 : 0;
}

static int64_t depthwise_pack_size(const mslite_node *node, int32_t input) {
  return input == 1 ? mslite_element_count(node->inputs[1]) * (int64_t)sizeof(float) : 0;
}

static void depthwise_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  if (input != 1) return;
  const mslite_tensor *weight = node->inputs[1];
  const int64_t taps = weight->dims[1] * weight->dims[2];
  float *to = packed;
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t c = 0; c < weight->dims[0]; ++c) *to++ = ((const float *)source)[c * taps + tap];
  }
}

typedef struct {
  int32_t rows, taps;
  int32_t x_row, x_tap, w_row, w_tap;
} window;

MICRO_SHARED float one_channel(const window *of, const float *x, const float *w, float sum) {
  for (int32_t ky = of->rows; ky > 0; --ky, x += of->x_row, w += of->w_row) {
    const float *at = x, *weight = w;
    for (int32_t kx = of->taps; kx > 0; --kx, at += of->x_tap, weight += of->w_tap) sum = micro_fma(*at, *weight, sum);
  }
  return sum;
}

MICRO_SHARED micro_f32x4 four_channels(const window *of, const float *x, const float *w, micro_f32x4 sum) {
  for (int32_t ky = of->rows; ky > 0; --ky, x += of->x_row, w += of->w_row) {
    const float *at = x, *weight = w;
    for (int32_t kx = of->taps; kx > 0; --kx, at += of->x_tap, weight += of->w_tap) {
      sum = micro_fma_f32x4(micro_load_f32x4(at), micro_load_f32x4(weight), sum);
    }
  }
  return sum;
}

#if MICRO_DSP
/* Computes four channels of four pixels, which are `step` floats apart in x; clamps and stores the sums. */
MICRO_SHARED void four_pixels(const window *of, const float *x, int32_t step, const float *w, micro_f32x4 start,
                              const micro_float_convolution *own, float *y) {
  micro_f32x4 sum0 = start, sum1 = start, sum2 = start, sum3 = start;
  for (int32_t ky = of->rows; ky > 0; --ky, x += of->x_row, w += of->w_row) {
    const float *x0 = x, *x1 = x0 + step, *x2 = x1 + step, *x3 = x2 + step, *weight = w;
    for (int32_t kx = of->taps; kx > 0; --kx, weight += of->w_tap) {
      const micro_f32x4 four = micro_load_f32x4(weight);
      sum0 = micro_fma_f32x4(micro_load_f32x4(x0), four, sum0);
      sum1 = micro_fma_f32x4(micro_load_f32x4(x1), four, sum1);
      sum2 = micro_fma_f32x4(micro_load_f32x4(x2), four, sum2);
      sum3 = micro_fma_f32x4(micro_load_f32x4(x3), four, sum3);
      x0 += of->x_tap;
      x1 += of->x_tap;
      x2 += of->x_tap;
      x3 += of->x_tap;
    }
  }
  const int32_t channels = own->in_channels;
  micro_store_f32x4(y, micro_clamp_f32x4(sum0, own->low, own->high));
  micro_store_f32x4(y + channels, micro_clamp_f32x4(sum1, own->low, own->high));
  micro_store_f32x4(y + 2 * channels, micro_clamp_f32x4(sum2, own->low, own->high));
  micro_store_f32x4(y + 3 * channels, micro_clamp_f32x4(sum3, own->low, own->high));
}
#endif

/* Computes adjacent pixels, 1 or MICRO_FLOAT_PIXELS; x, w and y point to their first channel. */
static void run_pixels(const mslite_run *run, const window *of, const float *x, const float *w, int32_t pixels,
                       float *y) {
  const micro_float_convolution *own = run->derived;
  const float *bias = own->has_bias ? run->inputs[2] : NULL;
  const int32_t channels = own->in_channels, step = own->width.stride * channels;
  int32_t c = 0;
  for (; c + 4 <= channels; c += 4) {
    const micro_f32x4 start = bias != NULL ? micro_load_f32x4(bias + c) : micro_set_f32x4(0.0F);
#if MICRO_DSP
    if (pixels > 1) {
      four_pixels(of, x + c, step, w + c, start, own, y + c);
      continue;
    }
#endif
    micro_store_f32x4(y + c, micro_clamp_f32x4(four_channels(of, x + c, w + c, start), own->low, own->high));
  }
  for (; c < channels; ++c) {
    for (int32_t i = 0; i < pixels; ++i) {
      const float sum = one_channel(of, x + i * step + c, w + c, bias != NULL ? bias[c] : 0.0F);
      y[i * channels + c] = micro_clamp(sum, own->low, own->high);
    }
  }
}

static void depthwise_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const micro_float_convolution *own = run->derived;
  const micro_float_axis *height = &own->height, *width = &own->width;
  const int32_t image = part / height->output, row = part - image * height->output, channels = own->in_channels;
  const int32_t x_row = width->input * channels, y_first = row * height->stride - height->pad;
  int32_t top, bottom, left, right, first = -width->pad, pixels;
  micro_float_taps(height, y_first, &top, &bottom);
  window of = {.rows = bottom - top};
  of.x_tap = width->dilation * channels;
  of.x_row = height->dilation * x_row;
  of.w_tap = channels;
  of.w_row = width->kernel * channels;
  const float *x = (const float *)run->inputs[0] + (image * height->input + y_first + top * height->dilation) * x_row;
  const float *w = (const float *)run->inputs[1] + top * of.w_row;
  float *y = (float *)run->outputs[0] + part * width->output * channels;
  for (int32_t column = 0; column < width->output; column += pixels, first += pixels * width->stride) {
    pixels = micro_float_pixels(width, column, first, &left, &right);
    of.taps = right - left;
    run_pixels(run, &of, x + (first + left * width->dilation) * channels, w + left * channels, pixels,
               y + column * channels);
  }
}

static void depthwise_active_run(const mslite_run *run, int32_t phase, int32_t part) {
  const micro_float_convolution *own = run->derived;
  const int32_t count = own->width.output * own->in_channels;
  depthwise_run(run, phase, part);
  mslite_apply_activation(own->activation, (float *)run->outputs[0] + part * count, count);
}

#define DEPTHWISE(function, way)                                    \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function) = { \
      .name = MSLITE_ISA_STRING(function),                          \
      .op = MSLITE_OP_Conv2DFusion,                                 \
      .isa = MSLITE_THIS_ISA,                                       \
      .derived_size = sizeof(micro_float_convolution),              \
      .support = way##_support,                                     \
      .prepare = micro_float_convolution_prepare,                   \
      .pack_size = depthwise_pack_size,                             \
      .pack = depthwise_pack,                                       \
      .run = way##_run,                                             \
      .lead = micro_float_convolution_lead,                         \
  };

DEPTHWISE(depthwise_f32, depthwise)
DEPTHWISE(depthwise_active_f32, depthwise_active)
