/* Depthwise convolution of stored int8, vectorised over channels: products and sums in lanes of 32 bits, rescaled while
 * they are in registers. The usual kernels compute DEPTHWISE_TILE neighbouring pixels at once, so that a column of x is
 * read and widened once for all of them; any other kernel goes pixel by pixel. Where several outputs belong to an input
 * channel, x is first spread to as many channels as y has.
 *
 * Limit: 3 x 3 at stride 1 does 36 multiply-adds for 27 loads per vector of channels and 4 pixels, and rescaling takes
 * as long again. */
#include "convolution/stored.h"
#include "math/fixed_point_simd.h"
#include "simd/narrow.h"

enum {
  DEPTHWISE_TILE = 4,
  MOST_COLUMNS = 12,
  MOST_ROWS = 5,
  MOST_CHANNELS = 320,
  MOST_TAPS = 1 << 14,     /* their products fit 32 bits */
  SMALLEST_PART = 1 << 15, /* multiply-adds */
  MOST_PARTS = 64
};

typedef struct {
  mslite_convolution geometry; /* with as many inputs as outputs */
  mslite_stored_numbers numbers;
  int64_t multiplier;                    /* outputs of an input channel */
  int64_t row_block, row_blocks;         /* output rows of one part, over all images */
  int64_t channel_block, channel_blocks; /* channels of one part */
  int64_t step;                          /* channels, filled up to whole vectors */
} depthwise_derived;

/* The packed weight: three rows of numbers, then a row per tap, each of `step` channels. The bias includes what the
 * zero point of x adds. */
enum { ROW_BIAS, ROW_FACTOR, ROW_SHIFT, ROW_WEIGHTS };

static int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

/* Products of lanes that hold 16 bits: x is sign-extended, the weight's upper half is empty where that is faster. */
#if SIMD_WIDTH == 8
SIMD_INLINE simd_i32 multiply(simd_i32 x, simd_i32 w) { return (simd_i32)_mm256_madd_epi16((__m256i)x, (__m256i)w); }
#elif SIMD_WIDTH == 16 && !SIMD_EMULATED
SIMD_INLINE simd_i32 multiply(simd_i32 x, simd_i32 w) { return (simd_i32)_mm512_madd_epi16((__m512i)x, (__m512i)w); }
#else
SIMD_INLINE simd_i32 multiply(simd_i32 x, simd_i32 w) { return x * w; }
#endif

static int32_t weight_lane(int32_t weight) {
#if SIMD_WIDTH >= 8 && !SIMD_EMULATED
  return weight & 0xFFFF;
#else
  return weight;
#endif
}

/* SIMD_WIDTH stored integers. */
SIMD_INLINE simd_i32 widen(const int8_t *x) {
#if SIMD_WIDTH == 8
  return (simd_i32)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)x));
#elif SIMD_WIDTH == 16 && !SIMD_EMULATED
  return (simd_i32)_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)x));
#elif SIMD_WIDTH == 4
  int32_t lanes;
  memcpy(&lanes, x, sizeof lanes);
  return (simd_i32)vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(lanes)))));
#elif SIMD_WIDTH == 1
  return *x;
#else
  simd_i32 lanes;
  for (int i = 0; i < SIMD_WIDTH; ++i) lanes[i] = x[i];
  return lanes;
#endif
}

SIMD_INLINE simd_i32 widen_lanes(const int8_t *x, int32_t lanes) {
  if (lanes == SIMD_WIDTH) return widen(x);
  int8_t room[SIMD_WIDTH] = {0};
  memcpy(room, x, (size_t)lanes);
  return widen(room);
}

static int32_t depthwise_support(const mslite_node *node) {
  if (!mslite_stored_convolution_fits(node, MSLITE_INT8)) return 0;
  mslite_convolution_attributes attributes;
  mslite_convolution_read(node->op, node->params, &attributes);
  const int64_t *dims = node->inputs[1]->dims;
  return attributes.group > 1 && dims[3] == 1 && dims[0] % attributes.group == 0 && dims[1] * dims[2] <= MOST_TAPS ? 3
                                                                                                                   : 0;
}

