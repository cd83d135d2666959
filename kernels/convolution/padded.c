/* Copies an input to its padded form. */
#include "convolution/padded.h"

#include <string.h>

enum { PART_NUMBERS = 1 << 15 };

static int64_t covered(const mslite_axis *axis) { return (axis->output - 1) * axis->stride + mslite_axis_span(axis); }

static bool inside(const mslite_axis *axis) {
  return axis->pad_before <= 0 && covered(axis) - axis->pad_before <= axis->input;
}

void mslite_plan_padded(const mslite_convolution *g, mslite_padded *padded) {
  padded->copied = !inside(&g->height) || !inside(&g->width);
  padded->height = padded->copied ? covered(&g->height) : g->height.input;
  padded->width = padded->copied ? covered(&g->width) : g->width.input;
  padded->row = padded->width * g->in_channels;
  padded->image = padded->height * padded->row;
  padded->first = padded->copied ? 0 : (-g->height.pad_before * g->width.input - g->width.pad_before) * g->in_channels;
}

static void pad_row(const mslite_convolution *g, const mslite_padded *padded, const void *x, int64_t row, size_t size,
                    void *to) {
  char *target = to;
  const int64_t image = row / padded->height, y = row % padded->height - g->height.pad_before;
  if (y < 0 || y >= g->height.input) {
    memset(target, 0, (size_t)padded->row * size);
    return;
  }
  /* All windows may be in the padding, or begin after the input. */
  int64_t before = g->width.pad_before > 0 ? g->width.pad_before : 0;
  if (before > padded->width) before = padded->width;
  const int64_t skipped = g->width.pad_before < 0 ? -g->width.pad_before : 0;
  int64_t columns = g->width.input - skipped;
  if (columns > padded->width - before) columns = padded->width - before;
  if (columns < 0) columns = 0;
  const int64_t from = ((image * g->height.input + y) * g->width.input + skipped) * g->in_channels;
  const size_t left = (size_t)(before * g->in_channels) * size, middle = (size_t)(columns * g->in_channels) * size;
  memset(target, 0, left);
  memcpy(target + left, (const char *)x + (size_t)from * size, middle);
  memset(target + left + middle, 0, (size_t)padded->row * size - left - middle);
}

static int64_t rows_of_part(const mslite_padded *padded) { return PART_NUMBERS / padded->row + 1; }

int64_t mslite_padded_parts(const mslite_convolution *g, const mslite_padded *padded) {
  const int64_t rows = rows_of_part(padded);
  return (g->batch * padded->height + rows - 1) / rows;
}

void mslite_pad_part(const mslite_convolution *g, const mslite_padded *padded, const void *x, size_t size, int64_t part,
                     void *to) {
  const int64_t all = g->batch * padded->height, first = part * rows_of_part(padded);
  for (int64_t row = first; row < first + rows_of_part(padded) && row < all; ++row) {
    pad_row(g, padded, x, row, size, (char *)to + (size_t)(row * padded->row) * size);
  }
}
