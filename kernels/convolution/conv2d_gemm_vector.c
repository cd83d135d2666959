/* Convolution as a GEMM: rows are output pixels, columns output channels, k is the window [ky][kx][channel]. There
 * is no im2col: a row of the left matrix is a window of x, read in place in contiguous pieces. A constant weight is
 * packed at load. If the weight is not constant, or windows extend beyond the edge, a first phase packs panels, and
 * copies x with its padding. */
#include "convolution/read_windows.h"
#include "matmul/gemm.h"

enum { MAX_PIECES = 64, PACKED_PANELS = 4 /* per part */ };

typedef struct {
  mslite_convolution geometry;
  mslite_gemm_plan plan;
  mslite_padded padded;
  int64_t padded_parts; /* of the first phase, before those that pack */
  int64_t pack_parts;   /* per group; 0 if the weight is packed already */
  int64_t panels;       /* per group */
  int64_t rows, k;
  window_pieces window;
  int64_t step_pieces; /* pieces per step of k, or 1 if a piece takes several steps */
  int64_t step;        /* elements of a piece per step of k */
  int64_t group_step;  /* packed elements per group */
  int64_t bias_step;   /* elements of the copied bias; 0 if it is read in place */
  bool residual;
} conv2d_gemm_derived;

static int32_t conv2d_gemm_support(const mslite_node *node) {
  mslite_convolution g;
  if (!mslite_convolution_fits(node, SIMD_REAL_TYPE, &g)) return 0;
  if (node->op == MSLITE_OP_Conv2DAddFusion && node->inputs[3]->type != SIMD_REAL_TYPE) return 0;
  /* All of k at once. */
  if (SIMD_HALF && g.height.kernel * g.width.kernel > MAX_PIECES) return 0;
  return activation_is_fusable(g.activation) ? 2 : 0;
}

static int64_t window_size(const mslite_convolution *g) { return g->height.kernel * g->width.kernel * g->group_in; }

/* Packing depends only on the weight's shape and the group, not on the size of x. */
static int64_t conv2d_gemm_pack_size(const mslite_node *node, int32_t input) {
  mslite_convolution g;
  if (mslite_convolution_of(node, &g) != MSLITE_OK) return 0;
  if (input == 2) return g.group * gemm_bias_size(g.group_out);
  if (input != 1) return 0;
  return g.group * mslite_packed_floats(window_size(&g), g.group_out, GEMM_COLUMNS) * (int64_t)sizeof(simd_real);
}

static void conv2d_gemm_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  mslite_convolution g;
  if (mslite_convolution_of(node, &g) != MSLITE_OK) return;
  const int64_t k = window_size(&g), columns = mslite_packed_floats(1, g.group_out, GEMM_COLUMNS);
  for (int64_t i = 0; i < g.group; ++i) {
    const float *from = (const float *)source + i * g.group_out * (input == 1 ? k : 1);
    if (input == 1) {
      gemm_pack(from, k, g.group_out, 1, k, 0, columns / GEMM_COLUMNS, (simd_real *)packed + i * columns * k);
    } else {
      gemm_pack_bias(from, g.group_out, (simd_real *)packed + i * columns);
    }
  }
}

/* Divides k into steps for which a panel of b fits the L1 cache: several pieces, or a part of one. */
static void plan_steps(conv2d_gemm_derived *numbers) {
  const mslite_convolution *g = &numbers->geometry;
  numbers->window = window_pieces_of(g);
  const int64_t block = numbers->plan.k_block;
  const int64_t steps = (numbers->window.piece + block - 1) / block;
  numbers->step = (numbers->window.piece + steps - 1) / steps;
  numbers->step_pieces = steps > 1 ? 1 : block / numbers->window.piece;
  if (numbers->step_pieces > MAX_PIECES) numbers->step_pieces = MAX_PIECES;
}

