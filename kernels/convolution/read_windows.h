/* Reads windows of a convolution in place, from x or from its padded copy: a window consists of `pieces` pieces of
 * `piece` contiguous elements, at the same offsets in every window. For `_vector.c` files. */
#ifndef MSLITE_CONVOLUTION_READ_WINDOWS_H
#define MSLITE_CONVOLUTION_READ_WINDOWS_H

#include "convolution/padded.h"
#include "simd/simd.h"

typedef struct {
  int64_t piece;
  int64_t pieces;
} window_pieces;

/* A row of taps is one piece if the taps are contiguous. */
SIMD_INLINE window_pieces window_pieces_of(const mslite_convolution *g) {
  const bool joined = g->width.dilation == 1 && g->group == 1;
  const window_pieces found = {joined ? g->width.kernel * g->group_in : g->group_in,
                               joined ? g->height.kernel : g->height.kernel * g->width.kernel};
  return found;
}

/* Returns the offset of piece `piece` of a window. */
SIMD_INLINE int64_t window_offset(const mslite_convolution *g, const mslite_padded *padded, window_pieces window,
                                  int64_t piece) {
  const int64_t per_row = window.pieces / g->height.kernel;
  return piece / per_row * g->height.dilation * padded->row + piece % per_row * g->width.dilation * g->in_channels;
}

/* Finds the pointers to the windows of output pixels [row, row + count), counted over all images. */
SIMD_INLINE void find_windows(const mslite_convolution *g, const mslite_padded *padded, const simd_real *x, int64_t row,
                              int64_t count, const simd_real **windows) {
  const int64_t plane = g->height.output * g->width.output;
  int64_t image = row / plane, oy = row % plane / g->width.output, ox = row % g->width.output;
  const int64_t across = g->width.stride * g->in_channels, down = g->height.stride * padded->row;
  for (int64_t r = 0; r < count;) {
    const int64_t left = g->width.output - ox, end = r + left < count ? r + left : count;
    const simd_real *window = x + image * padded->image + oy * down + ox * across;
    for (; r < end; ++r, window += across) windows[r] = window;
    ox = 0;
    if (++oy == g->height.output) {
      oy = 0;
      ++image;
    }
  }
}

#endif
