/* Depthwise convolution, vectorized over channels. Frequent kernel sizes compute up to DEPTHWISE_TILE adjacent
 * pixels together, so that a column of x is read once for all of them. Pixels whose windows extend beyond an edge,
 * and other kernel sizes, are computed one by one from the taps that are inside. A constant weight is packed at
 * load, others in a first phase.
 * Limit: 3 x 3 at stride 1 does 36 multiply-accumulates for 27 loads per vector of channels and 4 pixels, so it runs
 * at the speed of the FMA units while its rows are in the L1 or L2 cache, and at memory speed beyond. */
#include "convolution/geometry.h"
#include "matmul/fused.h"
#include "simd/real.h"

enum {
  DEPTHWISE_TILE = 4,
  MAX_COLUMNS = 12,
  MAX_VECTORS = SIMD_WIDTH == 4 ? 2 : 1, /* of a tile together, which share the column addresses */
  PIXEL_VECTORS = 4,                     /* of a single pixel together */
  MAX_CHANNELS = 320,
  SMALLEST_PART = 1 << 15, /* multiply-accumulates */
  MAX_PARTS = 64,
  MAX_HALF_TAPS = 64
};

typedef struct {
  mslite_convolution geometry;
  int64_t row_block, row_blocks;         /* output rows of one part, in all images */
  int64_t channel_block, channel_blocks; /* channels of one part */
  int64_t weight_step;                   /* packed floats per tap */
  bool packs;                            /* the weight is not constant */
} depthwise_derived;

static int32_t depthwise_support(const mslite_node *node) {
  mslite_convolution g;
  if (!mslite_convolution_fits(node, SIMD_REAL_TYPE, &g)) return 0;
  if (SIMD_HALF && (node->inputs[1]->data == NULL || (g.has_bias && node->inputs[2]->data == NULL))) return 0;
  /* Longer sums are not accurate enough in float16. */
  if (SIMD_HALF && g.height.kernel * g.width.kernel > MAX_HALF_TAPS) return 0;
  return mslite_is_depthwise(&g) && activation_is_fusable(g.activation) ? 3 : 0;
}

static int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

static int64_t depthwise_pack_size(const mslite_node *node, int32_t input) {
  mslite_convolution g;
  if (mslite_convolution_of(node, &g) != MSLITE_OK || input < 1 || input > (SIMD_HALF ? 2 : 1)) return 0;
  return (input == 1 ? g.height.kernel * g.width.kernel : 1) * round_up(g.group, REAL_LANES) *
         (int64_t)sizeof(simd_real);
}

/* Packs channels [first, last) of [tap][channel] with `step` channels per tap, padded with zeros after `channels`. */
static void pack_channels(const float *from, int64_t taps, int64_t channels, int64_t step, int64_t first, int64_t last,
                          simd_real *to) {
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t c = first; c < last; ++c) {
      to[tap * step + c] = (simd_real)(c < channels ? from[c * taps + tap] : 0.0f);
    }
  }
}

/* For float16 the bias is packed as another tap. */
static void depthwise_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  mslite_convolution g;
  if (mslite_convolution_of(node, &g) != MSLITE_OK) return;
  const int64_t taps = input == 1 ? g.height.kernel * g.width.kernel : 1, step = round_up(g.group, REAL_LANES);
  pack_channels(source, taps, g.group, step, 0, step, packed);
}

static mslite_status depthwise_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  depthwise_derived *numbers = derived;
  mslite_convolution *g = &numbers->geometry;
  const mslite_status status = mslite_convolution_of(node, g);
  if (status != MSLITE_OK) return status;
  const int64_t rows = g->batch * g->height.output, taps = g->height.kernel * g->width.kernel;
  numbers->weight_step = round_up(g->group, REAL_LANES);
  /* The weights of a part (12 KB) stay in the L1 cache with the rows that it reads. */
  int64_t channels = round_up(3072 / taps, 16);
  if (channels > MAX_CHANNELS) channels = MAX_CHANNELS;
  if (channels < 16) channels = 16;
  numbers->channel_blocks = (g->group + channels - 1) / channels;
  numbers->channel_block = round_up((g->group + numbers->channel_blocks - 1) / numbers->channel_blocks, REAL_LANES);
  const double work = (double)rows * (double)g->width.output * (double)taps * (double)g->group;
  int64_t blocks = (int64_t)(work / (double)SMALLEST_PART) / numbers->channel_blocks;
  if (blocks > MAX_PARTS) blocks = MAX_PARTS;
  if (blocks < 1) blocks = 1;
  numbers->row_block = rows == 0 ? 1 : (rows + blocks - 1) / blocks;
  numbers->row_blocks = (rows + numbers->row_block - 1) / numbers->row_block;
  if (numbers->row_blocks > INT32_MAX / numbers->channel_blocks) return MSLITE_ERROR_UNSUPPORTED;
  numbers->packs = node->inputs[1]->data == NULL;
  schedule->phase_count = 0;
  if (numbers->packs) {
    schedule->part_count[schedule->phase_count++] = (int32_t)numbers->channel_blocks;
    schedule->shared_bytes = taps * numbers->weight_step * (int64_t)sizeof(simd_real);
  }
  schedule->part_count[schedule->phase_count++] = (int32_t)(numbers->row_blocks * numbers->channel_blocks);
  return MSLITE_OK;
}

