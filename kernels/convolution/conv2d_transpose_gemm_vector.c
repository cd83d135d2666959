/* Transposed convolution as GEMMs, and the gradient of a convolution for its input, which is a transposed
 * convolution of dy with the same weight. With stride s, the output pixels are divided into s x s classes by their
 * position modulo s. The pixels of one class use the same taps of the kernel, so each class is a plain convolution
 * with those taps, and every tap belongs to one class. A constant weight is packed at load. If the weight is not
 * constant, or taps extend beyond the edge, a first phase packs panels, and copies the input with zeros around it. */
#include "convolution/gradient.h"
#include "convolution/padded.h"
#include "matmul/gemm.h"

enum { MAX_PIECES = 64, STEP_FLOATS = 384 };

typedef struct {
  mslite_convolution geometry;
  mslite_convolution source; /* only its padding is used: the input with the zeros that taps read */
  mslite_padded padded;
  mslite_gemm_plan plan;             /* for the largest class */
  int64_t class_rows, class_columns; /* classes that contain pixels */
  int64_t padded_parts;              /* of the first phase, before those that pack */
  int64_t panels;                    /* per group */
  int64_t group_step;                /* packed floats per group */
  int64_t tap_step;                  /* packed floats per tap of one panel */
  bool packs;                        /* the weight is not constant */
} transpose_derived;

static void swap(int64_t *a, int64_t *b) {
  const int64_t kept = *a;
  *a = *b;
  *b = kept;
}

/* For a gradient, returns the transposed convolution that computes dx; it maps the sizes of y to those of x. */
static bool transpose_geometry(const mslite_node *node, mslite_convolution *g) {
  if (node->op != MSLITE_OP_Conv2DBackpropInputFusion) return mslite_convolution_fits(node, MSLITE_FLOAT32, g);
  if (!mslite_convolution_gradient_fits(node, g)) return false;
  swap(&g->in_channels, &g->out_channels);
  swap(&g->group_in, &g->group_out);
  swap(&g->height.input, &g->height.output);
  swap(&g->width.input, &g->width.output);
  g->has_bias = false;
  return true; /* no activation */
}

static int32_t transpose_support(const mslite_node *node) {
  mslite_convolution g;
  return transpose_geometry(node, &g) && activation_is_fusable(g.activation) ? 2 : 0;
}

/* Returns the class of output position `at`; below, that of tap `tap`. */
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

/* Returns the number of packed taps before those of class (y, x). */
static int64_t class_offset(const mslite_convolution *g, int64_t class_y, int64_t class_x) {
  return taps_before(&g->height, class_y) * g->width.kernel +
         taps_of(&g->height, class_y) * taps_before(&g->width, class_x);
}

static int64_t panels_of(const mslite_convolution *g) { return (g->group_out + GEMM_COLUMNS - 1) / GEMM_COLUMNS; }

static int64_t group_step_of(const mslite_convolution *g) {
  return mslite_packed_floats(g->height.kernel * g->width.kernel * g->group_in, g->group_out, GEMM_COLUMNS);
}

static int64_t transpose_pack_size(const mslite_node *node, int32_t input) {
  mslite_convolution g;
  if (input != 1 || !transpose_geometry(node, &g)) return 0;
  return g.group * group_step_of(&g) * (int64_t)sizeof(float);
}

/* Packs one panel of one group of the weight [in][kh][kw][out / group]. Per group and class the packed form has
 * panels [taps of the class][in][GEMM_COLUMNS]. */
