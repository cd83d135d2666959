/* The gradient of a convolution for its weight as matrix products: rows are output channels, columns the window
 * [ky][kx][channel], k the output pixels of all images. Where windows hang over the edge, a first phase copies x with
 * its padding. A part gathers both operands step by step: dy turned around, and a panel of windows, which is multiplied
 * with all rows while it is in the L1 cache.
 *
 * Sums of a step are added to those of the steps before, so that sums over many pixels stay exact longer. Few channels
 * make few tiles: then the pixels are cut, too, each piece has a gradient of its own, and a last phase adds them. */
#include "convolution/gradient.h"
#include "convolution/read_windows.h"
#include "matmul/gemm.h"

enum {
  STEP_PIXELS = 256,       /* x 16 columns: a panel of 16 KB stays in the L1 cache */
  SMALLEST_PART = 1 << 18, /* multiply-adds */
  MOST_PARTS = 16,         /* each gathers its rows or its panels again */
  MOST_PIECES_OF_PIXELS = 8,
  MOST_SUMS = 1 << 17, /* floats of the pieces' gradients */
  SUMS_OF_PART = 4096
};

typedef struct {
  mslite_convolution geometry;
  mslite_padded padded;
  window_pieces window;
  int64_t pixels, columns;
  int64_t row_block, row_blocks;     /* of one group */
  int64_t panel_block, panel_blocks; /* of one group */
  int64_t piece, pieces;             /* of the pixels */
  int64_t padded_parts;              /* of the first phase */
  int64_t count;                     /* floats of the gradient */
} filter_grad_derived;

static int32_t filter_grad_support(const mslite_node *node) {
  mslite_convolution g;
  return mslite_convolution_gradient_fits(node, &g) ? 2 : 0;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* Pieces of pixels first: they gather nothing twice. */
static void plan_parts(filter_grad_derived *numbers) {
  const mslite_convolution *g = &numbers->geometry;
  const double work = (double)numbers->pixels * (double)numbers->count;
  const int64_t wanted =
      work >= (double)MOST_PARTS * (double)SMALLEST_PART ? MOST_PARTS : 1 + (int64_t)(work / (double)SMALLEST_PART);
  const int64_t panels = divide_up(numbers->columns, GEMM_COLUMNS);
  const int64_t most_rows = MSLITE_LARGEST_ROW_BLOCK / GEMM_ROWS * GEMM_ROWS;
  numbers->row_blocks = divide_up(g->group_out, most_rows);
  numbers->row_block = divide_up(divide_up(g->group_out, numbers->row_blocks), GEMM_ROWS) * GEMM_ROWS;
  numbers->row_blocks = divide_up(g->group_out, numbers->row_block);
  int64_t most_pieces = smaller(MOST_PIECES_OF_PIXELS, numbers->pixels / (2 * STEP_PIXELS));
  most_pieces = smaller(most_pieces, MOST_SUMS / numbers->count);
  const int64_t blocks = numbers->row_blocks * g->group;
  int64_t pieces = smaller(divide_up(wanted, blocks), most_pieces);
  if (pieces < 1) pieces = 1;
  numbers->piece = numbers->pixels < 1 ? 1 : divide_up(numbers->pixels, pieces);
  numbers->pieces = numbers->pixels < 1 ? 1 : divide_up(numbers->pixels, numbers->piece);
  int64_t panel_blocks = smaller(divide_up(wanted, blocks * numbers->pieces), panels / 4);
  if (panel_blocks < 1) panel_blocks = 1;
  numbers->panel_block = divide_up(panels, panel_blocks);
  numbers->panel_blocks = divide_up(panels, numbers->panel_block);
}

static int64_t left_floats(const filter_grad_derived *numbers) { return numbers->row_block * STEP_PIXELS; }

static mslite_status filter_grad_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  filter_grad_derived *numbers = derived;
  mslite_convolution *g = &numbers->geometry;
  const mslite_status status = mslite_convolution_gradient_of(node, g);
  if (status != MSLITE_OK) return status;
  numbers->pixels = g->batch * g->height.output * g->width.output;
  numbers->columns = g->height.kernel * g->width.kernel * g->group_in;
  numbers->count = g->out_channels * numbers->columns;
  numbers->window = window_pieces_of(g);
  mslite_plan_padded(g, &numbers->padded);
  const mslite_padded *padded = &numbers->padded;
  if (numbers->pixels == 0) numbers->padded.copied = false;
  plan_parts(numbers);
  const int64_t parts = numbers->row_blocks * numbers->panel_blocks * numbers->pieces;
  if (numbers->pixels > INT32_MAX || padded->image > INT32_MAX || parts > INT32_MAX / g->group ||
      g->batch * padded->height > INT32_MAX || numbers->count > INT32_MAX) {
    return MSLITE_ERROR_UNSUPPORTED;
  }
  schedule->phase_count = 0;
  if (padded->copied) {
    numbers->padded_parts = mslite_padded_parts(g, padded);
    schedule->part_count[schedule->phase_count++] = (int32_t)numbers->padded_parts;
    schedule->shared_bytes = g->batch * padded->image * (int64_t)sizeof(float);
  }
  schedule->part_count[schedule->phase_count++] = (int32_t)(parts * g->group);
  if (numbers->pieces > 1) {
    schedule->part_count[schedule->phase_count++] = (int32_t)divide_up(numbers->count, SUMS_OF_PART);
    schedule->shared_bytes += numbers->pieces * numbers->count * (int64_t)sizeof(float);
  }
  /* A piece of a window that does not fill its vectors is written over the next one's place. */
  schedule->scratch_bytes = (left_floats(numbers) + (STEP_PIXELS + 1) * GEMM_COLUMNS) * (int64_t)sizeof(float);
  return MSLITE_OK;
}