/* The addresses of adjacent pixels of one row, at the part's first channel and the first tap that is inside. Steps
 * are in floats. */
typedef struct {
  const simd_real *x;
  int64_t x_step, x_row; /* between columns, between ky */
  const simd_real *w;
  int64_t w_step, w_row; /* between taps, between ky */
  int64_t rows, columns; /* taps that are inside */
  const simd_real *bias;
  simd_real *y;
  int64_t y_step;
  int64_t channels;
  float low, high; /* the result is clamped to this range */
} depthwise_tile;

SIMD_INLINE real_vector depthwise_start(const depthwise_tile *t, int64_t c, const int32_t lanes) {
  return t->bias == NULL ? real_set(0.0f) : real_load_lanes(t->bias + c, lanes);
}

/* Computes `pixels` outputs of `vectors` vectors of channels from channel c on; of a single vector only the first
 * `lanes`. All parameters except t and c are constants when this is inlined. */
SIMD_INLINE void depthwise_lanes(const depthwise_tile *t, int64_t c, const int32_t pixels, const int32_t kernel,
                                 const int32_t stride, const int32_t vectors, const int32_t lanes) {
  const int32_t columns = (pixels - 1) * stride + kernel;
  real_vector sum[DEPTHWISE_TILE * MAX_VECTORS];
  SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
    const real_vector start = depthwise_start(t, c + v * REAL_LANES, lanes);
    SIMD_UNROLL for (int32_t i = 0; i < pixels; ++i) sum[i * vectors + v] = start;
  }
  const simd_real *row = t->x + c, *w = t->w + c;
  const int64_t x_step = t->x_step, w_step = t->w_step;
  for (int64_t ky = t->rows; ky > 0; --ky, row += t->x_row) {
    real_vector x[MAX_COLUMNS * MAX_VECTORS];
    const simd_real *column = row;
    SIMD_UNROLL for (int32_t j = 0; j < columns; ++j, column += x_step) {
      SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
        x[j * vectors + v] = real_load_lanes(column + v * REAL_LANES, lanes);
      }
    }
    SIMD_UNROLL for (int32_t kx = 0; kx < kernel; ++kx, w += w_step) {
      real_vector weight[MAX_VECTORS];
      SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) weight[v] = real_load(w + v * REAL_LANES);
      SIMD_UNROLL for (int32_t i = 0; i < pixels * vectors; ++i) {
        sum[i] = real_fma(x[(i / vectors * stride + kx) * vectors + i % vectors], weight[i % vectors], sum[i]);
      }
    }
  }
  const real_vector low = real_set(t->low), high = real_set(t->high);
  simd_real *y = t->y + c;
  SIMD_UNROLL for (int32_t i = 0; i < pixels; ++i, y += t->y_step) {
    SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
      real_store_lanes(y + v * REAL_LANES, real_min(real_max(sum[i * vectors + v], low), high), lanes);
    }
  }
}

#if SIMD_ASSEMBLY && !SIMD_HALF
#include "convolution/depthwise_arm64.h"
#endif