static int64_t depthwise_pack_size(const mslite_node *node, int32_t input) {
  if (input != 1) return 0;
  const int64_t *dims = node->inputs[1]->dims;
  return (ROW_WEIGHTS + dims[1] * dims[2]) * round_up(dims[0], SIMD_WIDTH) * (int64_t)sizeof(int32_t);
}

static void depthwise_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  if (input != 1) return;
  const int64_t *dims = node->inputs[1]->dims;
  const int64_t taps = dims[1] * dims[2], step = round_up(dims[0], SIMD_WIDTH);
  const uint32_t x_zero = (uint32_t)node->inputs[0]->quant->zero_point;
  int32_t *to = packed;
  memset(to, 0, (size_t)depthwise_pack_size(node, input));
  for (int64_t c = 0; c < dims[0]; ++c) {
    const mslite_stored_channel channel = mslite_stored_channel_of(node, c);
    uint32_t bias = (uint32_t)channel.bias;
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int32_t weight = ((const int8_t *)source)[c * taps + tap] - channel.weight_zero;
      bias -= x_zero * (uint32_t)weight;
      to[(ROW_WEIGHTS + tap) * step + c] = weight_lane(weight);
    }
    to[ROW_BIAS * step + c] = (int32_t)bias;
    to[ROW_FACTOR * step + c] = channel.factor.value;
    to[ROW_SHIFT * step + c] = channel.factor.shift;
  }
}

static mslite_status depthwise_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  depthwise_derived *own = derived;
  mslite_convolution *g = &own->geometry;
  const mslite_status status = mslite_convolution_of(node, g);
  if (status != MSLITE_OK) return status;
  own->numbers = mslite_stored_numbers_of(node);
  own->multiplier = g->out_channels / g->in_channels;
  const int64_t rows = g->batch * g->height.output, taps = g->height.kernel * g->width.kernel;
  own->step = round_up(g->out_channels, SIMD_WIDTH);
  /* The weights of a part stay in the L1 cache beside the rows that it reads: 12 KB. */
  int64_t channels = round_up(3072 / taps, 16);
  if (channels > MOST_CHANNELS) channels = MOST_CHANNELS;
  if (channels < 16) channels = 16;
  own->channel_blocks = (g->out_channels + channels - 1) / channels;
  own->channel_block = round_up((g->out_channels + own->channel_blocks - 1) / own->channel_blocks, SIMD_WIDTH);
  const double work = (double)rows * (double)g->width.output * (double)taps * (double)g->out_channels;
  int64_t blocks = (int64_t)(work / SMALLEST_PART) / own->channel_blocks;
  if (blocks > MOST_PARTS) blocks = MOST_PARTS;
  if (blocks < 1) blocks = 1;
  own->row_block = rows == 0 ? 1 : (rows + blocks - 1) / blocks;
  own->row_blocks = (rows + own->row_block - 1) / own->row_block;
  if (own->row_blocks > INT32_MAX / own->channel_blocks) return MSLITE_ERROR_UNSUPPORTED;
  const bool spreads = own->multiplier > 1;
  const int64_t x_rows = g->batch * g->height.input;
  if (x_rows > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = spreads ? 2 : 1;
  if (spreads) schedule->part_count[0] = (int32_t)x_rows;
  schedule->part_count[spreads ? 1 : 0] = (int32_t)(own->row_blocks * own->channel_blocks);
  schedule->shared_bytes = spreads ? x_rows * g->width.input * g->out_channels : 0;
  schedule->scratch_bytes = MOST_CHANNELS + SIMD_WIDTH;
  return MSLITE_OK;
}

/* Where one tile reads and writes; pointers are at the part's first channel. */
typedef struct {
  const int8_t *x[MOST_ROWS][MOST_COLUMNS]; /* [ky][column] */
  const int32_t *numbers;                   /* the packed rows */
  const int32_t *w;                         /* the first tap of the first ky */
  int64_t step;
  int32_t rows; /* ky that are inside */
  int8_t *y;
  int64_t y_step;
  int64_t channels;
  simd_narrow_limits limits;
  const int8_t *padding; /* channels that hold the zero point of x */
} depthwise_tile;