static void pack_panel(const mslite_convolution *g, const float *weight, int64_t group, int64_t panel, float *packed) {
  const int64_t taps = g->height.kernel * g->width.kernel, panels = panels_of(g);
  const int64_t tap_step = g->group_in * GEMM_COLUMNS, in_step = taps * g->group_out;
  const int64_t column = panel * GEMM_COLUMNS;
  const int64_t columns = g->group_out - column < GEMM_COLUMNS ? g->group_out - column : GEMM_COLUMNS;
  const float *from = weight + group * g->group_in * in_step + column;
  float *group_to = packed + group * panels * taps * tap_step;
  for (int64_t ky = 0; ky < g->height.kernel; ++ky) {
    for (int64_t kx = 0; kx < g->width.kernel; ++kx) {
      const int64_t class_y = class_of_tap(&g->height, ky), class_x = class_of_tap(&g->width, kx);
      int64_t above = 0, before = 0; /* taps of the same class */
      for (int64_t i = 0; i < ky; ++i) above += class_of_tap(&g->height, i) == class_y;
      for (int64_t i = 0; i < kx; ++i) before += class_of_tap(&g->width, i) == class_x;
      const int64_t taps_x = taps_of(&g->width, class_x), class_taps = taps_of(&g->height, class_y) * taps_x;
      mslite_pack_panels(
          from + (ky * g->width.kernel + kx) * g->group_out, g->group_in, columns, in_step, 1, GEMM_COLUMNS, 0, 1,
          group_to +
              (class_offset(g, class_y, class_x) * panels + panel * class_taps + above * taps_x + before) * tap_step);
    }
  }
}

static void transpose_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  mslite_convolution g;
  if (input != 1 || !transpose_geometry(node, &g)) return;
  for (int64_t i = 0; i < g.group * panels_of(&g); ++i) {
    pack_panel(&g, source, i / panels_of(&g), i % panels_of(&g), packed);
  }
}

/* Sets the range of input positions that outputs use, as an axis whose padding is the part outside of the input. */
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

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Returns the number of output positions in the class of position `first`. */
static int64_t class_size(const mslite_axis *axis, int64_t first) {
  return (axis->output - first + axis->stride - 1) / axis->stride;
}

static mslite_status transpose_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  transpose_derived *numbers = derived;
  mslite_convolution *g = &numbers->geometry;
  if (!transpose_geometry(node, g)) return MSLITE_ERROR_SHAPE;
  numbers->source = *g;
  plan_source(&g->height, &numbers->source.height);
  plan_source(&g->width, &numbers->source.width);
  mslite_plan_padded(&numbers->source, &numbers->padded);
  const mslite_padded *padded = &numbers->padded;
  numbers->tap_step = g->group_in * GEMM_COLUMNS;
  numbers->group_step = group_step_of(g);
  numbers->panels = panels_of(g);
  numbers->packs = node->inputs[1]->data == NULL;
  numbers->class_rows = smaller(g->height.stride, g->height.output);
  numbers->class_columns = smaller(g->width.stride, g->width.output);
  const int64_t pixels = g->batch * g->height.output * g->width.output;
  if (pixels > INT32_MAX || g->batch * padded->height > INT32_MAX || padded->image > INT32_MAX ||
      numbers->panels > INT32_MAX / g->group) {
    return MSLITE_ERROR_UNSUPPORTED;
  }
  const int64_t most_taps = ((g->height.kernel + g->height.stride - 1) / g->height.stride) *
                            ((g->width.kernel + g->width.stride - 1) / g->width.stride);
  gemm_plan(g->batch * class_size(&g->height, 0) * class_size(&g->width, 0), g->group_out, most_taps * g->group_in,
            &numbers->plan);
  const mslite_gemm_plan *plan = &numbers->plan;
  const int64_t classes = pixels == 0 ? 0 : numbers->class_rows * numbers->class_columns;
  const int64_t parts = plan->row_blocks * plan->panel_blocks * classes;
  if (pixels > 0 && padded->copied) {
    numbers->padded_parts = mslite_padded_parts(&numbers->source, padded);
    schedule->shared_bytes = g->batch * padded->image * (int64_t)sizeof(float);
  }
  if (numbers->packs) schedule->shared_bytes += g->group * numbers->group_step * (int64_t)sizeof(float);
  const int64_t prepared = numbers->padded_parts + (numbers->packs ? g->group * numbers->panels : 0);
  if (parts > INT32_MAX / g->group || prepared > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 0;
  if (prepared > 0) schedule->part_count[schedule->phase_count++] = (int32_t)prepared;
  schedule->part_count[schedule->phase_count++] = (int32_t)(parts * g->group);
  /* Pixels of one class are not adjacent: they are computed contiguously and then copied to their places. */
  if (classes > 1) {
    schedule->scratch_bytes =
        plan->row_block * smaller(plan->panel_block * GEMM_COLUMNS, g->group_out) * (int64_t)sizeof(float);
  }
  return MSLITE_OK;
}

