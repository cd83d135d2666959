/* The gradient of a convolution for its weight as GEMMs: rows are output channels, columns the window
 * [ky][kx][channel], and the sum is over the output pixels of all images. If windows extend beyond the edge, a first
 * phase copies x with its padding; otherwise both operands are read in place.
 *
 * Sums of a step are added to those of the previous steps, which keeps sums over many pixels accurate. Few channels
 * give few panels: then the pixels are divided, too, each piece has its own gradient, and a last phase adds them. */
#include "convolution/gradient.h"
#include "convolution/read_windows.h"
#include "training/outer.h"

enum {
  SMALLEST_PART = 1 << 18, /* multiply-accumulates */
  MAX_PARTS = 16,
  MAX_PIECES_OF_PIXELS = 8,
  MAX_SUMS = 1 << 17, /* floats of the pieces' gradients */
  SUMS_OF_PART = 4096
};

typedef struct {
  mslite_convolution geometry;
  window_pieces window;
  int64_t pixels, columns;
  int64_t panels_of_piece;           /* panels per piece of a window */
  int64_t pieces_of_panel;           /* 1; more if pieces are so short that several fit: they are copied together */
  int64_t panels;                    /* per group */
  int64_t panel_block, panel_blocks; /* per group */
  int64_t piece, pieces;             /* of the pixels */
  int64_t count;                     /* floats of the gradient */
} filter_grad_derived;

static int32_t filter_grad_support(const mslite_node *node) {
  mslite_convolution g;
  return mslite_convolution_gradient_fits(node, &g) ? 2 : 0;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

static void plan_parts(filter_grad_derived *numbers) {
  const mslite_convolution *g = &numbers->geometry;
  const double work = (double)numbers->pixels * (double)numbers->count;
  const int64_t wanted =
      work >= (double)MAX_PARTS * (double)SMALLEST_PART ? MAX_PARTS : 1 + (int64_t)(work / (double)SMALLEST_PART);
  const int64_t together = numbers->window.piece > 0 ? OUTER_COLUMNS / numbers->window.piece : 0;
  numbers->pieces_of_panel = g->group == 1 && together > 1 ? smaller(together, numbers->window.pieces) : 1;
  numbers->panels_of_piece = divide_up(numbers->window.piece, OUTER_COLUMNS);
  numbers->panels = divide_up(numbers->window.pieces, numbers->pieces_of_panel) * numbers->panels_of_piece;
  int64_t most_pieces = smaller(MAX_PIECES_OF_PIXELS, numbers->pixels / (2 * OUTER_STEP));
  most_pieces = smaller(most_pieces, MAX_SUMS / numbers->count);
  int64_t pieces = smaller(divide_up(wanted, g->group), most_pieces);
  if (pieces < 1) pieces = 1;
  numbers->piece = numbers->pixels < 1 ? 1 : divide_up(numbers->pixels, pieces);
  numbers->pieces = numbers->pixels < 1 ? 1 : divide_up(numbers->pixels, numbers->piece);
  const int64_t panel_blocks = smaller(divide_up(wanted, g->group * numbers->pieces), numbers->panels);
  numbers->panel_block = divide_up(numbers->panels, panel_blocks);
  numbers->panel_blocks = divide_up(numbers->panels, numbers->panel_block);
}

static mslite_status filter_grad_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  filter_grad_derived *numbers = derived;
  mslite_convolution *g = &numbers->geometry;
  const mslite_status status = mslite_convolution_gradient_of(node, g);
  if (status != MSLITE_OK) return status;
  numbers->pixels = g->batch * g->height.output * g->width.output;
  numbers->columns = g->height.kernel * g->width.kernel * g->group_in;
  numbers->count = g->out_channels * numbers->columns;
  numbers->window = window_pieces_of(g);
  plan_parts(numbers);
  const int64_t parts = numbers->panel_blocks * numbers->pieces;
  if (numbers->pixels > INT32_MAX || parts > INT32_MAX / g->group || numbers->count > INT32_MAX) {
    return MSLITE_ERROR_UNSUPPORTED;
  }
  schedule->phase_count = 0;
  schedule->part_count[schedule->phase_count++] = (int32_t)(parts * g->group);
  if (numbers->pieces > 1) {
    schedule->part_count[schedule->phase_count++] = (int32_t)divide_up(numbers->count, SUMS_OF_PART);
    schedule->shared_bytes = numbers->pieces * numbers->count * (int64_t)sizeof(float);
  }
  schedule->scratch_bytes = outer_scratch(g->group_out) * (int64_t)sizeof(float);
  return MSLITE_OK;
}

