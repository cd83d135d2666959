/* Depthwise convolution, vectorised over channels. The usual kernels compute up to DEPTHWISE_TILE neighbouring pixels
 * at once, so that a column of x is read once for all of them; any other kernel goes pixel by pixel.
 *
 * Limit: 3 x 3 at stride 1 does 36 multiply-adds for 27 loads per vector of channels and 4 pixels, so it runs at the
 * speed of the FMA units while its rows are in the L1 or L2 cache, and at memory speed beyond. */
#include "convolution/geometry.h"
#include "matmul/fused.h"
#include "simd/real.h"

enum {
  DEPTHWISE_TILE = 4,
  MOST_COLUMNS = 12,
  MOST_VECTORS = SIMD_WIDTH == 4 ? 2 : 1, /* at once: pointers to pixels are loaded for all of them */
  MOST_ROWS = 5,
  MOST_CHANNELS = 320,
  SMALLEST_PART = 1 << 15, /* multiply-adds */
  MOST_PARTS = 64,
  MOST_HALF_TAPS = 64
};

typedef struct {
  mslite_convolution geometry;
  int64_t row_block, row_blocks;         /* output rows of one part, over all images */
  int64_t channel_block, channel_blocks; /* channels of one part */
  int64_t weight_step;                   /* packed floats per tap */
} depthwise_derived;

/* The taps read zeros where a window hangs over the edge. */
static const simd_real zeros[MOST_CHANNELS + REAL_LANES];

static int32_t depthwise_support(const mslite_node *node) {
  mslite_convolution g;
  if (!mslite_convolution_fits(node, SIMD_REAL_TYPE, &g) || node->inputs[1]->data == NULL) return 0;
  /* Longer sums are no longer good in float16. */
  if (SIMD_HALF && g.height.kernel * g.width.kernel > MOST_HALF_TAPS) return 0;
  return mslite_is_depthwise(&g) && activation_is_fusable(g.activation) ? 3 : 0;
}

static int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

static int64_t depthwise_pack_size(const mslite_node *node, int32_t input) {
  mslite_convolution g;
  if (mslite_convolution_of(node, &g) != MSLITE_OK || input < 1 || input > (SIMD_HALF ? 2 : 1)) return 0;
  return (input == 1 ? g.height.kernel * g.width.kernel : 1) * round_up(g.group, REAL_LANES) *
         (int64_t)sizeof(simd_real);
}

/* [tap][channel], channels filled up with zeros; the bias of float16, which is one tap, too. */
static void depthwise_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  mslite_convolution g;
  if (mslite_convolution_of(node, &g) != MSLITE_OK) return;
  const int64_t taps = input == 1 ? g.height.kernel * g.width.kernel : 1, step = round_up(g.group, REAL_LANES);
  const float *from = source;
  simd_real *to = packed;
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t c = 0; c < step; ++c) to[tap * step + c] = (simd_real)(c < g.group ? from[c * taps + tap] : 0.0f);
  }
}

static mslite_status depthwise_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  depthwise_derived *numbers = derived;
  mslite_convolution *g = &numbers->geometry;
  const mslite_status status = mslite_convolution_of(node, g);
  if (status != MSLITE_OK) return status;
  const int64_t rows = g->batch * g->height.output, taps = g->height.kernel * g->width.kernel;
  numbers->weight_step = round_up(g->group, REAL_LANES);
  /* The weights of a part stay in the L1 cache beside the rows that it reads: 12 KB. */
  int64_t channels = round_up(3072 / taps, 16);
  if (channels > MOST_CHANNELS) channels = MOST_CHANNELS;
  if (channels < 16) channels = 16;
  numbers->channel_blocks = (g->group + channels - 1) / channels;
  numbers->channel_block = round_up((g->group + numbers->channel_blocks - 1) / numbers->channel_blocks, REAL_LANES);
  const double work = (double)rows * (double)g->width.output * (double)taps * (double)g->group;
  int64_t blocks = (int64_t)(work / (double)SMALLEST_PART) / numbers->channel_blocks;
  if (blocks > MOST_PARTS) blocks = MOST_PARTS;
  if (blocks < 1) blocks = 1;
  numbers->row_block = rows == 0 ? 1 : (rows + blocks - 1) / blocks;
  numbers->row_blocks = (rows + numbers->row_block - 1) / numbers->row_block;
  if (numbers->row_blocks > INT32_MAX / numbers->channel_blocks) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)(numbers->row_blocks * numbers->channel_blocks);
  return MSLITE_OK;
}