/* Returns where the weight is packed: after the padded copy if there is one. */
static float *packed_weight(const mslite_run *run, const transpose_derived *numbers) {
  return (float *)run->shared + (numbers->padded_parts > 0 ? numbers->geometry.batch * numbers->padded.image : 0);
}

/* Finds the offsets of the class's taps from the pixel at the quotients, in packing order. Returns their number. */
static int64_t find_taps(const transpose_derived *numbers, int64_t class_y, int64_t class_x, int64_t first,
                         int64_t *offsets) {
  const mslite_convolution *g = &numbers->geometry;
  int64_t count = 0, tap = 0;
  for (int64_t ky = 0; ky < g->height.kernel; ++ky) {
    if (class_of_tap(&g->height, ky) != class_y) continue;
    for (int64_t kx = 0; kx < g->width.kernel; ++kx) {
      if (class_of_tap(&g->width, kx) != class_x) continue;
      if (tap++ < first || count == MAX_PIECES) continue;
      offsets[count++] = (class_y - ky * g->height.dilation) / g->height.stride * numbers->padded.row +
                         (class_x - kx * g->width.dilation) / g->width.stride * g->in_channels;
    }
  }
  return count;
}

/* The pixels of one class. */
typedef struct {
  int64_t y, x;          /* the class */
  int64_t top, left;     /* its first output pixel */
  int64_t rows, columns; /* in one image */
} pixel_class;

static pixel_class class_at(const mslite_convolution *g, int64_t top, int64_t left) {
  const pixel_class found = {class_of(&g->height, top),   class_of(&g->width, left),  top, left,
                             class_size(&g->height, top), class_size(&g->width, left)};
  return found;
}

/* Iterates over the pixels of a class in all images. Only the first one is found by division, which is slow. */
typedef struct {
  int64_t image, row, column; /* within the class */
} pixel_place;

static pixel_place place_of(const pixel_class *class, int64_t pixel) {
  const int64_t at = pixel % (class->rows * class->columns);
  const pixel_place place = {pixel / (class->rows * class->columns), at / class->columns, at % class->columns};
  return place;
}

static void next_row(const pixel_class *class, pixel_place *place) {
  place->column = 0;
  if (++place->row < class->rows) return;
  place->row = 0;
  ++place->image;
}

/* Finds the addresses of the first taps of pixels [first, first + count) of the class, at the quotient of their
 * position. */
static void find_pixels(const transpose_derived *numbers, const pixel_class *class, const float *x, int64_t first,
                        int64_t count, const float **pixels) {
  const mslite_convolution *g = &numbers->geometry;
  const int64_t row =
      (class->top + g->height.pad_before - class->y) / g->height.stride + numbers->source.height.pad_before;
  const int64_t column =
      (class->left + g->width.pad_before - class->x) / g->width.stride + numbers->source.width.pad_before;
  pixel_place at = place_of(class, first);
  for (int64_t i = 0; i < count; next_row(class, &at)) {
    const float *pixel = x + at.image * numbers->padded.image + (row + at.row) * numbers->padded.row +
                         (column + at.column) * g->in_channels;
    const int64_t end = smaller(i + class->columns - at.column, count);
    for (; i < end; ++i, pixel += g->in_channels) pixels[i] = pixel;
  }
}

/* Copies pixels [first, first + count) of the class to their places; `y` points to the first of their channels. */
static void spread_pixels(const mslite_convolution *g, const pixel_class *class, const float *from, int64_t first,
                          int64_t count, int64_t channels, float *y) {
  pixel_place at = place_of(class, first);
  for (int64_t i = 0; i < count; next_row(class, &at)) {
    const int64_t row = at.image * g->height.output + class->top + at.row * g->height.stride;
    const int64_t column = class->left + at.column * g->width.stride;
    float *to = y + (row * g->width.output + column) * g->out_channels;
    const int64_t end = smaller(i + class->columns - at.column, count);
    for (; i < end; ++i, from += channels, to += g->width.stride * g->out_channels) {
      memcpy(to, from, (size_t)channels * sizeof *to);
    }
  }
}