static mslite_status conv2d_gemm_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  conv2d_gemm_derived *numbers = derived;
  mslite_convolution *g = &numbers->geometry;
  const mslite_status status = mslite_convolution_of(node, g);
  if (status != MSLITE_OK) return status;
  numbers->rows = g->batch * g->height.output * g->width.output;
  numbers->k = window_size(g);
  numbers->group_step = mslite_packed_floats(numbers->k, g->group_out, GEMM_COLUMNS);
  numbers->residual = node->op == MSLITE_OP_Conv2DAddFusion;
  gemm_plan(numbers->rows, g->group_out, numbers->k, &numbers->plan);
  plan_steps(numbers);
  mslite_plan_padded(g, &numbers->padded);
  const mslite_padded *padded = &numbers->padded;
  const int64_t parts = numbers->plan.row_blocks * numbers->plan.panel_blocks;
  numbers->panels = numbers->group_step / (numbers->k * GEMM_COLUMNS);
  if (numbers->rows > INT32_MAX || padded->image > INT32_MAX || parts > INT32_MAX / g->group ||
      g->batch * padded->height > INT32_MAX || numbers->panels > INT32_MAX / g->group) {
    return MSLITE_ERROR_UNSUPPORTED;
  }
  if (numbers->rows == 0) numbers->padded.copied = false;
  if (padded->copied) {
    numbers->padded_parts = mslite_padded_parts(g, padded);
    schedule->shared_bytes = g->batch * padded->image * (int64_t)sizeof(simd_real);
  }
  if (node->inputs[1]->data == NULL) {
    numbers->pack_parts = (numbers->panels + PACKED_PANELS - 1) / PACKED_PANELS;
    schedule->shared_bytes += g->group * numbers->group_step * (int64_t)sizeof(simd_real);
  }
  numbers->bias_step = g->has_bias ? gemm_bias_copy(node->inputs[2], g->group_out) : 0;
  schedule->shared_bytes += g->group * numbers->bias_step * (int64_t)sizeof(simd_real);
  const int64_t prepared = numbers->padded_parts + numbers->pack_parts * g->group + (numbers->bias_step > 0 ? 1 : 0);
  if (prepared > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 0;
  if (prepared > 0) schedule->part_count[schedule->phase_count++] = (int32_t)prepared;
  schedule->part_count[schedule->phase_count++] = numbers->rows == 0 ? 0 : (int32_t)(parts * g->group);
  return MSLITE_OK;
}

/* Returns where the weight is packed: after the padded copy if there is one. */
static simd_real *packed_weight(const mslite_run *run, const conv2d_gemm_derived *numbers) {
  return (simd_real *)run->shared + (numbers->padded.copied ? numbers->geometry.batch * numbers->padded.image : 0);
}

/* Returns where the bias is copied: after the packed weight. */
static simd_real *copied_bias(const mslite_run *run, const conv2d_gemm_derived *numbers) {
  return packed_weight(run, numbers) + (numbers->pack_parts > 0 ? numbers->geometry.group * numbers->group_step : 0);
}

static void copy_bias(const mslite_run *run, const conv2d_gemm_derived *numbers) {
  const int64_t n = numbers->geometry.group_out;
  for (int64_t i = 0; i < numbers->geometry.group; ++i) {
    gemm_copy_bias((const simd_real *)run->inputs[2] + i * n, n, copied_bias(run, numbers) + i * numbers->bias_step);
  }
}

static void pack_part(const mslite_run *run, const conv2d_gemm_derived *numbers, int64_t part) {
  const mslite_convolution *g = &numbers->geometry;
  const int64_t group = part / numbers->pack_parts, first = part % numbers->pack_parts * PACKED_PANELS;
  const int64_t last = first + PACKED_PANELS < numbers->panels ? first + PACKED_PANELS : numbers->panels;
  gemm_pack_real((const simd_real *)run->inputs[1] + group * g->group_out * numbers->k, numbers->k, g->group_out, 1,
                 numbers->k, first, last, packed_weight(run, numbers) + group * numbers->group_step);
}

