/* Reference convolution and transposed convolution of quantized integers: any group, dilation and padding, int8 and
 * int16 activations. The fast kernels are tested against it. */
#include <string.h>

#include "convolution/stored.h"

/* One part is one output row. The packed weight is the parameters of the channels, then weights [out, kh, kw, in /
 * group]. */
typedef struct {
  mslite_convolution geometry;
  mslite_stored_numbers numbers;
  bool transposed;
} conv2d_derived;

enum { NARROW_SUM = 256 }; /* products of int16 and int8 whose sum fits 32 bits */

static int32_t conv2d_int8_support(const mslite_node *node) {
  return mslite_quantized_convolution_fits(node, MSLITE_INT8);
}

static int32_t conv2d_int16_support(const mslite_node *node) {
  return mslite_quantized_convolution_fits(node, MSLITE_INT16);
}

static int64_t conv2d_pack_size(const mslite_node *node, int32_t input) {
  if (input != 1) return 0;
  return mslite_stored_channels(node) * (int64_t)sizeof(mslite_stored_channel) + mslite_element_count(node->inputs[1]);
}

static void conv2d_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  if (input != 1) return;
  const int64_t count = mslite_stored_channels(node);
  mslite_stored_channel *channels = packed;
  for (int64_t o = 0; o < count; ++o) {
    /* Member by member, so that padding bytes stay 0: generated C contains these bytes. */
    const mslite_stored_channel one = mslite_stored_channel_of(node, o);
    channels[o].bias = one.bias;
    channels[o].factor = one.factor;
    channels[o].weight_zero = one.weight_zero;
  }
  int8_t *to = (int8_t *)(channels + count);
  if (node->op != MSLITE_OP_Conv2dTransposeFusion) {
    memcpy(to, source, (size_t)mslite_element_count(node->inputs[1]));
    return;
  }
  /* [in, taps, out / group] -> [out, taps, in / group] */
  const int64_t *dims = node->inputs[1]->dims;
  const int64_t taps = dims[1] * dims[2], group_out = dims[3], group_in = dims[0] * group_out / count;
  for (int64_t o = 0; o < count; ++o) {
    const int8_t *from = (const int8_t *)source + o / group_out * group_in * taps * group_out + o % group_out;
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t i = 0; i < group_in; ++i) *to++ = from[(i * taps + tap) * group_out];
    }
  }
}

static mslite_status conv2d_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  conv2d_derived *own = derived;
  const mslite_status status = mslite_convolution_of(node, &own->geometry);
  if (status != MSLITE_OK) return status;
  own->numbers = mslite_stored_numbers_of(node);
  own->transposed = node->op == MSLITE_OP_Conv2dTransposeFusion;
  const int64_t rows = own->geometry.batch * own->geometry.height.output;
  if (rows > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)rows;
  return MSLITE_OK;
}

/* Returns the input position that tap `tap` of output position `at` reads, or -1. */
static int64_t source_of(const mslite_axis *axis, int64_t at, int64_t tap, bool transposed) {
  int64_t source = at * axis->stride - axis->pad_before + tap * axis->dilation;
  if (transposed) {
    const int64_t distance = at + axis->pad_before - tap * axis->dilation;
    source = distance % axis->stride == 0 ? distance / axis->stride : -1;
  }
  return source >= 0 && source < axis->input ? source : -1;
}

static int64_t dot_int8(const int8_t *x, int32_t x_zero, const int8_t *w, int32_t w_zero, int64_t count) {
  uint32_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += (uint32_t)((x[i] - x_zero) * (w[i] - w_zero));
  return (int32_t)sum;
}

/* int16 activations have no zero point in TensorFlow Lite; other files may have one. */
static int64_t dot_int16(const int16_t *x, int32_t x_zero, const int8_t *w, int32_t w_zero, int64_t count) {
  int64_t sum = 0;
  if (x_zero != 0 || w_zero != 0) {
    for (int64_t i = 0; i < count; ++i) sum += (int64_t)(x[i] - x_zero) * (w[i] - w_zero);
    return sum;
  }
  for (int64_t i = 0; i < count;) {
    const int64_t end = i + NARROW_SUM < count ? i + NARROW_SUM : count;
    int32_t block = 0;
    for (; i < end; ++i) block += x[i] * w[i];
    sum += block;
  }
  return sum;
}

#define CONV2D_RUN(suffix, type)                                                                              \
  static void conv2d_##suffix##_run(const mslite_run *run, int32_t phase, int32_t part) {                     \
    (void)phase;                                                                                              \
    const conv2d_derived *own = run->derived;                                                                 \
    const mslite_convolution *g = &own->geometry;                                                             \
    const int64_t image = part / g->height.output, oy = part % g->height.output, taps = g->width.kernel;      \
    const type *x = (const type *)run->inputs[0] + image * g->height.input * g->width.input * g->in_channels; \
    const mslite_stored_channel *channels = run->inputs[1];                                                   \
    const int8_t *weights = (const int8_t *)(channels + g->out_channels);                                     \
    type *y = (type *)run->outputs[0] + (int64_t)part * g->width.output * g->out_channels;                    \
    for (int64_t ox = 0; ox < g->width.output; ++ox) {                                                        \
      for (int64_t o = 0; o < g->out_channels; ++o) {                                                         \
        const int8_t *w = weights + o * g->height.kernel * taps * g->group_in;                                \
        const int64_t first = o / g->group_out * g->group_in;                                                 \
        int64_t sum = 0;                                                                                      \
        for (int64_t ky = 0; ky < g->height.kernel; ++ky) {                                                   \
          const int64_t iy = source_of(&g->height, oy, ky, own->transposed);                                  \
          for (int64_t kx = 0; iy >= 0 && kx < taps; ++kx) {                                                  \
            const int64_t ix = source_of(&g->width, ox, kx, own->transposed);                                 \
            if (ix < 0) continue;                                                                             \
            sum += dot_##suffix(x + (iy * g->width.input + ix) * g->in_channels + first, own->numbers.x_zero, \
                                w + (ky * taps + kx) * g->group_in, channels[o].weight_zero, g->group_in);    \
          }                                                                                                   \
        }                                                                                                     \
        y[ox * g->out_channels + o] = (type)mslite_stored_result(&own->numbers, &channels[o], sum);           \
      }                                                                                                       \
    }                                                                                                         \
  }

CONV2D_RUN(int8, int8_t)
CONV2D_RUN(int16, int16_t)

#define CONV2D(function, suffix, operator)         \
  const mslite_kernel mslite_kernel_##function = { \
      .name = #function,                           \
      .op = MSLITE_OP_##operator,                  \
      .isa = MSLITE_ISA_SCALAR,                    \
      .derived_size = sizeof(conv2d_derived),      \
      .support = conv2d_##suffix##_support,        \
      .prepare = conv2d_prepare,                   \
      .pack_size = conv2d_pack_size,               \
      .pack = conv2d_pack,                         \
      .run = conv2d_##suffix##_run,                \
      .quantized = 1,                              \
  };

CONV2D(conv2d_int8, int8, Conv2DFusion)
CONV2D(conv2d_int16, int16, Conv2DFusion)
CONV2D(conv2d_transpose_int8, int8, Conv2dTransposeFusion)
CONV2D(conv2d_transpose_int16, int16, Conv2dTransposeFusion)