/* The gradient of one piece of the pixels: in the output where there are no others. */
static float *gradient_of_piece(const mslite_run *run, const filter_grad_derived *numbers, int64_t piece) {
  if (numbers->pieces == 1) return run->outputs[0];
  const int64_t padded = numbers->padded.copied ? numbers->geometry.batch * numbers->padded.image : 0;
  return (float *)run->shared + padded + piece * numbers->count;
}

/* Channels [0, rows) of `count` pixels, from [pixel][channel] to [channel][STEP_PIXELS]. */
static void turn_around(const float *dy, int64_t channels, int64_t rows, int64_t count, float *to) {
  enum { PIXELS = 16 }; /* their cache lines are read for all channels */
  for (int64_t first = 0; first < count; first += PIXELS) {
    const int64_t last = smaller(first + PIXELS, count);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = first; i < last; ++i) to[r * STEP_PIXELS + i] = dy[i * channels + r];
    }
  }
}

/* What lies in one panel of one piece of a window. */
typedef struct {
  int64_t from, to, count;
} panel_piece;

/* The pieces of columns [first, first + count) of a window. */
static int32_t find_panel_pieces(const filter_grad_derived *numbers, int64_t first, int64_t count,
                                 panel_piece *pieces) {
  const mslite_convolution *g = &numbers->geometry;
  int32_t found = 0;
  for (int64_t column = first; column < first + count; ++found) {
    const int64_t piece = column / numbers->window.piece, inside = column % numbers->window.piece;
    pieces[found].from = window_offset(g, &numbers->padded, numbers->window, piece) + inside;
    pieces[found].to = column - first;
    pieces[found].count = smaller(numbers->window.piece - inside, first + count - column);
    column += pieces[found].count;
  }
  return found;
}

/* The panel [pixel][GEMM_COLUMNS] of windows. Whole vectors are copied, as far as `end` allows that: what they write
 * too much, behind the piece, is written again. */