static void multiply_part(const mslite_run *run, const conv2d_gemm_derived *numbers, int32_t part) {
  const mslite_convolution *g = &numbers->geometry;
  const mslite_gemm_plan *plan = &numbers->plan;
  const int64_t panel = part % plan->panel_blocks * plan->panel_block;
  const int64_t row = part / plan->panel_blocks % plan->row_blocks * plan->row_block;
  const int64_t group = part / (plan->panel_blocks * plan->row_blocks);
  const int64_t column = panel * GEMM_COLUMNS, last_column = column + plan->panel_block * GEMM_COLUMNS;
  const int64_t channel = group * g->group_out + column; /* the first output channel */
  const simd_real *x = numbers->padded.copied ? run->shared : (const simd_real *)run->inputs[0] + numbers->padded.first;
  const simd_real *b = numbers->pack_parts > 0 ? packed_weight(run, numbers) : run->inputs[1];
  b += group * numbers->group_step + column * numbers->k;
  simd_real *c = (simd_real *)run->outputs[0] + row * g->out_channels + channel;
  const int64_t bias_step = SIMD_HALF ? mslite_packed_floats(1, g->group_out, GEMM_COLUMNS) : g->group_out;
  const simd_real *bias = g->has_bias ? run->inputs[2] : NULL;
  if (numbers->bias_step > 0) bias = copied_bias(run, numbers);
  const simd_real *windows[MSLITE_LARGEST_ROW_BLOCK];
  int64_t offsets[MAX_PIECES];
  gemm_block block = {
      .a = windows,
      .offsets = offsets,
      .b_step = GEMM_COLUMNS * numbers->k,
      .c = c,
      .c_step = g->out_channels,
      .bias = bias != NULL ? bias + group * bias_step + column : NULL,
      .rows = row + plan->row_block < numbers->rows ? plan->row_block : numbers->rows - row,
      .columns = (last_column < g->group_out ? last_column : g->group_out) - column,
  };
  find_windows(g, &numbers->padded, x + group * g->group_in, row, block.rows, windows);
  for (int64_t piece = 0; piece < numbers->window.pieces; piece += numbers->step_pieces) {
    const int64_t left = numbers->window.pieces - piece;
    block.pieces = numbers->step_pieces < left ? numbers->step_pieces : left;
    for (int64_t begin = 0; begin < numbers->window.piece; begin += numbers->step) {
      const bool last = left <= numbers->step_pieces && begin + numbers->step >= numbers->window.piece;
      block.k = begin + numbers->step < numbers->window.piece ? numbers->step : numbers->window.piece - begin;
      block.b = b + (piece * numbers->window.piece + begin) * GEMM_COLUMNS;
      for (int64_t i = 0; i < block.pieces; ++i) {
        offsets[i] = window_offset(g, &numbers->padded, numbers->window, piece + i) + begin;
      }
      gemm_set_activation(&block, last ? g->activation : MSLITE_ACTIVATION_TYPE_NO_ACTIVATION);
      if (last && numbers->residual) {
        block.residual = (const simd_real *)run->inputs[3] + row * g->out_channels + channel;
      }
      gemm_run(&block);
      block.accumulate = true;
    }
  }
  fused_rows(g->activation, c, g->out_channels, block.rows, block.columns);
}

static void conv2d_gemm_run(const mslite_run *run, int32_t phase, int32_t part) {
  const conv2d_gemm_derived *numbers = run->derived;
  const bool prepares = numbers->padded.copied || numbers->pack_parts > 0 || numbers->bias_step > 0;
  if (phase == (prepares ? 1 : 0)) {
    multiply_part(run, numbers, part);
  } else if (part < numbers->padded_parts) {
    mslite_pad_part(&numbers->geometry, &numbers->padded, run->inputs[0], sizeof(simd_real), part, run->shared);
  } else if (part - numbers->padded_parts < numbers->pack_parts * numbers->geometry.group) {
    pack_part(run, numbers, part - numbers->padded_parts);
  } else {
    copy_bias(run, numbers);
  }
}

#define CONV2D_GEMM(function, operator)                             \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function) = { \
      .name = MSLITE_ISA_STRING(function),                          \
      .op = MSLITE_OP_##operator,                                   \
      .isa = MSLITE_THIS_ISA,                                       \
      .derived_size = sizeof(conv2d_gemm_derived),                  \
      .support = conv2d_gemm_support,                               \
      .prepare = conv2d_gemm_prepare,                               \
      .pack_size = conv2d_gemm_pack_size,                           \
      .pack = conv2d_gemm_pack,                                     \
      .run = conv2d_gemm_run,                                       \
  };

CONV2D_GEMM(conv2d_gemm_f32, Conv2DFusion)
CONV2D_GEMM(conv2d_add_gemm_f32, Conv2DAddFusion)