/* Returns the gradient of one piece of the pixels: in the output if there is only one. */
static float *gradient_of_piece(const mslite_run *run, const filter_grad_derived *numbers, int64_t piece) {
  if (numbers->pieces == 1) return run->outputs[0];
  return (float *)run->shared + piece * numbers->count;
}

/* Finds the panel of `columns` elements of the windows of pixels [pixel, pixel + count), which begin `inside`
 * elements after the beginning of the piece of taps `taps`. Elements outside of the image are zero. */
static void find_panel(const mslite_run *run, const filter_grad_derived *numbers, int64_t group, int64_t pixel,
                       int64_t count, int64_t taps, int64_t inside, int64_t columns, const bool copied,
                       const float **right) {
  static const float zeros[OUTER_COLUMNS] = {0};
  const mslite_convolution *g = &numbers->geometry;
  const float *x = run->inputs[1];
  float *copy = run->scratch;
  const int64_t row_floats = g->width.input * g->in_channels, per_row = numbers->window.pieces / g->height.kernel;
  const float *end = x + g->batch * g->height.input * row_floats;
  const int64_t plane = g->height.output * g->width.output, step = g->width.stride * g->in_channels;
  const int64_t first =
      (taps % per_row * g->width.dilation - g->width.pad_before) * g->in_channels + group * g->group_in + inside;
  int64_t image = pixel / plane, oy = pixel % plane / g->width.output, ox = pixel % g->width.output;
  for (int64_t i = 0; i < count; ox = 0) {
    const int64_t iy = oy * g->height.stride - g->height.pad_before + taps / per_row * g->height.dilation;
    const int64_t last = smaller(i + g->width.output - ox, count);
    const bool here = iy >= 0 && iy < g->height.input;
    const float *row = x + (here ? (image * g->height.input + iy) * row_floats : 0);
    for (int64_t at = first + ox * step; i < last; ++i, at += step, copy += OUTER_COLUMNS) {
      if (here && at >= 0 && at + columns <= row_floats) {
        right[i] = outer_line(row + at, columns, copied, end, copy);
        continue;
      }
      const int64_t from = at < 0 ? 0 : at, to = smaller(at + columns, row_floats);
      right[i] = zeros;
      if (!here || from >= to) continue;
      memset(copy, 0, OUTER_COLUMNS * sizeof *copy);
      memcpy(copy + (from - at), row + from, (size_t)(to - from) * sizeof *copy);
      right[i] = copy;
    }
    if (++oy == g->height.output) {
      oy = 0;
      ++image;
    }
  }
}

/* A piece of the windows of one row of output pixels. */
typedef struct {
  const float *row; /* of x; NULL: outside of the image */
  int64_t first;    /* its offset in the row for output column 0 */
} row_piece;

/* Copies the piece that begins at `at` in a row of x of `floats` floats; elements outside of the row are zero. */
static void copy_edge(const row_piece *piece, int64_t at, int64_t count, int64_t floats, float *copy) {
  const int64_t from = at < 0 ? 0 : at, to = smaller(at + count, floats);
  memset(copy, 0, (size_t)count * sizeof *copy);
  if (piece->row != NULL && from < to) {
    memcpy(copy + (from - at), piece->row + from, (size_t)(to - from) * sizeof *copy);
  }
}

/* find_panel for `pieces` short pieces beginning with piece `taps`, which are copied one after the other. */
static void join_panel(const mslite_run *run, const filter_grad_derived *numbers, int64_t pixel, int64_t count,
                       int64_t taps, int64_t pieces, const float **right) {
  const mslite_convolution *g = &numbers->geometry;
  const int64_t length = numbers->window.piece, step = g->width.stride * g->in_channels;
  const int64_t floats = g->width.input * g->in_channels, per_row = numbers->window.pieces / g->height.kernel;
  const float *x = run->inputs[1], *last_whole = x + g->batch * g->height.input * floats - SIMD_WIDTH;
  float *copy = run->scratch;
  const int64_t plane = g->height.output * g->width.output;
  int64_t image = pixel / plane, oy = pixel % plane / g->width.output, ox = pixel % g->width.output;
  for (int64_t i = 0; i < count; ox = 0) {
    row_piece row[OUTER_COLUMNS];
    for (int64_t p = 0; p < pieces; ++p) {
      const int64_t ky = (taps + p) / per_row, kx = (taps + p) % per_row;
      const int64_t iy = oy * g->height.stride - g->height.pad_before + ky * g->height.dilation;
      row[p].row = iy >= 0 && iy < g->height.input ? x + (image * g->height.input + iy) * floats : NULL;
      row[p].first = (kx * g->width.dilation - g->width.pad_before) * g->in_channels;
    }
    for (; ox < g->width.output && i < count; ++ox, ++i, copy += OUTER_COLUMNS) {
      right[i] = copy;
      for (int64_t p = 0; p < pieces; ++p) {
        const int64_t at = row[p].first + ox * step;
        float *to = copy + p * length;
        const bool inside = row[p].row != NULL && at >= 0 && at + length <= floats && row[p].row + at <= last_whole;
        /* The excess elements of a vector are overwritten by the next piece. */
        if (inside && length <= SIMD_WIDTH && (i + 1 < count || p * length <= OUTER_COLUMNS - SIMD_WIDTH)) {
          simd_store_f32(to, simd_load_f32(row[p].row + at));
        } else {
          copy_edge(&row[p], at, length, floats, to);
        }
      }
    }
    if (++oy == g->height.output) {
      oy = 0;
      ++image;
    }
  }
}