/* Where one tile reads and writes; pointers are at the part's first channel. gcc 12 fills the table of pointers with
 * AVX-512 as if it lay at a multiple of 32 bytes: so it does. */
typedef struct {
  __attribute__((aligned(64))) const simd_real *x[MOST_ROWS][MOST_COLUMNS]; /* [ky][column] */
  const simd_real *w;                                                       /* the first tap of the first ky */
  int64_t w_step;
  int32_t rows; /* ky that are inside */
  const simd_real *bias;
  simd_real *y;
  int64_t y_step;
  int64_t channels;
  float low, high; /* the result is clamped to these */
} depthwise_tile;

/* `pixels` outputs of `vectors` vectors of channels from channel c on, of a single one the first `lanes`. All but t and
 * c are constants when inlined. */
SIMD_INLINE void depthwise_lanes(const depthwise_tile *t, int64_t c, const int32_t pixels, const int32_t kernel,
                                 const int32_t stride, const int32_t vectors, const int32_t lanes) {
  const int32_t columns = (pixels - 1) * stride + kernel;
  real_vector sum[DEPTHWISE_TILE * MOST_VECTORS];
  SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
    const real_vector start = t->bias == NULL ? real_set(0.0f) : real_load_lanes(t->bias + c + v * REAL_LANES, lanes);
    SIMD_UNROLL for (int32_t i = 0; i < pixels; ++i) sum[i * vectors + v] = start;
  }
  const simd_real *w = t->w + c;
  const int64_t w_step = t->w_step;
  for (int32_t ky = 0; ky < t->rows; ++ky) {
    real_vector x[MOST_COLUMNS * MOST_VECTORS];
    SIMD_UNROLL for (int32_t j = 0; j < columns; ++j) {
      const simd_real *column = t->x[ky][j] + c;
      SIMD_UNROLL for (int32_t v = 0; v < vectors; ++v) {
        x[j * vectors + v] = real_load_lanes(column + v * REAL_LANES, lanes);
      }
    }
    SIMD_UNROLL for (int32_t kx = 0; kx < kernel; ++kx, w += w_step) {
      real_vector weight[MOST_VECTORS];
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

SIMD_INLINE void depthwise_pixels(const depthwise_tile *t, const int32_t pixels, const int32_t kernel,
                                  const int32_t stride) {
  /* As many as the registers hold: sums, a row's columns, weights. */
  const int32_t columns = (pixels - 1) * stride + kernel;
  const int32_t vectors = MOST_VECTORS * (pixels + columns + 1) <= 30 ? MOST_VECTORS : 1;
  int64_t c = 0;
  for (; vectors > 1 && c + vectors * REAL_LANES <= t->channels; c += vectors * REAL_LANES) {
    depthwise_lanes(t, c, pixels, kernel, stride, vectors, REAL_LANES);
  }
  for (; c + REAL_LANES <= t->channels; c += REAL_LANES) depthwise_lanes(t, c, pixels, kernel, stride, 1, REAL_LANES);
  if (c < t->channels) depthwise_lanes(t, c, pixels, kernel, stride, 1, (int32_t)(t->channels - c));
}

#define DEPTHWISE_KERNEL(kernel, stride)                                                                         \
  static __attribute__((noinline)) void depthwise_##kernel##_##stride(const depthwise_tile *t, int32_t pixels) { \
    switch (pixels) {                                                                                            \
      case 1:                                                                                                    \
        depthwise_pixels(t, 1, kernel, stride);                                                                  \
        break;                                                                                                   \
      case 2:                                                                                                    \
        depthwise_pixels(t, 2, kernel, stride);                                                                  \
        break;                                                                                                   \
      case 3:                                                                                                    \
        depthwise_pixels(t, 3, kernel, stride);                                                                  \
        break;                                                                                                   \
      default:                                                                                                   \
        depthwise_pixels(t, DEPTHWISE_TILE, kernel, stride);                                                     \
    }                                                                                                            \
  }

DEPTHWISE_KERNEL(3, 1)
DEPTHWISE_KERNEL(3, 2)
DEPTHWISE_KERNEL(5, 1)
DEPTHWISE_KERNEL(5, 2)

typedef void (*depthwise_function)(const depthwise_tile *tile, int32_t pixels);

/* The tiled kernel for these numbers, or NULL. */
static depthwise_function find_tiled(const mslite_convolution *g) {
  const int64_t kernel = g->width.kernel, stride = g->width.stride;
  if (g->width.dilation != 1 || g->height.kernel > MOST_ROWS) return NULL;
  if (kernel == 3) return stride == 1 ? depthwise_3_1 : stride == 2 ? depthwise_3_2 : NULL;
  if (kernel == 5) return stride == 1 ? depthwise_5_1 : stride == 2 ? depthwise_5_2 : NULL;
  return NULL;
}

/* One output row; x is the image, all pointers at the part's first channel. */
static void tiled_row(const mslite_convolution *g, depthwise_function function, depthwise_tile *tile,
                      const simd_real *x, int64_t oy, simd_real *y) {
  int64_t top, bottom;
  mslite_window_taps(&g->height, oy, &top, &bottom);
  tile->rows = (int32_t)(bottom - top);
  tile->w += top * g->width.kernel * tile->w_step;
  int64_t ox = 0;
  /* Tiles of nearly equal width. */
  for (int64_t tiles = (g->width.output + DEPTHWISE_TILE - 1) / DEPTHWISE_TILE; tiles > 0; --tiles) {
    const int64_t pixels = (g->width.output - ox + tiles - 1) / tiles;
    const int64_t columns = (pixels - 1) * g->width.stride + g->width.kernel;
    const int64_t ix = ox * g->width.stride - g->width.pad_before;
    for (int32_t ky = 0; ky < tile->rows; ++ky) {
      const int64_t iy = oy * g->height.stride - g->height.pad_before + (top + ky) * g->height.dilation;
      const simd_real *row = x + (iy * g->width.input + ix) * g->group;
      for (int64_t j = 0; j < columns; ++j) {
        tile->x[ky][j] = ix + j >= 0 && ix + j < g->width.input ? row + j * g->group : zeros;
      }
    }
    tile->y = y + ox * g->group;
    function(tile, (int32_t)pixels);
    ox += pixels;
  }
}

/* The same for any kernel, pixel by pixel. */
static void plain_row(const mslite_convolution *g, const depthwise_tile *tile, const simd_real *x, int64_t oy,
                      simd_real *y) {
  int64_t top, bottom, left, right;
  mslite_window_taps(&g->height, oy, &top, &bottom);
  for (int64_t ox = 0; ox < g->width.output; ++ox, y += g->group) {
    mslite_window_taps(&g->width, ox, &left, &right);
    for (int64_t c = 0; c < tile->channels; c += REAL_LANES) {
      const int32_t lanes = tile->channels - c < REAL_LANES ? (int32_t)(tile->channels - c) : REAL_LANES;
      real_vector sum = tile->bias == NULL ? real_set(0.0f) : real_load_lanes(tile->bias + c, lanes);
      for (int64_t ky = top; ky < bottom; ++ky) {
        const int64_t iy = oy * g->height.stride - g->height.pad_before + ky * g->height.dilation;
        for (int64_t kx = left; kx < right; ++kx) {
          const int64_t ix = ox * g->width.stride - g->width.pad_before + kx * g->width.dilation;
          const real_vector pixel = real_load_lanes(x + (iy * g->width.input + ix) * g->group + c, lanes);
          sum = real_fma(pixel, real_load(tile->w + (ky * g->width.kernel + kx) * tile->w_step + c), sum);
        }
      }
      sum = real_min(real_max(sum, real_set(tile->low)), real_set(tile->high));
      real_store_lanes(y + c, sum, lanes);
    }
  }
}

static void depthwise_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const depthwise_derived *numbers = run->derived;
  const mslite_convolution *g = &numbers->geometry;
  const int64_t channel = part % numbers->channel_blocks * numbers->channel_block;
  const int64_t first = part / numbers->channel_blocks * numbers->row_block, rows = g->batch * g->height.output;
  const depthwise_function function = find_tiled(g);
  depthwise_tile tile;
  tile.w_step = numbers->weight_step;
  tile.bias = g->has_bias ? (const simd_real *)run->inputs[2] + channel : NULL;
  tile.y_step = g->group;
  tile.channels = channel + numbers->channel_block < g->group ? numbers->channel_block : g->group - channel;
  tile.low = fused_low(g->activation);
  tile.high = fused_high(g->activation);
  for (int64_t row = first; row < first + numbers->row_block && row < rows; ++row) {
    const int64_t image = row / g->height.output, oy = row % g->height.output;
    const simd_real *x =
        (const simd_real *)run->inputs[0] + image * g->height.input * g->width.input * g->group + channel;
    simd_real *y = (simd_real *)run->outputs[0] + row * g->width.output * g->group + channel;
    tile.w = (const simd_real *)run->inputs[1] + channel;
    if (function != NULL) {
      tiled_row(g, function, &tile, x, oy, y);
    } else {
      plain_row(g, &tile, x, oy, y);
    }
    fused_rows(g->activation, y, g->group, g->width.output, tile.channels);
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
