/* Transposed convolution as matrix products. With stride s, the output pixels fall into s x s classes by their position
 * modulo s; the pixels of one class see the same taps of the kernel, so each class is a plain convolution with those
 * taps, and every tap belongs to exactly one class. A product covers the pixels of one class in one output row. */
#include "convolution/padded.h"
#include "matmul/gemm.h"

enum { MOST_PIECES = 64, STEP_FLOATS = 384, PADDED_PART_FLOATS = 1 << 15 };

typedef struct {
  mslite_convolution geometry;
  mslite_convolution source; /* only its padding is used: the input with the zeros that the taps reach */
  mslite_padded padded;
  int64_t padded_rows; /* of one part of the first phase */
  int64_t group_step;  /* packed floats of one group */
  int64_t tap_step;    /* packed floats of one tap of one panel */
} transpose_derived;

static int32_t transpose_support(const mslite_node *node) {
  mslite_convolution g;
  if (!mslite_convolution_fits(node, MSLITE_FLOAT32, &g) || node->inputs[1]->data == NULL) return 0;
  return activation_is_fusable(g.activation) ? 2 : 0;
}

/* The class of output position `at`, and of tap `tap`. */
static int64_t class_of(const mslite_axis *axis, int64_t at) {
  const int64_t rest = (at + axis->pad_before) % axis->stride;
  return rest < 0 ? rest + axis->stride : rest;
}

static int64_t class_of_tap(const mslite_axis *axis, int64_t tap) { return tap * axis->dilation % axis->stride; }

static int64_t taps_before(const mslite_axis *axis, int64_t class) {
  int64_t count = 0;
  for (int64_t tap = 0; tap < axis->kernel; ++tap) count += class_of_tap(axis, tap) < class;
  return count;
}

static int64_t taps_of(const mslite_axis *axis, int64_t class) {
  return taps_before(axis, class + 1) - taps_before(axis, class);
}

/* Packed taps that lie before those of class (y, x). */
static int64_t class_offset(const mslite_convolution *g, int64_t class_y, int64_t class_x) {
  return taps_before(&g->height, class_y) * g->width.kernel +
         taps_of(&g->height, class_y) * taps_before(&g->width, class_x);
}

static int64_t transpose_pack_size(const mslite_node *node, int32_t input) {
  mslite_convolution g;
  if (input != 1 || mslite_convolution_of(node, &g) != MSLITE_OK) return 0;
  return g.group * mslite_packed_floats(g.height.kernel * g.width.kernel * g.group_in, g.group_out, GEMM_COLUMNS) *
         (int64_t)sizeof(float);
}

/* Per group and class: panels [taps of the class][in][GEMM_COLUMNS], from weight [in][kh][kw][out / group]. */
static void transpose_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  mslite_convolution g;
  if (input != 1 || mslite_convolution_of(node, &g) != MSLITE_OK) return;
  const int64_t taps = g.height.kernel * g.width.kernel, panels = (g.group_out + GEMM_COLUMNS - 1) / GEMM_COLUMNS;
  const int64_t tap_step = g.group_in * GEMM_COLUMNS, in_step = taps * g.group_out;
  for (int64_t group = 0; group < g.group; ++group) {
    const float *from = (const float *)source + group * g.group_in * in_step;
    float *group_to = (float *)packed + group * panels * taps * tap_step;
    int64_t in_class[2];
    for (int64_t ky = 0; ky < g.height.kernel; ++ky) {
      for (int64_t kx = 0; kx < g.width.kernel; ++kx) {
        const int64_t class_y = class_of_tap(&g.height, ky), class_x = class_of_tap(&g.width, kx);
        in_class[0] = in_class[1] = 0;
        for (int64_t i = 0; i < ky; ++i) in_class[0] += class_of_tap(&g.height, i) == class_y;
        for (int64_t i = 0; i < kx; ++i) in_class[1] += class_of_tap(&g.width, i) == class_x;
        const int64_t taps_x = taps_of(&g.width, class_x), class_taps = taps_of(&g.height, class_y) * taps_x;
        float *to = group_to + class_offset(&g, class_y, class_x) * panels * tap_step +
                    (in_class[0] * taps_x + in_class[1]) * tap_step;
        for (int64_t panel = 0; panel < panels; ++panel) {
          const int64_t column = panel * GEMM_COLUMNS;
          const int64_t columns = g.group_out - column < GEMM_COLUMNS ? g.group_out - column : GEMM_COLUMNS;
          mslite_pack_panels(from + (ky * g.width.kernel + kx) * g.group_out + column, g.group_in, columns, in_step, 1,
                             GEMM_COLUMNS, 0, 1, to + panel * class_taps * tap_step);
        }
      }
    }
  }
}