SIMD_INLINE void depthwise_pixels(const depthwise_tile *t, const int32_t pixels, const int32_t kernel,
                                  const int32_t stride) {
  /* As many vectors as the registers can hold: sums, a row's columns, weights. */
  const int32_t columns = (pixels - 1) * stride + kernel;
  const int32_t vectors = MAX_VECTORS * (pixels + columns + 1) <= SIMD_REGISTERS - 2 ? MAX_VECTORS : 1;
  int64_t c = 0;
#if SIMD_ASSEMBLY && !SIMD_HALF
  if (pixels == DEPTHWISE_TILE) c = depthwise_arm64(t, kernel, stride);
#endif
  for (; vectors > 1 && c + vectors * REAL_LANES <= t->channels; c += vectors * REAL_LANES) {
    depthwise_lanes(t, c, pixels, kernel, stride, vectors, REAL_LANES);
  }
  for (; c + REAL_LANES <= t->channels; c += REAL_LANES) depthwise_lanes(t, c, pixels, kernel, stride, 1, REAL_LANES);
  if (c < t->channels) depthwise_lanes(t, c, pixels, kernel, stride, 1, (int32_t)(t->channels - c));
}

/* As depthwise_lanes, for one pixel and any taps. */
SIMD_INLINE void depthwise_taps(const depthwise_tile *t, int64_t c, const int32_t vectors, const int32_t lanes) {
  real_vector sum[PIXEL_VECTORS];
  SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) sum[v] = depthwise_start(t, c + v * REAL_LANES, lanes);
  const simd_real *row = t->x + c, *taps = t->w + c;
  const int64_t x_step = t->x_step, w_step = t->w_step;
  for (int64_t ky = t->rows; ky > 0; --ky, row += t->x_row, taps += t->w_row) {
    const simd_real *x = row, *w = taps;
    for (int64_t kx = t->columns; kx > 0; --kx, x += x_step, w += w_step) {
      real_vector pixel[PIXEL_VECTORS], weight[PIXEL_VECTORS];
      SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) pixel[v] = real_load_lanes(x + v * REAL_LANES, lanes);
      SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) weight[v] = real_load(w + v * REAL_LANES);
      SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) sum[v] = real_fma(pixel[v], weight[v], sum[v]);
    }
  }
  const real_vector low = real_set(t->low), high = real_set(t->high);
  SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
    real_store_lanes(t->y + c + v * REAL_LANES, real_min(real_max(sum[v], low), high), lanes);
  }
}

static __attribute__((noinline)) void depthwise_pixel(const depthwise_tile *t) {
  int64_t c = 0;
  for (; c + PIXEL_VECTORS * REAL_LANES <= t->channels; c += PIXEL_VECTORS * REAL_LANES) {
    depthwise_taps(t, c, PIXEL_VECTORS, REAL_LANES);
  }
  for (; c + REAL_LANES <= t->channels; c += REAL_LANES) depthwise_taps(t, c, 1, REAL_LANES);
  if (c < t->channels) depthwise_taps(t, c, 1, (int32_t)(t->channels - c));
}

#define DEPTHWISE_KERNEL(kernel, stride)                                                                         \
  static __attribute__((noinline)) void depthwise_##kernel##_##stride(const depthwise_tile *t, int64_t pixels) { \
    if (pixels == DEPTHWISE_TILE) {                                                                              \
      depthwise_pixels(t, DEPTHWISE_TILE, kernel, stride);                                                       \
    } else {                                                                                                     \
      depthwise_pixels(t, 2, kernel, stride);                                                                    \
    }                                                                                                            \
  }

DEPTHWISE_KERNEL(3, 1)
DEPTHWISE_KERNEL(3, 2)
DEPTHWISE_KERNEL(5, 1)
DEPTHWISE_KERNEL(5, 2)

typedef void (*depthwise_function)(const depthwise_tile *tile, int64_t pixels);

/* Returns the tiled kernel for this geometry, or NULL. */
static depthwise_function find_tiled(const mslite_convolution *g) {
  const int64_t kernel = g->width.kernel, stride = g->width.stride;
  if (g->width.dilation != 1) return NULL;
  if (kernel == 3) return stride == 1 ? depthwise_3_1 : stride == 2 ? depthwise_3_2 : NULL;
  if (kernel == 5) return stride == 1 ? depthwise_5_1 : stride == 2 ? depthwise_5_2 : NULL;
  return NULL;
}

/* Computes pixels [first, last), one by one. `at` is set except for the columns: x and w at the first tap of the
 * row, y at its first pixel. */
static void run_pixels(const mslite_convolution *g, const depthwise_tile *at, int64_t first, int64_t last) {
  depthwise_tile tile = *at;
  for (int64_t ox = first; ox < last; ++ox) {
    int64_t left, right;
    mslite_window_taps(&g->width, ox, &left, &right);
    const int64_t ix = ox * g->width.stride - g->width.pad_before + left * g->width.dilation;
    tile.columns = right - left;
    tile.x = at->x + ix * g->group;
    tile.w = at->w + left * at->w_step;
    tile.y = at->y + ox * g->group;
    depthwise_pixel(&tile);
  }
}