SIMD_INLINE void store_lanes(const depthwise_tile *t, int64_t c, simd_i32 sum, int8_t *y, const int32_t lanes) {
  const simd_multiplier factor = simd_make_multiplier(simd_load_i32(t->numbers + ROW_FACTOR * t->step + c),
                                                      simd_load_i32(t->numbers + ROW_SHIFT * t->step + c));
  const simd_i32 result = simd_rescale(sum, &factor);
  const simd_i32 pair[2] = {result, result};
  int8_t room[2 * SIMD_WIDTH];
  simd_narrow(pair, 2, &t->limits, room);
  memcpy(y, room, (size_t)lanes);
}

/* `pixels` outputs of `lanes` channels from channel c on. `pixels`, `kernel`, `stride` are constants when inlined. */
SIMD_INLINE void depthwise_lanes(const depthwise_tile *t, int64_t c, const int32_t pixels, const int32_t kernel,
                                 const int32_t stride, const int32_t lanes) {
  simd_i32 sum[DEPTHWISE_TILE];
  const simd_i32 start = simd_load_i32(t->numbers + ROW_BIAS * t->step + c);
  SIMD_UNROLL for (int32_t i = 0; i < pixels; ++i) sum[i] = start;
  const int32_t *w = t->w + c;
  for (int32_t ky = 0; ky < t->rows; ++ky) {
    simd_i32 x[MOST_COLUMNS];
    SIMD_UNROLL for (int32_t j = 0; j < (pixels - 1) * stride + kernel; ++j) x[j] = widen_lanes(t->x[ky][j] + c, lanes);
    SIMD_UNROLL for (int32_t kx = 0; kx < kernel; ++kx, w += t->step) {
      const simd_i32 weight = simd_load_i32(w);
      SIMD_UNROLL for (int32_t i = 0; i < pixels; ++i) sum[i] += multiply(x[i * stride + kx], weight);
    }
  }
  SIMD_UNROLL for (int32_t i = 0; i < pixels; ++i) store_lanes(t, c, sum[i], t->y + i * t->y_step + c, lanes);
}

SIMD_INLINE void depthwise_pixels(const depthwise_tile *t, const int32_t pixels, const int32_t kernel,
                                  const int32_t stride) {
  int64_t c = 0;
  for (; c + SIMD_WIDTH <= t->channels; c += SIMD_WIDTH) depthwise_lanes(t, c, pixels, kernel, stride, SIMD_WIDTH);
  if (c < t->channels) depthwise_lanes(t, c, pixels, kernel, stride, (int32_t)(t->channels - c));
}

