/* The windows of a convolution of 8-bit integers on microcontrollers: any kernel, stride, dilation and padding, one
 * group. Output pixels are in row-major order; a window is gathered unless it is a single pixel of x. */
#ifndef MSLITE_WINDOW_MICRO_H
#define MSLITE_WINDOW_MICRO_H

#include "convolution/geometry.h"
#include "simd/micro.h"

typedef struct {
  int32_t pixels; /* in all images */
  int32_t window; /* bytes of the gathered window; 0: read in place */
  int16_t in_height, in_width, in_channels, out_height, out_width;
  int16_t kernel_height, stride_height, dilation_height, pad_top;
  int16_t kernel_width, stride_width, dilation_width, pad_left;
  /* Complete windows have their first taps below these limits; 0 if taps are not contiguous. */
  int16_t whole_rows, whole_columns;
  int32_t row_bytes; /* of the taps of one row */
  int32_t row_step;  /* distance between rows of taps */
} micro_windows;

static inline bool micro_is_short(int64_t value) { return value >= INT16_MIN && value <= INT16_MAX; }

static inline bool micro_axis_is_short(const mslite_axis *axis) {
  return micro_is_short(axis->input) && micro_is_short(axis->output) && micro_is_short(axis->kernel) &&
         micro_is_short(axis->stride) && micro_is_short(axis->dilation) && micro_is_short(axis->pad_before) &&
         micro_is_short(axis->output * axis->stride + axis->kernel * axis->dilation);
}

/* Returns MSLITE_ERROR_UNSUPPORTED if a parameter does not fit. */
static inline mslite_status micro_windows_of(const mslite_convolution *g, micro_windows *to) {
  const int64_t pixels = g->batch * g->height.output * g->width.output;
  const int64_t terms = g->height.kernel * g->width.kernel * g->in_channels;
  if (!micro_axis_is_short(&g->height) || !micro_axis_is_short(&g->width) || !micro_is_short(g->in_channels) ||
      !micro_is_short(g->out_channels) || !micro_is_short(g->batch) || pixels * g->out_channels > INT32_MAX ||
      terms > INT32_MAX / 16 || g->batch * g->height.input * g->width.input * g->in_channels > INT32_MAX ||
      g->height.dilation * g->width.input * g->in_channels > INT32_MAX ||
      g->width.stride * g->in_channels > INT32_MAX) {
    return MSLITE_ERROR_UNSUPPORTED;
  }
  to->pixels = (int32_t)pixels;
  to->in_height = (int16_t)g->height.input;
  to->in_width = (int16_t)g->width.input;
  to->in_channels = (int16_t)g->in_channels;
  to->out_height = (int16_t)g->height.output;
  to->out_width = (int16_t)g->width.output;
  to->kernel_height = (int16_t)g->height.kernel;
  to->stride_height = (int16_t)g->height.stride;
  to->dilation_height = (int16_t)g->height.dilation;
  to->pad_top = (int16_t)g->height.pad_before;
  to->kernel_width = (int16_t)g->width.kernel;
  to->stride_width = (int16_t)g->width.stride;
  to->dilation_width = (int16_t)g->width.dilation;
  to->pad_left = (int16_t)g->width.pad_before;
  to->row_bytes = (int32_t)(g->width.kernel * g->in_channels);
  to->row_step = (int32_t)(g->height.dilation * g->width.input * g->in_channels);
  const int64_t whole_rows = g->height.input - mslite_axis_span(&g->height) + 1;
  const int64_t whole_columns = g->width.dilation == 1 ? g->width.input - g->width.kernel + 1 : 0;
  to->whole_rows = (int16_t)(whole_rows > 0 ? whole_rows : 0);
  to->whole_columns = (int16_t)(whole_columns > 0 ? whole_columns : 0);
  const bool is_pixel = g->height.kernel == 1 && g->width.kernel == 1 && g->height.pad_before <= 0 &&
                        g->height.pad_after <= 0 && g->width.pad_before <= 0 && g->width.pad_after <= 0;
  to->window = is_pixel ? 0 : (int32_t)terms;
  return MSLITE_OK;
}

/* Gathers the window whose first tap is at row `y` and column `x` of the image; padding is the zero point. */
MICRO_SHARED void micro_gather(const micro_windows *own, const int8_t *image, int32_t zero, int32_t y, int32_t x,
                               int8_t *to) {
  const int32_t channels = own->in_channels, columns = own->in_width;
  if ((uint32_t)y < (uint32_t)own->whole_rows && (uint32_t)x < (uint32_t)own->whole_columns) {
    micro_copy_rows(to, own->row_bytes, image + (y * columns + x) * channels, own->row_step, own->row_bytes,
                    own->kernel_height);
    return;
  }
  const micro_span down = micro_taps_inside(y, own->kernel_height, own->dilation_height, own->in_height);
  const micro_span across = micro_taps_inside(x, own->kernel_width, own->dilation_width, columns);
  micro_fill(to, zero, own->window);
  if (down.begin == down.end) return;
  /* Contiguous taps are copied together. */
  const int32_t taps = own->dilation_width == 1 ? across.end - across.begin : 1;
  const int32_t row = y + down.begin * own->dilation_height;
  to += down.begin * own->row_bytes;
  for (int32_t tap = across.begin; tap < across.end; tap += taps) {
    const int8_t *from = image + (row * columns + x + tap * own->dilation_width) * channels;
    micro_copy_rows(to + tap * channels, own->row_bytes, from, own->row_step, taps * channels, down.end - down.begin);
  }
}

/* The next window: its image, and the position of its first tap. */
typedef struct {
  const int8_t *image;
  int32_t row, column;
  int32_t left, columns; /* rows of the image, and columns of the row, that remain */
} micro_window_at;

MICRO_INLINE micro_window_at micro_first_window(const micro_windows *own, const int8_t *x) {
  const micro_window_at at = {x, -own->pad_top, -own->pad_left, own->out_height, own->out_width};
  return at;
}

/* Returns whether the next window is the first one of an image. */
MICRO_INLINE bool micro_next_window(const micro_windows *own, micro_window_at *at) {
  at->column += own->stride_width;
  if (--at->columns != 0) return false;
  at->columns = own->out_width;
  at->column = -own->pad_left;
  at->row += own->stride_height;
  if (--at->left != 0) return false;
  at->left = own->out_height;
  at->row = -own->pad_top;
  at->image += own->in_height * own->in_width * own->in_channels;
  return true;
}

#endif
