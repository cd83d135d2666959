/* 3 x 3 convolution by Winograd's minimal filtering: transforms the tiles of the input, multiplies each point over
 * the channels (one GEMM per point), and transforms back. See convolution/winograd.h. */
#include "convolution/gradient.h"
#include "convolution/winograd.h"
#include "convolution/winograd_transform.h"
#include "matmul/gemm.h"

enum { CHUNK_COLUMNS = 2 * GEMM_COLUMNS, PHASE_TILES = 4, EDGE_CHANNELS = 64 };

typedef struct {
  mslite_convolution geometry;
  mslite_winograd_plan plan;
  int64_t point_step; /* packed elements per point */
  int64_t v_tiles;    /* tiles between points of the transformed input */
  bool residual;
  bool turned;        /* a gradient: the weight is [in][3][3][out], with its taps reversed */
  int64_t pack_parts; /* of the first phase, if it packs the weight; those that transform the input follow */
  int64_t packed;     /* offset of the packed weight in the workspace then, in elements */
} winograd_derived;

/* Converts an axis to that of the convolution from dy to dx. */
static void winograd_turn(mslite_axis *axis) {
  const int64_t input = axis->input;
  axis->input = axis->output;
  axis->output = input;
  axis->pad_before = axis->kernel - 1 - axis->pad_before;
}

/* For a gradient, returns the convolution of dy that computes dx, if there is one. */
static bool winograd_geometry(const mslite_node *node, mslite_convolution *g) {
  if (node->op != MSLITE_OP_Conv2DBackpropInputFusion) return mslite_convolution_fits(node, SIMD_REAL_TYPE, g);
  if (SIMD_HALF || !mslite_convolution_gradient_fits(node, g)) return false;
  const int64_t in = g->in_channels;
  g->in_channels = g->group_in = g->out_channels;
  g->out_channels = g->group_out = in;
  winograd_turn(&g->height);
  winograd_turn(&g->width);
  g->has_bias = false;
  return true;
}

/* Returns whether the weight is transformed in every run. */
static bool winograd_packs(const mslite_node *node) {
  return node->op == MSLITE_OP_Conv2DBackpropInputFusion || node->inputs[1]->data == NULL;
}

static int32_t winograd_support(const mslite_node *node, int32_t m) {
  mslite_convolution g;
  if (!winograd_geometry(node, &g)) return 0;
  const bool packs = winograd_packs(node);
  if (SIMD_HALF && (packs || (g.has_bias && node->inputs[2]->data == NULL))) return 0;
  if (node->op == MSLITE_OP_Conv2DAddFusion && node->inputs[3]->type != SIMD_REAL_TYPE) return 0;
  return activation_is_fusable(g.activation) && mslite_winograd_is_faster(&g, m, sizeof(simd_real), packs) ? 4 : 0;
}