static void multiply_part(const mslite_run *run, const filter_grad_derived *numbers, int32_t part) {
  const mslite_convolution *g = &numbers->geometry;
  const int64_t first_panel = part % numbers->panel_blocks * numbers->panel_block;
  const int64_t last_panel = smaller(first_panel + numbers->panel_block, numbers->panels);
  const int64_t rest = part / numbers->panel_blocks, group = rest / numbers->pieces, piece = rest % numbers->pieces;
  const int64_t channel = group * g->group_out, last = smaller((piece + 1) * numbers->piece, numbers->pixels);
  float *gradient = gradient_of_piece(run, numbers, piece) + channel * numbers->columns;
  const float *right[OUTER_STEP];
  if (numbers->pixels == 0) memset(gradient, 0, (size_t)(g->group_out * numbers->columns) * sizeof *gradient);
  for (int64_t pixel = piece * numbers->piece; pixel < last; pixel += OUTER_STEP) {
    const int64_t count = smaller(OUTER_STEP, last - pixel);
    for (int64_t row = 0; row < g->group_out; row += OUTER_BLOCK) {
      const int64_t rows = smaller(OUTER_BLOCK, g->group_out - row);
      outer_block block = {
          .left = (const float *)run->inputs[0] + pixel * g->out_channels + channel + row,
          .left_step = g->out_channels,
          .right = right,
          .count = count,
          .c_step = numbers->columns,
          .adds = pixel > piece * numbers->piece,
      };
      outer_copy_left(&block, rows, (float *)run->scratch + OUTER_STEP * OUTER_COLUMNS);
      for (int64_t panel = first_panel; panel < last_panel; ++panel) {
        const int64_t taps = panel / numbers->panels_of_piece * numbers->pieces_of_panel;
        const int64_t inside = panel % numbers->panels_of_piece * OUTER_COLUMNS;
        block.c = gradient + row * numbers->columns + taps * numbers->window.piece + inside;
        if (numbers->pieces_of_panel > 1) {
          const int64_t pieces = smaller(numbers->pieces_of_panel, numbers->window.pieces - taps);
          block.columns = pieces * numbers->window.piece;
          join_panel(run, numbers, pixel, count, taps, pieces, right);
        } else {
          block.columns = smaller(OUTER_COLUMNS, numbers->window.piece - inside);
          find_panel(run, numbers, group, pixel, count, taps, inside, block.columns, rows >= OUTER_COPIED, right);
        }
        MSLITE_ISA_NAME(mslite_outer_run)(&block, rows);
      }
    }
  }
}

static void add_part(const mslite_run *run, const filter_grad_derived *numbers, int32_t part) {
  const int64_t first = (int64_t)part * SUMS_OF_PART, count = smaller(SUMS_OF_PART, numbers->count - first);
  const float *from = gradient_of_piece(run, numbers, 0) + first;
  float *to = (float *)run->outputs[0] + first;
  for (int64_t i = 0; i < count; i += SIMD_WIDTH) {
    const int32_t lanes = (int32_t)smaller(SIMD_WIDTH, count - i);
    simd_f32 sum = simd_load_lanes_f32(from + i, lanes);
    for (int64_t piece = 1; piece < numbers->pieces; ++piece) {
      sum += simd_load_lanes_f32(from + piece * numbers->count + i, lanes);
    }
    simd_store_lanes(to + i, sum, lanes);
  }
}

static void filter_grad_run(const mslite_run *run, int32_t phase, int32_t part) {
  if (phase == 0) {
    multiply_part(run, run->derived, part);
  } else {
    add_part(run, run->derived, part);
  }
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_conv2d_filter_grad_outer) = {
    .name = MSLITE_ISA_STRING(conv2d_filter_grad_outer),
    .op = MSLITE_OP_Conv2DBackpropFilterFusion,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(filter_grad_derived),
    .support = filter_grad_support,
    .prepare = filter_grad_prepare,
    .run = filter_grad_run,
};