/* Computes pixels [first, last), at least two, whose windows have all columns: in tiles of four, or two if fewer
 * remain. The last tile may overlap the one before. */
static void run_tiles(const mslite_convolution *g, const depthwise_tile *at, depthwise_function function, int64_t first,
                      int64_t last) {
  depthwise_tile tile = *at;
  for (int64_t ox = first; ox < last;) {
    const int64_t pixels = last - ox > 2 && last - first >= DEPTHWISE_TILE ? DEPTHWISE_TILE : 2;
    if (ox + pixels > last) ox = last - pixels;
    tile.x = at->x + (ox * g->width.stride - g->width.pad_before) * g->group;
    tile.y = at->y + ox * g->group;
    function(&tile, pixels);
    ox += pixels;
  }
}

/* Finds the output columns [*first, *last) whose windows are inside, if they are enough for a tile. */
static void find_inside(const mslite_axis *axis, int64_t *first, int64_t *last) {
  const int64_t pad = axis->pad_before, room = axis->input - axis->kernel + pad;
  *first = pad > 0 ? (pad + axis->stride - 1) / axis->stride : 0;
  if (*first > axis->output) *first = axis->output;
  *last = room < 0 ? 0 : room / axis->stride + 1;
  if (*last > axis->output) *last = axis->output;
  if (*last < *first + 2) *last = *first; /* a tile has at least two pixels */
}

static void depthwise_run(const mslite_run *run, int32_t phase, int32_t part) {
  const depthwise_derived *numbers = run->derived;
  const mslite_convolution *g = &numbers->geometry;
  const int64_t channel = part % numbers->channel_blocks * numbers->channel_block;
  if (numbers->packs && phase == 0) {
    const int64_t last = channel + numbers->channel_block, step = numbers->weight_step;
    pack_channels(run->inputs[1], g->height.kernel * g->width.kernel, g->group, step, channel,
                  last < step ? last : step, run->shared);
    return;
  }
  const int64_t first = part / numbers->channel_blocks * numbers->row_block, rows = g->batch * g->height.output;
  const int64_t x_row = g->width.input * g->group;
  const simd_real *weight = numbers->packs ? run->shared : run->inputs[1];
  const depthwise_function function = find_tiled(g);
  int64_t inside = 0, behind = 0;
  if (function != NULL) find_inside(&g->width, &inside, &behind);
  depthwise_tile tile = {
      .x_step = g->width.dilation * g->group,
      .x_row = g->height.dilation * x_row,
      .w_step = numbers->weight_step,
      .w_row = g->width.kernel * numbers->weight_step,
      .bias = g->has_bias ? (const simd_real *)run->inputs[2] + channel : NULL,
      .y_step = g->group,
      .channels = channel + numbers->channel_block < g->group ? numbers->channel_block : g->group - channel,
      .low = fused_low(g->activation),
      .high = fused_high(g->activation),
  };
  for (int64_t row = first; row < first + numbers->row_block && row < rows; ++row) {
    const int64_t image = row / g->height.output, oy = row % g->height.output;
    int64_t top, bottom;
    mslite_window_taps(&g->height, oy, &top, &bottom);
    const int64_t iy = oy * g->height.stride - g->height.pad_before + top * g->height.dilation;
    tile.x = (const simd_real *)run->inputs[0] + (image * g->height.input + iy) * x_row + channel;
    tile.w = weight + channel + top * tile.w_row;
    tile.rows = bottom - top;
    tile.y = (simd_real *)run->outputs[0] + row * g->width.output * g->group + channel;
    run_pixels(g, &tile, 0, inside);
    run_tiles(g, &tile, function, inside, behind);
    run_pixels(g, &tile, behind, g->width.output);
    fused_rows(g->activation, tile.y, g->group, g->width.output, tile.channels);
  }
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_depthwise_f32) = {
    .name = MSLITE_ISA_STRING(depthwise_f32),
    .op = MSLITE_OP_Conv2DFusion,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(depthwise_derived),
    .support = depthwise_support,
    .prepare = depthwise_prepare,
    .pack_size = depthwise_pack_size,
    .pack = depthwise_pack,
    .run = depthwise_run,
};