static void multiply_part(const mslite_run *run, const transpose_derived *numbers, int32_t part) {
  const mslite_convolution *g = &numbers->geometry;
  const mslite_gemm_plan *plan = &numbers->plan;
  const int64_t panel = part % plan->panel_blocks * plan->panel_block, column = panel * GEMM_COLUMNS;
  const int64_t first = part / plan->panel_blocks % plan->row_blocks * plan->row_block;
  const int64_t rest = part / (plan->panel_blocks * plan->row_blocks);
  const int64_t group = rest / (numbers->class_rows * numbers->class_columns);
  const pixel_class class =
      class_at(g, rest / numbers->class_columns % numbers->class_rows, rest % numbers->class_columns);
  const int64_t all = g->batch * class.rows * class.columns;
  if (first >= all) return; /* this class has fewer pixels */
  const bool spread = numbers->class_rows * numbers->class_columns > 1;
  const int64_t taps = taps_of(&g->height, class.y) * taps_of(&g->width, class.x),
                channel = group * g->group_out + column;
  const float *x = numbers->padded_parts > 0 ? run->shared : run->inputs[0];
  const float *b = (numbers->packs ? packed_weight(run, numbers) : (const float *)run->inputs[1]) +
                   group * numbers->group_step +
                   (class_offset(g, class.y, class.x) * numbers->panels + panel * taps) * numbers->tap_step;
  float *y = (float *)run->outputs[0] + channel;
  const float *pixels[MSLITE_LARGEST_ROW_BLOCK];
  int64_t offsets[MAX_PIECES];
  gemm_block block = {
      .a = pixels,
      .offsets = offsets,
      .k = g->group_in,
      .b_step = taps * numbers->tap_step,
      .bias = g->has_bias ? (const float *)run->inputs[2] + channel : NULL,
      .rows = smaller(plan->row_block, all - first),
      .columns = smaller(plan->panel_block * GEMM_COLUMNS, g->group_out - column),
  };
  block.c = spread ? run->scratch : y + first * g->out_channels;
  block.c_step = spread ? block.columns : g->out_channels;
  find_pixels(numbers, &class, x + group * g->group_in, first, block.rows, pixels);
  int64_t most = STEP_FLOATS / g->group_in < MAX_PIECES ? STEP_FLOATS / g->group_in : MAX_PIECES;
  if (most < 1) most = 1;
  int64_t tap = 0;
  do {
    block.pieces = smaller(find_taps(numbers, class.y, class.x, tap, offsets), most);
    block.b = b + tap * numbers->tap_step;
    tap += block.pieces;
    gemm_set_activation(&block, tap == taps ? g->activation : MSLITE_ACTIVATION_TYPE_NO_ACTIVATION);
    gemm_run(&block);
    block.accumulate = true;
  } while (tap < taps);
  fused_rows(g->activation, block.c, block.c_step, block.rows, block.columns);
  if (spread) spread_pixels(g, &class, block.c, first, block.rows, block.columns, y);
}

static void transpose_run(const mslite_run *run, int32_t phase, int32_t part) {
  const transpose_derived *numbers = run->derived;
  const bool prepares = numbers->padded_parts > 0 || numbers->packs;
  if (phase == (prepares ? 1 : 0)) {
    multiply_part(run, numbers, part);
  } else if (part < numbers->padded_parts) {
    mslite_pad_part(&numbers->source, &numbers->padded, run->inputs[0], sizeof(float), part, run->shared);
  } else {
    const int64_t panel = part - numbers->padded_parts;
    pack_panel(&numbers->geometry, run->inputs[1], panel / numbers->panels, panel % numbers->panels,
               packed_weight(run, numbers));
  }
}

#define CONV2D_TRANSPOSE_GEMM(function, operator)                   \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function) = { \
      .name = MSLITE_ISA_STRING(function),                          \
      .op = MSLITE_OP_##operator,                                   \
      .isa = MSLITE_THIS_ISA,                                       \
      .derived_size = sizeof(transpose_derived),                    \
      .support = transpose_support,                                 \
      .prepare = transpose_prepare,                                 \
      .pack_size = transpose_pack_size,                             \
      .pack = transpose_pack,                                       \
      .run = transpose_run,                                         \
  };

CONV2D_TRANSPOSE_GEMM(conv2d_transpose_gemm_f32, Conv2dTransposeFusion)
CONV2D_TRANSPOSE_GEMM(conv2d_input_grad_gemm_f32, Conv2DBackpropInputFusion)
