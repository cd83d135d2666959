/* Reference ConvInteger. Padding is the zero point of x, so taps outside of x add nothing. */
#include "convolution/conv_integer.h"

#include "movement.h"

typedef struct {
  mslite_convolution geometry;
  mslite_integer_operands operands;
} conv_integer_derived;

mslite_status mslite_conv_integer_operands(const mslite_node *node, const mslite_convolution *geometry,
                                           mslite_integer_operands *operands) {
  const int64_t channels = geometry->out_channels;
  const mslite_status status = mslite_integer_operands_of(node, channels, operands);
  if (status != MSLITE_OK) return status;
  const bool fits = (operands->a_zeros == 1 || operands->a_zeros == geometry->batch) &&
                    (operands->b_zeros == 1 || operands->b_zeros == channels);
  operands->a_rows = geometry->height.output * geometry->width.output;
  operands->scales_apart = operands->scales > 1;
  return fits ? MSLITE_OK : MSLITE_ERROR_SHAPE;
}

static mslite_status conv_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  conv_integer_derived *own = derived;
  mslite_status status = mslite_convolution_of(node, &own->geometry);
  if (status == MSLITE_OK) status = mslite_conv_integer_operands(node, &own->geometry, &own->operands);
  if (status != MSLITE_OK) return status;
  const int64_t rows = own->geometry.batch * own->geometry.height.output;
  if (rows > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)rows;
  return MSLITE_OK;
}

/* Finds the taps that are inside of the input: [*first, *last). */
static void taps_inside(const mslite_axis *axis, int64_t start, int64_t *first, int64_t *last) {
  *first = start >= 0 ? 0 : (-start + axis->dilation - 1) / axis->dilation;
  *last = axis->kernel;
  while (*last > *first && start + (*last - 1) * axis->dilation >= axis->input) --*last;
}

static void conv_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const conv_integer_derived *own = run->derived;
  const mslite_convolution *g = &own->geometry;
  const mslite_integer_operands *operands = &own->operands;
  const uint8_t a_flip = operands->a_flip, b_flip = operands->b_flip;
  const int64_t image = part / g->height.output, oy = part % g->height.output, taps = g->width.kernel;
  const int64_t x_at = operands->a_zeros > 1 ? image : 0;
  const int32_t x_zero = mslite_flipped_at(run->inputs[MSLITE_A_ZERO], x_at, a_flip);
  const uint8_t *x = (const uint8_t *)run->inputs[MSLITE_A] + image * g->height.input * g->width.input * g->in_channels;
  const int64_t iy = oy * g->height.stride - g->height.pad_before;
  int64_t first_y, last_y, first_x, last_x;
  taps_inside(&g->height, iy, &first_y, &last_y);
  for (int64_t ox = 0; ox < g->width.output; ++ox) {
    const int64_t ix = ox * g->width.stride - g->width.pad_before;
    taps_inside(&g->width, ix, &first_x, &last_x);
    for (int64_t o = 0; o < g->out_channels; ++o) {
      const uint8_t *w = (const uint8_t *)run->inputs[MSLITE_B] + o * g->height.kernel * taps * g->group_in;
      const int32_t w_zero = mslite_flipped_at(run->inputs[MSLITE_B_ZERO], operands->b_zeros > 1 ? o : 0, b_flip);
      uint32_t sum = 0;
      for (int64_t ky = first_y; ky < last_y; ++ky) {
        for (int64_t kx = first_x; kx < last_x; ++kx) {
          const int64_t pixel = (iy + ky * g->height.dilation) * g->width.input + ix + kx * g->width.dilation;
          const uint8_t *values = x + pixel * g->in_channels + o / g->group_out * g->group_in;
          const uint8_t *weights = w + (ky * taps + kx) * g->group_in;
          for (int64_t i = 0; i < g->group_in; ++i) {
            sum += (uint32_t)(((int8_t)(values[i] ^ a_flip) - x_zero) * ((int8_t)(weights[i] ^ b_flip) - w_zero));
          }
        }
      }
      const int64_t at = ((int64_t)part * g->width.output + ox) * g->out_channels + o;
      mslite_integer_store(run, operands, (int32_t)sum, x_at, o, at);
    }
  }
}

MSLITE_MOVEMENT_KERNEL(conv_integer, ConvInteger, conv_integer_derived, mslite_integer_matmul_support, conv_prepare,
                       conv_run, NULL)
