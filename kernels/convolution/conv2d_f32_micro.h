/* Shared by the float32 convolutions on microcontrollers: their parameters, and which taps of a window are inside of
 * the image. One part is one row of the output. */
#ifndef MSLITE_CONV2D_F32_MICRO_H
#define MSLITE_CONV2D_F32_MICRO_H

#include "convolution/geometry.h"
#include "matmul/product_f32_micro.h"

typedef struct {
  int32_t input, output, kernel, stride, dilation, pad;
} micro_float_axis;

typedef struct {
  micro_float_axis height, width;
  int32_t in_channels, out_channels;
  int32_t groups, group_in, group_out;
  int32_t has_bias, has_residual;
  int32_t activation; /* an activation other than a clamp, or MSLITE_ACTIVATION_TYPE_NO_ACTIVATION */
  float low, high;
} micro_float_convolution;

/* Returns whether the parameters of an axis are small enough. */
#define micro_float_axis_fits MSLITE_ISA_NAME(mslite_micro_float_axis_fits)
bool micro_float_axis_fits(const mslite_axis *axis);

#define micro_float_axis_of MSLITE_ISA_NAME(mslite_micro_float_axis_of)
micro_float_axis micro_float_axis_of(const mslite_axis *axis);

/* Returns `lead` in bytes for kernels whose parts each write one row of `y_row` floats and read no row of x above
 * their window. */
#define micro_float_rows_lead MSLITE_ISA_NAME(mslite_micro_float_rows_lead)
int64_t micro_float_rows_lead(const micro_float_axis *height, int64_t images, int64_t x_row, int64_t y_row);

/* Returns whether the node is a float32 convolution whose parameters fit the struct above. */
#define micro_float_convolution_is_small MSLITE_ISA_NAME(mslite_micro_float_convolution_is_small)
bool micro_float_convolution_is_small(const mslite_node *node, mslite_convolution *geometry);

/* As micro_float_convolution_is_small, with a constant weight. */
#define micro_float_convolution_fits MSLITE_ISA_NAME(mslite_micro_float_convolution_fits)
bool micro_float_convolution_fits(const mslite_node *node, mslite_convolution *geometry);

#define micro_float_convolution_prepare MSLITE_ISA_NAME(mslite_micro_float_convolution_prepare)
mslite_status micro_float_convolution_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule);

#define micro_float_convolution_lead MSLITE_ISA_NAME(mslite_micro_float_convolution_lead)
int64_t micro_float_convolution_lead(const mslite_node *node, const void *derived, int32_t input);

/* Finds the taps [begin, end) inside of the image, for a window whose first tap is at `first`. */
MICRO_INLINE void micro_float_taps(const micro_float_axis *axis, int32_t first, int32_t *begin, int32_t *end) {
  int32_t from = 0, to = axis->kernel;
  while (from < to && first + from * axis->dilation < 0) ++from;
  while (from < to && first + (to - 1) * axis->dilation >= axis->input) --to;
  *begin = from;
  *end = to;
}

/* Returns how many pixels from `column` on are computed together, where the window begins at `first`:
 * MICRO_FLOAT_PIXELS if all their windows are complete, otherwise 1. Sets the taps [begin, end) that are inside. */
MICRO_INLINE int32_t micro_float_pixels(const micro_float_axis *axis, int32_t column, int32_t first, int32_t *begin,
                                        int32_t *end) {
  int32_t from, to;
  micro_float_taps(axis, first, begin, end);
  if (MICRO_FLOAT_PIXELS == 1 || column + MICRO_FLOAT_PIXELS > axis->output || *end - *begin != axis->kernel) return 1;
  micro_float_taps(axis, first + (MICRO_FLOAT_PIXELS - 1) * axis->stride, &from, &to);
  return to - from == axis->kernel ? MICRO_FLOAT_PIXELS : 1;
}

#endif