static mslite_status winograd_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule, int32_t m) {
  winograd_derived *numbers = derived;
  mslite_convolution *g = &numbers->geometry;
  if (!winograd_geometry(node, g)) return MSLITE_ERROR_SHAPE;
  mslite_winograd_plan *plan = &numbers->plan;
  mslite_plan_winograd(g, m, GEMM_ROWS, GEMM_COLUMNS, plan);
  const int64_t points = (m + 2) * (m + 2);
  numbers->point_step = mslite_packed_floats(g->in_channels, g->out_channels, GEMM_COLUMNS);
  numbers->residual = node->op == MSLITE_OP_Conv2DAddFusion;
  numbers->v_tiles = plan->shared ? plan->tiles : plan->tile_block;
  if (plan->tiles > INT32_MAX || plan->tile_blocks > INT32_MAX / plan->panel_blocks) return MSLITE_ERROR_UNSUPPORTED;
  const int64_t v_bytes = points * numbers->v_tiles * g->in_channels * (int64_t)sizeof(simd_real);
  schedule->scratch_bytes = points * plan->tile_block * CHUNK_COLUMNS * (int64_t)sizeof(simd_real);
  numbers->turned = node->op == MSLITE_OP_Conv2DBackpropInputFusion;
  numbers->pack_parts = winograd_packs(node) ? plan->panels : 0;
  numbers->packed = plan->shared ? v_bytes / (int64_t)sizeof(simd_real) : 0;
  int64_t prepared = numbers->pack_parts;
  if (plan->shared) {
    prepared += (plan->tiles + PHASE_TILES - 1) / PHASE_TILES;
    schedule->shared_bytes = v_bytes;
  } else {
    schedule->scratch_bytes += v_bytes;
  }
  if (numbers->pack_parts > 0) schedule->shared_bytes += points * numbers->point_step * (int64_t)sizeof(simd_real);
  if (prepared > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 0;
  if (prepared > 0) schedule->part_count[schedule->phase_count++] = (int32_t)prepared;
  schedule->part_count[schedule->phase_count++] = (int32_t)(plan->tile_blocks * plan->panel_blocks);
  return MSLITE_OK;
}

static int64_t winograd_pack_size(const mslite_node *node, int32_t input, int32_t m) {
  mslite_convolution g;
  if (winograd_packs(node) || mslite_convolution_of(node, &g) != MSLITE_OK) return 0;
  if (input == 2) return gemm_bias_size(g.out_channels);
  if (input != 1) return 0;
  return mslite_winograd_packed_floats(&g, m, GEMM_COLUMNS) * (int64_t)sizeof(simd_real);
}

#if !SIMD_HALF
/* Computes G g of every `step`-th of three taps, see winograd.c. */
SIMD_INLINE void transform_taps(const int32_t m, const simd_f32 *g, int32_t step, simd_f32 *to) {
  to[0] = g[0];
  to[m + 1] = g[2 * step];
  if (m == 2) {
    const simd_f32 even = (g[0] + g[2 * step]) * simd_set(0.5f), odd = g[step] * simd_set(0.5f);
    to[1] = even + odd;
    to[2] = even - odd;
    return;
  }
  const simd_f32 third = g[2 * step] * simd_set(1.0f / 3.0f), odd = g[step] * simd_set(0.471404521f);
  const simd_f32 inner = simd_fma(g[0], simd_set(-2.0f / 3.0f), -third);
  const simd_f32 outer = simd_fma(g[0], simd_set(1.0f / 6.0f), third), half = odd * simd_set(0.5f);
  to[1] = inner - odd;
  to[2] = inner + odd;
  to[3] = outer + half;
  to[4] = outer - half;
}

/* Computes G g G^T of the filters of one panel of output channels, as mslite_winograd_pack does. The weight is
 * [out][3][3][in], or if `turned` [in][3][3][out] with its taps reversed. */
SIMD_INLINE void pack_filters(const mslite_convolution *g, const int32_t m, const bool turned, int64_t panel,
                              const float *weight, float *packed, int64_t point_step) {
  const int32_t side = m + 2;
  const int64_t in = g->in_channels, out = g->out_channels;
  for (int64_t c = 0; c < in; ++c) {
    for (int32_t v = 0; v < GEMM_COLUMNS; v += SIMD_WIDTH) {
      const int64_t column = panel * GEMM_COLUMNS + v, left = out - column;
      const int32_t lanes = left >= SIMD_WIDTH ? SIMD_WIDTH : left > 0 ? (int32_t)left : 0;
      simd_f32 taps[9], half[6 * 3], points[6];
      for (int32_t tap = 0; tap < 9; ++tap) {
        if (turned) {
          taps[tap] = simd_load_lanes_f32(weight + (c * 9 + 8 - tap) * out + column, lanes);
          continue;
        }
        float gathered[SIMD_WIDTH] = {0};
        for (int32_t lane = 0; lane < lanes; ++lane) gathered[lane] = weight[((column + lane) * 9 + tap) * in + c];
        taps[tap] = simd_load_f32(gathered);
      }
      SIMD_UNROLL for (int32_t j = 0; j < 3; ++j) {
        transform_taps(m, taps + j, 3, points);
        SIMD_UNROLL for (int32_t i = 0; i < side; ++i) half[i * 3 + j] = points[i];
      }
      float *to = packed + (panel * in + c) * GEMM_COLUMNS + v;
      SIMD_UNROLL for (int32_t i = 0; i < side; ++i) {
        transform_taps(m, half + i * 3, 1, points);
        SIMD_UNROLL for (int32_t j = 0; j < side; ++j) simd_store_f32(to + (i * side + j) * point_step, points[j]);
      }
    }
  }
}
#endif

static void winograd_pack(const mslite_node *node, int32_t input, const void *source, void *packed, int32_t m) {
  mslite_convolution g;
  if (mslite_convolution_of(node, &g) != MSLITE_OK) return;
  if (input == 2) {
    gemm_pack_bias(source, g.out_channels, packed);
    return;
  }
#if SIMD_HALF
  mslite_winograd_pack_half(&g, m, GEMM_COLUMNS, source, packed);
#else
  mslite_winograd_pack(&g, m, GEMM_COLUMNS, source, packed);
#endif
}

/* v[point][tile][channel] = B^T d B for `lanes` channels of one tile; `d` has pointers to its (m + 2)^2 pixels. */
SIMD_INLINE void transform_input_lanes(const int32_t m, const simd_real *const *d, int64_t c, simd_real *v,
                                       int64_t point_step, int32_t lanes) {
  const int32_t side = m + 2;
  real_vector pixels[WINOGRAD_MOST_SIDE * WINOGRAD_MOST_SIDE], half[WINOGRAD_MOST_SIDE * WINOGRAD_MOST_SIDE];
  SIMD_UNROLL for (int32_t i = 0; i < side; ++i) {
    SIMD_UNROLL for (int32_t j = 0; j < side; ++j) pixels[i * side + j] = real_load_lanes(d[i * side + j] + c, lanes);
    winograd_input(m, pixels + i * side, half + i * side, 1);
  }
  SIMD_UNROLL for (int32_t j = 0; j < side; ++j) {
    winograd_input(m, half + j, pixels + j, side);
    SIMD_UNROLL for (int32_t i = 0; i < side; ++i) {
      real_store_lanes(v + (i * side + j) * point_step + c, pixels[i * side + j], lanes);
    }
  }
}

SIMD_INLINE void transform_input(const winograd_derived *numbers, const int32_t m, const simd_real *x, int64_t tile,
                                 simd_real *v) {
  const mslite_convolution *g = &numbers->geometry;
  const mslite_winograd_plan *plan = &numbers->plan;
  static const simd_real zeros[EDGE_CHANNELS] = {0};
  const simd_real *d[WINOGRAD_MOST_SIDE * WINOGRAD_MOST_SIDE];
  const int32_t side = m + 2;
  const int64_t image = tile / (plan->across * plan->down);
  const int64_t top = tile / plan->across % plan->down * m - g->height.pad_before;
  const int64_t left = tile % plan->across * m - g->width.pad_before;
  const bool inside = top >= 0 && left >= 0 && top + side <= g->height.input && left + side <= g->width.input;
  const int64_t channels = g->in_channels, point_step = numbers->v_tiles * channels;
  x += image * g->height.input * g->width.input * channels;
  /* For a tile that extends beyond an edge, the number of channels is limited by the zeros that pointers can refer
   * to. */
  const int64_t most = inside ? channels : EDGE_CHANNELS;
  for (int64_t first = 0; first < channels; first += most) {
    const int64_t count = channels - first < most ? channels - first : most;
    for (int32_t i = 0; i < side; ++i) {
      for (int32_t j = 0; j < side; ++j) {
        const int64_t iy = top + i, ix = left + j;
        const bool here = inside || (iy >= 0 && iy < g->height.input && ix >= 0 && ix < g->width.input);
        d[i * side + j] = here ? x + (iy * g->width.input + ix) * channels + first : zeros;
      }
    }
    int64_t c = 0;
    for (; c + REAL_LANES <= count; c += REAL_LANES) {
      transform_input_lanes(m, d, c, v + first, point_step, REAL_LANES);
    }
    if (c < count) transform_input_lanes(m, d, c, v + first, point_step, (int32_t)(count - c));
  }
}

/* Stores one tile of y at `y`, or its `rows` x `across` pixels that exist, from the transformed results. */
SIMD_INLINE void store_tile(const mslite_convolution *g, const int32_t m, const real_vector *out, real_vector start,
                            const simd_real *residual, simd_real *y, int64_t rows, int64_t across, real_vector low,
                            real_vector high, const int32_t lanes) {
  SIMD_UNROLL for (int32_t i = 0; i < m; ++i) {
    SIMD_UNROLL for (int32_t j = 0; j < m; ++j) {
      if (i >= rows || j >= across) continue;
      const int64_t pixel = (i * g->width.output + j) * g->out_channels;
      real_vector value = out[i * m + j] + start;
      if (residual != NULL) value += real_load_lanes(residual + pixel, lanes);
      real_store_lanes(y + pixel, real_min(real_max(value, low), high), lanes);
    }
  }
}

/* Computes columns [column, column + columns) of one tile of y from sums[point][tile][CHUNK_COLUMNS]. */
SIMD_INLINE void transform_output(const winograd_derived *numbers, const mslite_run *run, const int32_t m,
                                  const simd_real *sums, int64_t point_step, int64_t tile, int64_t column,
                                  int64_t columns, real_vector low, real_vector high) {
  const mslite_convolution *g = &numbers->geometry;
  const mslite_winograd_plan *plan = &numbers->plan;
  const int32_t side = m + 2;
  const int64_t image = tile / (plan->across * plan->down);
  const int64_t top = tile / plan->across % plan->down * m, left = tile % plan->across * m;
  const int64_t at = ((image * g->height.output + top) * g->width.output + left) * g->out_channels + column;
  const int64_t rows = g->height.output - top < m ? g->height.output - top : m;
  const int64_t across = g->width.output - left < m ? g->width.output - left : m;
  simd_real *y = (simd_real *)run->outputs[0] + at;
  const simd_real *residual = numbers->residual ? (const simd_real *)run->inputs[3] + at : NULL;
  const simd_real *bias = g->has_bias ? (const simd_real *)run->inputs[2] + column : NULL;
  for (int64_t c = 0; c < columns; c += REAL_LANES) {
    const int32_t lanes = columns - c < REAL_LANES ? (int32_t)(columns - c) : REAL_LANES;
    real_vector half[WINOGRAD_MOST_SIDE * WINOGRAD_MOST_SIDE], out[4 * 4];
    SIMD_UNROLL for (int32_t j = 0; j < side; ++j) {
      real_vector points[WINOGRAD_MOST_SIDE];
      SIMD_UNROLL for (int32_t i = 0; i < side; ++i) points[i] = real_load(sums + (i * side + j) * point_step + c);
      winograd_output(m, points, half + j, 1, side);
    }
    const real_vector start = bias == NULL ? real_set(0.0f) : real_load_lanes(bias + c, lanes);
    SIMD_UNROLL for (int32_t i = 0; i < m; ++i) winograd_output(m, half + i * side, out + i * m, 1, 1);
    const simd_real *from = residual == NULL ? NULL : residual + c;
    if (rows == m && across == m && lanes == REAL_LANES) {
      store_tile(g, m, out, start, from, y + c, m, m, low, high, REAL_LANES);
    } else {
      store_tile(g, m, out, start, from, y + c, rows, across, low, high, lanes);
    }
  }
  for (int64_t i = 0; i < rows; ++i) {
    fused_rows(g->activation, y + i * g->width.output * g->out_channels, g->out_channels, across, columns);
  }
}

SIMD_INLINE void multiply_part(const winograd_derived *numbers, const mslite_run *run, int32_t part, const int32_t m) {
  const mslite_convolution *g = &numbers->geometry;
  const mslite_winograd_plan *plan = &numbers->plan;
  const int32_t points = (m + 2) * (m + 2);
  const int64_t panel = part % plan->panel_blocks * plan->panel_block;
  const int64_t tile = part / plan->panel_blocks * plan->tile_block;
  const int64_t tiles = tile + plan->tile_block < plan->tiles ? plan->tile_block : plan->tiles - tile;
  const int64_t last_panel = panel + plan->panel_block < plan->panels ? panel + plan->panel_block : plan->panels;
  const int64_t point_step = plan->tile_block * CHUNK_COLUMNS, v_step = numbers->v_tiles * g->in_channels;
  simd_real *sums = run->scratch, *own = sums + points * point_step;
  const simd_real *v = plan->shared ? (const simd_real *)run->shared + tile * g->in_channels : own;
  for (int64_t t = 0; t < tiles && !plan->shared; ++t) {
    transform_input(numbers, m, run->inputs[0], tile + t, own + t * g->in_channels);
  }
  const simd_real *weight = run->inputs[1];
  if (numbers->pack_parts > 0) weight = (const simd_real *)run->shared + numbers->packed;
  const simd_real *rows[MSLITE_WINOGRAD_MAX_TILES];
  const int64_t no_offset = 0;
  gemm_block block = {
      .offsets = &no_offset,
      .pieces = 1,
      .k = g->in_channels,
      .b_step = GEMM_COLUMNS * g->in_channels,
      .c_step = CHUNK_COLUMNS,
      .rows = tiles,
  };
  gemm_block bounds;
  gemm_set_activation(&block, MSLITE_ACTIVATION_TYPE_NO_ACTIVATION);
  gemm_set_activation(&bounds, g->activation);
  for (int64_t p = panel; p < last_panel; p += 2) {
    const int64_t column = p * GEMM_COLUMNS, left = g->out_channels - column;
    const int64_t columns = left < CHUNK_COLUMNS ? left : CHUNK_COLUMNS;
    for (int32_t point = 0; point < points; ++point) {
      for (int64_t t = 0; t < tiles; ++t) rows[t] = v + point * v_step + t * g->in_channels;
      block.a = rows;
      block.b = weight + point * numbers->point_step + column * g->in_channels;
      block.c = sums + point * point_step;
      block.columns = (last_panel - p < 2 ? 1 : 2) * GEMM_COLUMNS;
      gemm_run(&block);
    }
    for (int64_t t = 0; t < tiles; ++t) {
      transform_output(numbers, run, m, sums + t * CHUNK_COLUMNS, point_step, tile + t, column, columns,
                       real_set(bounds.low), real_set(bounds.high));
    }
  }
}

SIMD_INLINE void winograd_run(const mslite_run *run, int32_t phase, int32_t part, const int32_t m) {
  const winograd_derived *numbers = run->derived;
  if (phase == 1 || (!numbers->plan.shared && numbers->pack_parts == 0)) {
    multiply_part(numbers, run, part, m);
    return;
  }
#if !SIMD_HALF
  if (part < numbers->pack_parts) {
    pack_filters(&numbers->geometry, m, numbers->turned, part, run->inputs[1], (float *)run->shared + numbers->packed,
                 numbers->point_step);
    return;
  }
#endif
  const int64_t first = (part - numbers->pack_parts) * PHASE_TILES;
  for (int64_t tile = first; tile < first + PHASE_TILES && tile < numbers->plan.tiles; ++tile) {
    transform_input(numbers, m, run->inputs[0], tile, (simd_real *)run->shared + tile * numbers->geometry.in_channels);
  }
}

#define WINOGRAD_SIZE(m)                                                                                          \
  static int32_t winograd##m##_support(const mslite_node *node) { return winograd_support(node, m); }             \
  static mslite_status winograd##m##_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) { \
    return winograd_prepare(node, derived, schedule, m);                                                          \
  }                                                                                                               \
  static int64_t winograd##m##_pack_size(const mslite_node *node, int32_t input) {                                \
    return winograd_pack_size(node, input, m);                                                                    \
  }                                                                                                               \
  static void winograd##m##_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {      \
    winograd_pack(node, input, source, packed, m);                                                                \
  }                                                                                                               \
  static void winograd##m##_run(const mslite_run *run, int32_t phase, int32_t part) {                             \
    winograd_run(run, phase, part, m);                                                                            \
  }

#define WINOGRAD(function, m, operator)                             \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function) = { \
      .name = MSLITE_ISA_STRING(function),                          \
      .op = MSLITE_OP_##operator,                                   \
      .isa = MSLITE_THIS_ISA,                                       \
      .derived_size = sizeof(winograd_derived),                     \
      .support = winograd##m##_support,                             \
      .prepare = winograd##m##_prepare,                             \
      .pack_size = winograd##m##_pack_size,                         \
      .pack = winograd##m##_pack,                                   \
      .run = winograd##m##_run,                                     \
  };

WINOGRAD_SIZE(2)
WINOGRAD_SIZE(4)
WINOGRAD(conv2d_winograd2_f32, 2, Conv2DFusion)
WINOGRAD(conv2d_winograd4_f32, 4, Conv2DFusion)
WINOGRAD(conv2d_add_winograd2_f32, 2, Conv2DAddFusion)
WINOGRAD(conv2d_add_winograd4_f32, 4, Conv2DAddFusion)
#if !SIMD_HALF
WINOGRAD(conv2d_input_grad_winograd2, 2, Conv2DBackpropInputFusion)
WINOGRAD(conv2d_input_grad_winograd4, 4, Conv2DBackpropInputFusion)
#endif