static void gather_panel(const float *const *windows, int64_t count, const panel_piece *pieces, int32_t piece_count,
                         const float *end, float *panel) {
  for (int64_t i = 0; i < count; ++i, panel += GEMM_COLUMNS) {
    for (int32_t p = 0; p < piece_count; ++p) {
      const float *from = windows[i] + pieces[p].from;
      float *to = panel + pieces[p].to;
      for (int64_t left = pieces[p].count; left > 0; left -= SIMD_WIDTH, from += SIMD_WIDTH, to += SIMD_WIDTH) {
        if (end - from >= SIMD_WIDTH) {
          simd_store_f32(to, simd_load_f32(from));
        } else {
          memcpy(to, from, (size_t)left * sizeof *to);
        }
      }
    }
  }
}

static void multiply_part(const mslite_run *run, const filter_grad_derived *numbers, int32_t part) {
  const mslite_convolution *g = &numbers->geometry;
  const int64_t first_panel = part % numbers->panel_blocks * numbers->panel_block;
  const int64_t row = part / numbers->panel_blocks % numbers->row_blocks * numbers->row_block;
  const int64_t rest = part / (numbers->panel_blocks * numbers->row_blocks);
  const int64_t group = rest / numbers->pieces, piece = rest % numbers->pieces;
  const int64_t channel = group * g->group_out + row, rows = smaller(numbers->row_block, g->group_out - row);
  const int64_t last_column = smaller((first_panel + numbers->panel_block) * GEMM_COLUMNS, numbers->columns);
  const int64_t last = smaller((piece + 1) * numbers->piece, numbers->pixels);
  const float *x = run->inputs[1], *end = x + g->batch * g->height.input * g->width.input * g->in_channels;
  if (numbers->padded.copied) {
    x = run->shared;
    end = x + g->batch * numbers->padded.image;
  } else {
    x += numbers->padded.first;
  }
  float *left = run->scratch, *panel = left + left_floats(numbers);
  float *gradient = gradient_of_piece(run, numbers, piece) + channel * numbers->columns;
  const float *windows[STEP_PIXELS], *left_rows[MSLITE_LARGEST_ROW_BLOCK];
  for (int64_t r = 0; r < rows; ++r) left_rows[r] = left + r * STEP_PIXELS;
  if (numbers->pixels == 0) memset(gradient, 0, (size_t)(rows * numbers->columns) * sizeof *gradient);
  const int64_t no_offset = 0;
  for (int64_t pixel = piece * numbers->piece; pixel < last; pixel += STEP_PIXELS) {
    const int64_t count = smaller(STEP_PIXELS, last - pixel);
    turn_around((const float *)run->inputs[0] + pixel * g->out_channels + channel, g->out_channels, rows, count, left);
    find_windows(g, &numbers->padded, x + group * g->group_in, pixel, count, windows);
    for (int64_t column = first_panel * GEMM_COLUMNS; column < last_column; column += GEMM_COLUMNS) {
      panel_piece pieces[GEMM_COLUMNS];
      gemm_block block = {
          .a = left_rows,
          .offsets = &no_offset,
          .pieces = 1,
          .k = count,
          .b = panel,
          .c = gradient + column,
          .c_step = numbers->columns,
          .rows = rows,
          .columns = smaller(GEMM_COLUMNS, last_column - column),
          .low = -INFINITY,
          .high = INFINITY,
      };
      if (pixel > piece * numbers->piece) block.residual = block.c;
      const int32_t piece_count = find_panel_pieces(numbers, column, block.columns, pieces);
      gather_panel(windows, count, pieces, piece_count, end, panel);
      gemm_run(&block);
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
  const filter_grad_derived *numbers = run->derived;
  const int32_t product = numbers->padded.copied ? 1 : 0;
  if (phase < product) {
    mslite_pad_part(&numbers->geometry, &numbers->padded, run->inputs[1], sizeof(float), part, run->shared);
  } else if (phase == product) {
    multiply_part(run, numbers, part);
  } else {
    add_part(run, numbers, part);
  }
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_conv2d_filter_grad_gemm) = {
    .name = MSLITE_ISA_STRING(conv2d_filter_grad_gemm),
    .op = MSLITE_OP_Conv2DBackpropFilterFusion,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(filter_grad_derived),
    .support = filter_grad_support,
    .prepare = filter_grad_prepare,
    .run = filter_grad_run,
};