/* The input positions that outputs reach, as an axis whose padding is what lies outside. */
static void plan_source(const mslite_axis *axis, mslite_axis *source) {
  const int64_t first_at = axis->pad_before >= 0 ? axis->pad_before / axis->stride
                                                 : -((-axis->pad_before + axis->stride - 1) / axis->stride);
  const int64_t first = first_at - (axis->kernel - 1) * axis->dilation / axis->stride;
  const int64_t last = (axis->output - 1 + axis->pad_before) / axis->stride;
  const int64_t end = last + 1 > axis->input ? last + 1 : axis->input;
  source->input = axis->input;
  source->pad_before = first < 0 ? -first : 0;
  source->output = source->pad_before + end;
  source->kernel = source->stride = source->dilation = 1;
  source->pad_after = end - axis->input;
}

static mslite_status transpose_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  transpose_derived *numbers = derived;
  mslite_convolution *g = &numbers->geometry;
  const mslite_status status = mslite_convolution_of(node, g);
  if (status != MSLITE_OK) return status;
  numbers->source = *g;
  plan_source(&g->height, &numbers->source.height);
  plan_source(&g->width, &numbers->source.width);
  mslite_plan_padded(&numbers->source, &numbers->padded);
  const mslite_padded *padded = &numbers->padded;
  numbers->tap_step = g->group_in * GEMM_COLUMNS;
  numbers->group_step =
      mslite_packed_floats(g->height.kernel * g->width.kernel * g->group_in, g->group_out, GEMM_COLUMNS);
  const int64_t rows = g->batch * g->height.output, padded_rows = g->batch * padded->height;
  if (rows > INT32_MAX / g->group || padded_rows > INT32_MAX || padded->image > INT32_MAX)
    return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 0;
  if (padded->copied) {
    numbers->padded_rows = PADDED_PART_FLOATS / padded->row + 1;
    schedule->part_count[schedule->phase_count++] =
        (int32_t)((padded_rows + numbers->padded_rows - 1) / numbers->padded_rows);
    schedule->shared_bytes = g->batch * padded->image * (int64_t)sizeof(float);
  }
  schedule->part_count[schedule->phase_count++] = (int32_t)(rows * g->group);
  return MSLITE_OK;
}

static void copy_part(const mslite_run *run, const transpose_derived *numbers, int32_t part) {
  const int64_t all = numbers->geometry.batch * numbers->padded.height;
  const int64_t first = part * numbers->padded_rows;
  for (int64_t row = first; row < first + numbers->padded_rows && row < all; ++row) {
    mslite_pad_row(&numbers->source, &numbers->padded, run->inputs[0], row, sizeof(float),
                   (float *)run->shared + row * numbers->padded.row);
  }
}

/* Offsets of the class's taps from the pixel at the quotients, in the order of packing. Returns how many. */
static int64_t find_taps(const transpose_derived *numbers, int64_t class_y, int64_t class_x, int64_t first,
                         int64_t *offsets) {
  const mslite_convolution *g = &numbers->geometry;
  int64_t count = 0, tap = 0;
  for (int64_t ky = 0; ky < g->height.kernel; ++ky) {
    if (class_of_tap(&g->height, ky) != class_y) continue;
    for (int64_t kx = 0; kx < g->width.kernel; ++kx) {
      if (class_of_tap(&g->width, kx) != class_x) continue;
      if (tap++ < first || count == MOST_PIECES) continue;
      offsets[count++] = (class_y - ky * g->height.dilation) / g->height.stride * numbers->padded.row +
                         (class_x - kx * g->width.dilation) / g->width.stride * g->in_channels;
    }
  }
  return count;
}

