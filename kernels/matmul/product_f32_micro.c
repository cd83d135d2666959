#include "matmul/product_f32_micro.h"

void micro_float_pack(const float *w, int64_t channels, int64_t terms, int64_t channel_step, int64_t term_step,
                      float *packed) {
  for (int64_t first = 0; first < channels; first += 4) {
    const int64_t end = first + 4 < channels ? first + 4 : channels;
    for (int64_t k = 0; k < terms; ++k) {
      for (int64_t c = first; c < end; ++c) *packed++ = w[c * channel_step + k * term_step];
    }
  }
}

bool micro_float_limits(int32_t activation, float *low, float *high) {
  *low = -INFINITY;
  *high = INFINITY;
  switch (activation) {
    case MSLITE_ACTIVATION_TYPE_NO_ACTIVATION:
      return true;
    case MSLITE_ACTIVATION_TYPE_RELU:
      *low = 0.0F;
      return true;
    case MSLITE_ACTIVATION_TYPE_RELU6:
      *low = 0.0F;
      *high = 6.0F;
      return true;
    case MSLITE_ACTIVATION_TYPE_RELU1:
      *low = -1.0F;
      *high = 1.0F;
      return true;
    default:
      return false;
  }
}

/* Sums begin with the bias and add term by term, like the float32 GEMM: if both use fused multiply-add, and the GEMM
 * does not split the sums, the results have the same bits. */
MICRO_INLINE micro_f32x4 first_sums(const micro_float_tile *t, int32_t c, int32_t width) {
  return t->bias != NULL ? micro_load_first_f32x4(t->bias + c, width) : micro_set_f32x4(0.0F);
}

/* Writes the first `width` results of one pixel, beginning at channel `c`. */
MICRO_SHARED void finish(const micro_float_tile *t, int32_t pixel, int32_t c, int32_t width, micro_f32x4 sum) {
  const int32_t at = pixel * t->y_step + c;
  if (t->residual != NULL) sum = micro_add_f32x4(sum, micro_load_first_f32x4(t->residual + at, width));
  micro_store_first_f32x4(t->y + at, micro_clamp_f32x4(sum, t->low, t->high), width);
}

/* Computes one channel of one pixel. */
MICRO_SHARED float one_channel(const micro_float_tile *t, const float *w, int32_t w_step, const float *x_row,
                               float sum) {
  for (int32_t ky = t->rows; ky > 0; --ky, w += t->w_row * w_step, x_row += t->x_row) {
    const float *x_tap = x_row, *weight = w;
    for (int32_t kx = t->taps; kx > 0; --kx, x_tap += t->x_tap) {
      const float *x = x_tap;
      for (int32_t k = t->length; k > 0; --k, weight += w_step) sum = micro_fma(*weight, *x++, sum);
    }
  }
  return sum;
}

/* Computes four channels of one pixel. */
MICRO_SHARED micro_f32x4 four_channels(const micro_float_tile *t, const float *w, int32_t w_step, const float *x_row,
                                       micro_f32x4 sum) {
  for (int32_t ky = t->rows; ky > 0; --ky, w += t->w_row * w_step, x_row += t->x_row) {
    const float *x_tap = x_row, *weight = w;
    for (int32_t kx = t->taps; kx > 0; --kx, x_tap += t->x_tap) {
      const float *x = x_tap;
      for (int32_t k = t->length; k > 0; --k, weight += w_step) {
        sum = micro_fma_n_f32x4(micro_load_f32x4(weight), *x++, sum);
      }
    }
  }
  return sum;
}

#if MICRO_DSP
/* Computes four channels of four pixels. */
MICRO_SHARED void four_pixels(const micro_float_tile *t, const float *w, int32_t w_step, int32_t c) {
  micro_f32x4 sum0 = first_sums(t, c, 4), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  const float *x_row = t->x;
  for (int32_t ky = t->rows; ky > 0; --ky, w += t->w_row * w_step, x_row += t->x_row) {
    const float *x_tap = x_row, *weight = w;
    for (int32_t kx = t->taps; kx > 0; --kx, x_tap += t->x_tap) {
      const float *x0 = x_tap, *x1 = x0 + t->x_step, *x2 = x1 + t->x_step, *x3 = x2 + t->x_step;
      for (int32_t k = t->length; k > 0; --k, weight += w_step) {
        const micro_f32x4 four = micro_load_f32x4(weight);
        sum0 = micro_fma_n_f32x4(four, *x0++, sum0);
        sum1 = micro_fma_n_f32x4(four, *x1++, sum1);
        sum2 = micro_fma_n_f32x4(four, *x2++, sum2);
        sum3 = micro_fma_n_f32x4(four, *x3++, sum3);
      }
    }
  }
  finish(t, 0, c, 4, sum0);
  finish(t, 1, c, 4, sum1);
  finish(t, 2, c, 4, sum2);
  finish(t, 3, c, 4, sum3);
}
#endif

void micro_float_products(const micro_float_tile *t) {
  for (int32_t c = 0; c < t->channels; c += 4) {
    const int32_t rest = t->channels - c, width = rest < 4 ? rest : 4;
    const int32_t w_step = t->w_step != 0 ? t->w_step : width;
    const float *w = t->w + (t->w_step != 0 ? c : c * t->terms) + t->w_first * w_step;
#if MICRO_DSP
    if (width == 4 && t->pixels == 4) {
      four_pixels(t, w, w_step, c);
      continue;
    }
#endif
    for (int32_t pixel = 0; pixel < t->pixels; ++pixel) {
      const float *x = t->x + pixel * t->x_step;
      if (width == 4) {
        finish(t, pixel, c, width, four_channels(t, w, w_step, x, first_sums(t, c, 4)));
        continue;
      }
      float sums[4] = {0};
      for (int32_t i = 0; i < width; ++i) {
        sums[i] = one_channel(t, w + i, w_step, x, t->bias != NULL ? t->bias[c + i] : 0.0F);
      }
      finish(t, pixel, c, width, micro_load_f32x4(sums));
    }
  }
}