/* `pixels` is 1 or DEPTHWISE_TILE. */
#define DEPTHWISE_KERNEL(kernel, stride)                                                                         \
  static __attribute__((noinline)) void depthwise_##kernel##_##stride(const depthwise_tile *t, int32_t pixels) { \
    if (pixels == 1) {                                                                                           \
      depthwise_pixels(t, 1, kernel, stride);                                                                    \
    } else {                                                                                                     \
      depthwise_pixels(t, DEPTHWISE_TILE, kernel, stride);                                                       \
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

/* One output row; x is the image, all pointers at the part's first channel. Rows outside read padding, like columns:
 * the bias counts on whole windows. */
static void tiled_row(const mslite_convolution *g, depthwise_function function, depthwise_tile *tile, const int8_t *x,
                      int64_t oy, int8_t *y) {
  tile->rows = (int32_t)g->height.kernel;
  for (int64_t ox = 0; ox < g->width.output;) {
    const int64_t pixels = g->width.output - ox >= DEPTHWISE_TILE ? DEPTHWISE_TILE : 1;
    const int64_t columns = (pixels - 1) * g->width.stride + g->width.kernel;
    const int64_t ix = ox * g->width.stride - g->width.pad_before;
    for (int32_t ky = 0; ky < tile->rows; ++ky) {
      const int64_t iy = oy * g->height.stride - g->height.pad_before + ky * g->height.dilation;
      const bool inside = iy >= 0 && iy < g->height.input;
      const int8_t *row = x + (iy * g->width.input + ix) * g->out_channels;
      for (int64_t j = 0; j < columns; ++j) {
        tile->x[ky][j] = inside && ix + j >= 0 && ix + j < g->width.input ? row + j * g->out_channels : tile->padding;
      }
    }
    tile->y = y + ox * g->out_channels;
    function(tile, (int32_t)pixels);
    ox += pixels;
  }
}

/* The same for any kernel, pixel by pixel. */
static void plain_row(const mslite_convolution *g, const depthwise_tile *tile, const int8_t *x, int64_t oy, int8_t *y) {
  for (int64_t ox = 0; ox < g->width.output; ++ox, y += g->out_channels) {
    for (int64_t c = 0; c < tile->channels; c += SIMD_WIDTH) {
      const int32_t lanes = tile->channels - c < SIMD_WIDTH ? (int32_t)(tile->channels - c) : SIMD_WIDTH;
      simd_i32 sum = simd_load_i32(tile->numbers + ROW_BIAS * tile->step + c);
      const int32_t *w = tile->w + c;
      for (int64_t ky = 0; ky < g->height.kernel; ++ky) {
        const int64_t iy = oy * g->height.stride - g->height.pad_before + ky * g->height.dilation;
        for (int64_t kx = 0; kx < g->width.kernel; ++kx, w += tile->step) {
          const int64_t ix = ox * g->width.stride - g->width.pad_before + kx * g->width.dilation;
          const bool inside = iy >= 0 && iy < g->height.input && ix >= 0 && ix < g->width.input;
          const int8_t *pixel = inside ? x + (iy * g->width.input + ix) * g->out_channels : tile->padding;
          sum += multiply(widen_lanes(pixel + c, lanes), simd_load_i32(w));
        }
      }
      store_lanes(tile, c, sum, y + c, lanes);
    }
  }
}

/* One row of x, each channel `multiplier` times. */
static void spread_row(const depthwise_derived *own, const int8_t *x, int8_t *to) {
  const mslite_convolution *g = &own->geometry;
  const int64_t count = g->width.input * g->in_channels;
  for (int64_t i = 0; i < count; ++i) memset(to + i * own->multiplier, x[i], (size_t)own->multiplier);
}

static void depthwise_run(const mslite_run *run, int32_t phase, int32_t part) {
  const depthwise_derived *own = run->derived;
  const mslite_convolution *g = &own->geometry;
  const int8_t *input = run->inputs[0];
  if (own->multiplier > 1) {
    if (phase == 0) {
      spread_row(own, input + (int64_t)part * g->width.input * g->in_channels,
                 (int8_t *)run->shared + (int64_t)part * g->width.input * g->out_channels);
      return;
    }
    input = run->shared;
  }
  const int64_t channel = part % own->channel_blocks * own->channel_block;
  const int64_t first = part / own->channel_blocks * own->row_block, rows = g->batch * g->height.output;
  const depthwise_function function = find_tiled(g);
  memset(run->scratch, own->numbers.x_zero, MOST_CHANNELS + SIMD_WIDTH);
  depthwise_tile tile;
  tile.numbers = (const int32_t *)run->inputs[1] + channel;
  tile.w = tile.numbers + ROW_WEIGHTS * own->step;
  tile.step = own->step;
  tile.y_step = g->out_channels;
  tile.channels = channel + own->channel_block < g->out_channels ? own->channel_block : g->out_channels - channel;
  tile.limits = simd_make_narrow_limits(own->numbers.y_zero, own->numbers.low, own->numbers.high);
  tile.padding = run->scratch;
  for (int64_t row = first; row < first + own->row_block && row < rows; ++row) {
    const int64_t image = row / g->height.output, oy = row % g->height.output;
    const int8_t *x = input + image * g->height.input * g->width.input * g->out_channels + channel;
    int8_t *y = (int8_t *)run->outputs[0] + row * g->width.output * g->out_channels + channel;
    if (function != NULL) {
      tiled_row(g, function, &tile, x, oy, y);
    } else {
      plain_row(g, &tile, x, oy, y);
    }
  }
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_depthwise_i8) = {
    .name = MSLITE_ISA_STRING(depthwise_i8),
    .op = MSLITE_OP_Conv2DFusion,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(depthwise_derived),
    .support = depthwise_support,
    .prepare = depthwise_prepare,
    .pack_size = depthwise_pack_size,
    .pack = depthwise_pack,
    .run = depthwise_run,
    .quantised = 1,
};