/* The pixels of class (y, x) in the output row at `y`; `x` points to the input row of the quotient of oy, at column 0.
 */
static void multiply_class(const transpose_derived *numbers, int64_t class_y, int64_t class_x, const float *x,
                           const float *b, const float *bias, float *y) {
  const mslite_convolution *g = &numbers->geometry;
  const int64_t stride = g->width.stride, panels = (g->group_out + GEMM_COLUMNS - 1) / GEMM_COLUMNS;
  const int64_t taps = taps_of(&g->height, class_y) * taps_of(&g->width, class_x);
  b += class_offset(g, class_y, class_x) * panels * numbers->tap_step;
  int64_t ox = class_x - class_of(&g->width, 0);
  if (ox < 0) ox += stride;
  const float *windows[MSLITE_LARGEST_ROW_BLOCK];
  int64_t offsets[MOST_PIECES];
  while (ox < g->width.output) {
    int64_t rows = 0;
    for (int64_t at = ox; at < g->width.output && rows < MSLITE_LARGEST_ROW_BLOCK; at += stride) {
      windows[rows++] = x + (at + g->width.pad_before - class_x) / stride * g->in_channels;
    }
    gemm_block block = {
        .a = windows,
        .offsets = offsets,
        .k = g->group_in,
        .b_step = taps * numbers->tap_step,
        .c = y + ox * g->out_channels,
        .c_step = stride * g->out_channels,
        .bias = bias,
        .rows = rows,
        .columns = g->group_out,
    };
    int64_t most = STEP_FLOATS / g->group_in < MOST_PIECES ? STEP_FLOATS / g->group_in : MOST_PIECES;
    if (most < 1) most = 1;
    int64_t tap = 0;
    do {
      block.pieces = find_taps(numbers, class_y, class_x, tap, offsets);
      if (block.pieces > most) block.pieces = most;
      block.b = b + tap * numbers->tap_step;
      tap += block.pieces;
      gemm_set_activation(&block, tap == taps ? g->activation : MSLITE_ACTIVATION_TYPE_NO_ACTIVATION);
      gemm_run(&block);
      block.accumulate = true;
    } while (tap < taps);
    ox += rows * stride;
  }
}

static void transpose_run(const mslite_run *run, int32_t phase, int32_t part) {
  const transpose_derived *numbers = run->derived;
  const mslite_convolution *g = &numbers->geometry;
  if (numbers->padded.copied && phase == 0) {
    copy_part(run, numbers, part);
    return;
  }
  const int64_t group = part % g->group, row = part / g->group;
  const int64_t image = row / g->height.output, oy = row % g->height.output, class_y = class_of(&g->height, oy);
  const int64_t quotient = (oy + g->height.pad_before - class_y) / g->height.stride;
  const mslite_convolution *source = &numbers->source;
  const float *x = numbers->padded.copied ? run->shared : run->inputs[0];
  x += image * numbers->padded.image + (quotient + source->height.pad_before) * numbers->padded.row +
       source->width.pad_before * g->in_channels + group * g->group_in;
  const float *b = (const float *)run->inputs[1] + group * numbers->group_step;
  const float *bias = g->has_bias ? (const float *)run->inputs[2] + group * g->group_out : NULL;
  float *y = (float *)run->outputs[0] + row * g->width.output * g->out_channels + group * g->group_out;
  for (int64_t class_x = 0; class_x < g->width.stride; ++class_x) {
    multiply_class(numbers, class_y, class_x, x, b, bias, y);
  }
  fused_rows(g->activation, y, g->out_channels, g->width.output, g->group_out);
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_conv2d_transpose_gemm_f32) = {
    .name = MSLITE_ISA_STRING(conv2d_transpose_gemm_f32),
    .op = MSLITE_OP_Conv2dTransposeFusion,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(transpose_derived),
    .support = transpose_support,
    .prepare = transpose_prepare,
    .pack_size = transpose_pack_size,
    .pack = transpose_pack,
    .run = transpose_run,
};
