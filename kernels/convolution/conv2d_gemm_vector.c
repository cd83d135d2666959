/* Convolution as a matrix product: rows are output pixels, columns output channels, k the window [ky][kx][channel].
 * A 1 x 1 convolution reads x as it is; otherwise each part gathers the windows of its rows, one block of k at a time,
 * into its scratch memory. */
#include "convolution/fused.h"
#include "convolution/gather.h"
#include "matmul/gemm.h"

typedef struct {
  mslite_convolution geometry;
  mslite_gemm_plan plan;
  int64_t rows, k;
  int64_t group_step; /* packed floats of one group */
  bool direct;        /* x is the left matrix */
  bool residual;
} conv2d_gemm_derived;

static int32_t conv2d_gemm_support(const mslite_node *node) {
  mslite_convolution g;
  if (!mslite_convolution_fits(node, MSLITE_FLOAT32, &g) || node->inputs[1]->data == NULL) return 0;
  if (node->op == MSLITE_OP_Conv2DAddFusion && node->inputs[3]->type != MSLITE_FLOAT32) return 0;
  return mslite_is_fused_activation(g.activation) ? 2 : 0;
}

static int64_t window_size(const mslite_convolution *g) { return g->height.kernel * g->width.kernel * g->group_in; }

/* The weight's shape and the group say all that packing needs; x may have any size. */
static int64_t conv2d_gemm_pack_size(const mslite_node *node, int32_t input) {
  mslite_convolution g;
  if (input != 1 || mslite_convolution_of(node, &g) != MSLITE_OK) return 0;
  return g.group * mslite_packed_floats(window_size(&g), g.group_out, GEMM_COLUMNS) * (int64_t)sizeof(float);
}

static void conv2d_gemm_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  mslite_convolution g;
  if (input != 1 || mslite_convolution_of(node, &g) != MSLITE_OK) return;
  const int64_t k = window_size(&g), step = mslite_packed_floats(k, g.group_out, GEMM_COLUMNS);
  for (int64_t i = 0; i < g.group; ++i) {
    mslite_pack_panels((const float *)source + i * g.group_out * k, k, g.group_out, 1, k, GEMM_COLUMNS, 0,
                       (g.group_out + GEMM_COLUMNS - 1) / GEMM_COLUMNS, (float *)packed + i * step);
  }
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
  numbers->direct = g->height.kernel == 1 && g->width.kernel == 1 && g->height.output == g->height.input &&
                    g->width.output == g->width.input && g->height.stride == 1 && g->width.stride == 1 &&
                    g->height.pad_before == 0 && g->width.pad_before == 0;
  mslite_plan_gemm(numbers->rows, g->group_out, numbers->k, GEMM_ROWS, GEMM_COLUMNS, !numbers->direct, &numbers->plan);
  const mslite_gemm_plan *plan = &numbers->plan;
  const int64_t parts = plan->row_blocks * plan->panel_blocks;
  if (numbers->rows > INT32_MAX || parts > INT32_MAX / g->group) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = numbers->rows == 0 ? 0 : (int32_t)(parts * g->group);
  if (!numbers->direct) schedule->scratch_bytes = plan->row_block * plan->k_block * (int64_t)sizeof(float);
  return MSLITE_OK;
}

static void conv2d_gemm_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const conv2d_gemm_derived *numbers = run->derived;
  const mslite_convolution *g = &numbers->geometry;
  const mslite_gemm_plan *plan = &numbers->plan;
  const int64_t panel = part % plan->panel_blocks * plan->panel_block;
  const int64_t row = part / plan->panel_blocks % plan->row_blocks * plan->row_block;
  const int64_t group = part / (plan->panel_blocks * plan->row_blocks);
  const int64_t column = panel * GEMM_COLUMNS, last_column = column + plan->panel_block * GEMM_COLUMNS;
  const int64_t channel = group * g->group_out + column; /* the first output channel */
  const float *x = (const float *)run->inputs[0] + group * g->group_in;
  const float *b = (const float *)run->inputs[1] + group * numbers->group_step + column * numbers->k;
  float *c = (float *)run->outputs[0] + row * g->out_channels + channel;
  gemm_block block = {
      .b_step = GEMM_COLUMNS * numbers->k,
      .c = c,
      .c_step = g->out_channels,
      .bias = g->has_bias ? (const float *)run->inputs[2] + channel : NULL,
      .rows = row + plan->row_block < numbers->rows ? plan->row_block : numbers->rows - row,
      .columns = (last_column < g->group_out ? last_column : g->group_out) - column,
  };
  for (int64_t k = 0; k < numbers->k; k += plan->k_block) {
    const bool last = k + plan->k_block >= numbers->k;
    block.k = last ? numbers->k - k : plan->k_block;
    block.b = b + k * GEMM_COLUMNS;
    if (numbers->direct) {
      block.a = x + row * g->in_channels + k;
      block.a_step = g->in_channels;
    } else {
      gather_rows(g, x, row, block.rows, k, block.k, run->scratch);
      block.a = run->scratch;
      block.a_step = block.k;
    }
    gemm_set_activation(&block, last ? g->activation : MSLITE_ACTIVATION_TYPE_NO_ACTIVATION);
    if (last && numbers->residual) {
      block.residual = (const float *)run->inputs[3] + row * g->out_channels + channel;
    }
    gemm_run(&block);
    block.accumulate = true;
  }
  gemm_activate(g->activation, c, g->out_channels, block.rows, block.columns);
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
