/* Copies the windows of a convolution into rows: row r is the window of output pixel r, ordered [ky][kx][channel]. */
#ifndef MSLITE_CONVOLUTION_GATHER_H
#define MSLITE_CONVOLUTION_GATHER_H

#include "convolution/geometry.h"
#include "simd/simd.h"

SIMD_INLINE void gather_copy(float *to, const float *from, int64_t count) {
  int64_t i = 0;
  if (count >= SIMD_WIDTH) {
    for (; i + SIMD_WIDTH <= count; i += SIMD_WIDTH) simd_store(to + i, simd_load(from + i));
    if (i < count) simd_store(to + count - SIMD_WIDTH, simd_load(from + count - SIMD_WIDTH));
  } else {
    for (; i < count; ++i) to[i] = from[i];
  }
}

SIMD_INLINE void gather_zero(float *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = 0.0f;
}

/* Entries [begin, begin + count) of the window at (oy, ox); `x` is the image at the group's first channel. */
static inline void gather_window(const mslite_convolution *g, const float *x, int64_t oy, int64_t ox, int64_t begin,
                                 int64_t count, float *to) {
  const int64_t iy = oy * g->height.stride - g->height.pad_before;
  const int64_t ix = ox * g->width.stride - g->width.pad_before;
  const int64_t last_x = ix + (g->width.kernel - 1) * g->width.dilation;
  /* Where all taps of a kernel row are inside and neighbours, the row is one piece. */
  const bool joined = g->width.dilation == 1 && g->group == 1 && ix >= 0 && last_x < g->width.input;
  const int64_t piece = joined ? g->width.kernel * g->group_in : g->group_in;
  const int64_t pieces_per_row = joined ? 1 : g->width.kernel;
  int64_t at = begin / piece, offset = begin % piece;
  while (count > 0) {
    const int64_t part = piece - offset < count ? piece - offset : count;
    const int64_t y = iy + at / pieces_per_row * g->height.dilation;
    const int64_t column = ix + at % pieces_per_row * g->width.dilation;
    if (y >= 0 && y < g->height.input && column >= 0 && column < g->width.input) {
      gather_copy(to, x + (y * g->width.input + column) * g->in_channels + offset, part);
    } else {
      gather_zero(to, part);
    }
    to += part;
    count -= part;
    offset = 0;
    ++at;
  }
}

/* Rows [first, first + rows) of all output pixels, entries [begin, begin + count) of each, `count` floats apart. */
static inline void gather_rows(const mslite_convolution *g, const float *x, int64_t first, int64_t rows, int64_t begin,
                               int64_t count, float *to) {
  const int64_t plane = g->height.output * g->width.output;
  int64_t image = first / plane, oy = first % plane / g->width.output, ox = first % g->width.output;
  for (int64_t r = 0; r < rows; ++r, to += count) {
    gather_window(g, x + image * g->height.input * g->width.input * g->in_channels, oy, ox, begin, count, to);
    if (++ox == g->width.output) {
      ox = 0;
      if (++oy == g->height.output) {
        oy = 0;
        ++image;
      }
    }
  }
}

#endif
