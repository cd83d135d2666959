/* Shape rules of signal processing. */
#include <string.h>

#include "shape/shape.h"

/* Sets the shape of x with `last` elements in the last dimension. */
static mslite_status with_last(mslite_shape_context *context, const mslite_tensor *x, int32_t least, int64_t last,
                               mslite_tensor *y) {
  y->rank = x->rank;
  if (x->rank < 0) return MSLITE_OK;
  if (x->rank < least)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "x has %d dimensions, but needs at least %d", (int)x->rank,
                             (int)least);
  memcpy(y->dims, x->dims, sizeof x->dims);
  y->dims[x->rank - 1] = last;
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_rfft) {
  (void)input_count, (void)output_count;
  const int64_t length = ((const mslite_Rfft *)params)->fft_length;
  outputs[0]->type = MSLITE_COMPLEX64;
  if (length < 1 || length > INT32_MAX)
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "fft_length %lld is invalid", (long long)length);
  return with_last(context, inputs[0], 1, length / 2 + 1, outputs[0]);
}

MSLITE_SHAPE_RULE(mslite_shape_of_rfft2d) {
  (void)input_count, (void)output_count;
  const mslite_Rfft2D *attributes = params;
  const int64_t height = attributes->fft_height, width = attributes->fft_width;
  outputs[0]->type = MSLITE_COMPLEX64;
  if (height < 1 || width < 1 || height > INT32_MAX || width > INT32_MAX)
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "fft_length %lld by %lld is invalid", (long long)height,
                             (long long)width);
  const mslite_status status = with_last(context, inputs[0], 2, width / 2 + 1, outputs[0]);
  if (status == MSLITE_OK && outputs[0]->rank >= 2) outputs[0]->dims[outputs[0]->rank - 2] = height;
  return status;
}

MSLITE_SHAPE_RULE(mslite_shape_of_complex_part) {
  (void)params, (void)input_count, (void)output_count;
  mslite_same_shape(inputs[0], outputs[0]);
  outputs[0]->type = MSLITE_FLOAT32;
  if (inputs[0]->type != MSLITE_COMPLEX64)
    return mslite_shape_fail(context, MSLITE_ERROR_TYPE, "x is not of type complex64");
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_audio_spectrogram) {
  (void)input_count, (void)output_count;
  const mslite_AudioSpectrogram *attributes = params;
  const mslite_tensor *x = inputs[0];
  mslite_tensor *y = outputs[0];
  y->type = x->type;
  y->rank = 3;
  if (attributes->window_size < 2 || attributes->window_size > 1 << 24 || attributes->stride < 1)
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "a window of %lld with a stride of %lld is invalid",
                             (long long)attributes->window_size, (long long)attributes->stride);
  if (x->rank >= 0 && x->rank != 2)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "x has %d dimensions, but must be [samples, channels]",
                             (int)x->rank);
  int64_t length = 2;
  while (length < attributes->window_size) length *= 2;
  y->dims[0] = x->rank < 0 ? mslite_new_symbol(context) : x->dims[1];
  y->dims[2] = length / 2 + 1;
  if (x->rank < 0 || mslite_is_symbol(x->dims[0])) {
    y->dims[1] = mslite_new_symbol(context);
  } else {
    const int64_t left = x->dims[0] - attributes->window_size;
    y->dims[1] = left < 0 ? 0 : 1 + left / attributes->stride;
  }
  return MSLITE_OK;
}

MSLITE_SHAPE_RULE(mslite_shape_of_mfcc) {
  (void)input_count, (void)output_count;
  const int64_t count = ((const mslite_Mfcc *)params)->dct_coeff_num;
  outputs[0]->type = inputs[0]->type;
  if (count < 1)
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "%lld coefficients are invalid", (long long)count);
  if (inputs[0]->rank > 3)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "the spectrogram must have 3 dimensions");
  return with_last(context, inputs[0], 3, count, outputs[0]);
}
