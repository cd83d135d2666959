/* Depthwise convolution of stored int8, vectorised over channels: sums of pairs of 16-bit products, rescaled while they
 * are in registers. The usual kernels compute DEPTHWISE_TILE neighbouring pixels at once, so that a column of x is
 * read and widened once for all of them; any other kernel goes pixel by pixel. Where several outputs belong to an input
 * channel, x is first spread to as many channels as y has.
 *
 * Limit: 3 x 3 at stride 1 on AVX2 takes some 140 instructions for the sums of 16 channels and 4 pixels, and rescaling
 * them 120, where float32 takes 100. */
#include "convolution/depthwise_int8_pack.h"
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

static int32_t depthwise_support(const mslite_node *node) {
  if (!mslite_stored_convolution_fits(node, MSLITE_INT8)) return 0;
  mslite_convolution_attributes attributes;
  mslite_convolution_read(node->op, node->params, &attributes);
  const int64_t *dims = node->inputs[1]->dims;
  return attributes.group > 1 && dims[3] == 1 && dims[0] % attributes.group == 0 && dims[1] * dims[2] <= MOST_TAPS ? 3
                                                                                                                   : 0;
}

static mslite_status depthwise_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  depthwise_derived *own = derived;
  mslite_convolution *g = &own->geometry;
  const mslite_status status = mslite_convolution_of(node, g);
  if (status != MSLITE_OK) return status;
  own->numbers = mslite_stored_numbers_of(node);
  own->multiplier = g->out_channels / g->in_channels;
  const int64_t rows = g->batch * g->height.output, taps = g->height.kernel * g->width.kernel;
  own->step = round_up(g->out_channels, GROUP);
  /* The weights of a part stay in the L1 cache beside the rows that it reads: 12 KB. */
  int64_t channels = round_up(6144 / taps, GROUP);
  if (channels > MOST_CHANNELS) channels = MOST_CHANNELS;
  if (channels < GROUP) channels = GROUP;
  own->channel_blocks = (g->out_channels + channels - 1) / channels;
  own->channel_block = round_up((g->out_channels + own->channel_blocks - 1) / own->channel_blocks, GROUP);
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
  schedule->scratch_bytes = MOST_CHANNELS + 2 * GROUP;
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
  int64_t channels; /* of the part */
  int64_t width;    /* of all parts */
#if SIMD_WIDTH == 8
  simd_i32 zero;
  __m128i low, high;
#elif SIMD_WIDTH == 16 && !SIMD_EMULATED
  simd_i32 zero;
  __m256i low, high;
#else
  simd_narrow_limits limits;
#endif
  const int8_t *padding; /* channels that hold the zero point of x */
} depthwise_tile;

static void set_limits(depthwise_tile *t, const mslite_stored_numbers *n) {
#if SIMD_WIDTH == 8
  t->zero = simd_set_i32(n->y_zero);
  t->low = _mm_set1_epi8((char)n->low);
  t->high = _mm_set1_epi8((char)n->high);
#elif SIMD_WIDTH == 16 && !SIMD_EMULATED
  t->zero = simd_set_i32(n->y_zero);
  t->low = _mm256_set1_epi8((char)n->low);
  t->high = _mm256_set1_epi8((char)n->high);
#else
  t->limits = simd_make_narrow_limits(n->y_zero, n->low, n->high);
#endif
}

/* The stored results of the group of slot c, except for the first `made` channels and those that do not exist. */
SIMD_INLINE void store_group(const depthwise_tile *t, int64_t c, const simd_i32 *sum, int8_t *y, int64_t made) {
  simd_i32 result[2];
  SIMD_UNROLL for (int32_t v = 0; v < 2; ++v) {
    const int32_t *numbers = t->numbers + c + v * SIMD_WIDTH;
    const simd_multiplier factor = simd_make_multiplier(simd_load_i32(numbers + ROW_FACTOR * t->step),
                                                        simd_load_i32(numbers + ROW_SHIFT * t->step));
    result[v] = simd_rescale(sum[v], &factor);
  }
  int8_t room[GROUP];
  const int64_t count = t->width < GROUP ? t->width : GROUP;
  int8_t *to = made == 0 && count == GROUP ? y : room;
#if SIMD_WIDTH == 8
  const __m256i both = _mm256_packs_epi32((__m256i)(result[0] + t->zero), (__m256i)(result[1] + t->zero));
  const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
  _mm_storeu_si128((__m128i *)(void *)to, _mm_min_epi8(_mm_max_epi8(bytes, t->low), t->high));
#elif SIMD_WIDTH == 16 && !SIMD_EMULATED
  const __m512i both = _mm512_packs_epi32((__m512i)(result[0] + t->zero), (__m512i)(result[1] + t->zero));
  const __m256i bytes = _mm512_cvtsepi16_epi8(both);
  _mm256_storeu_si256((__m256i *)(void *)to, _mm256_min_epi8(_mm256_max_epi8(bytes, t->low), t->high));
#else
  simd_narrow(result, 2, &t->limits, to);
#endif
  if (to == room) memcpy(y + made, room + made, (size_t)(count - made));
}

/* Channels of the group of slot c that the group before has made: as many channels earlier it begins. */
SIMD_INLINE int64_t shared_channels(const depthwise_tile *t, int64_t c) {
  return t->width >= GROUP && c + GROUP > t->channels ? c + GROUP - t->channels : 0;
}

/* DEPTHWISE_TILE outputs of the group of slot c. `kernel` and `stride` are constants when inlined. */
SIMD_INLINE void depthwise_group(const depthwise_tile *t, int64_t c, const int32_t kernel, const int32_t stride) {
  const int64_t made = shared_channels(t, c), at = c - made;
  simd_i32 sum[2 * DEPTHWISE_TILE];
  SIMD_UNROLL for (int32_t i = 0; i < 2 * DEPTHWISE_TILE; ++i) {
    sum[i] = simd_load_i32(t->numbers + c + i % 2 * SIMD_WIDTH);
  }
  const int32_t *w = t->w + c;
  for (int32_t ky = 0; ky < t->rows; ky += 2, w += kernel * t->step) {
    const int8_t *const *above = t->x[ky], *const *below = t->x[ky + 1 < t->rows ? ky + 1 : ky];
    SIMD_UNROLL for (int32_t j = 0; j < (DEPTHWISE_TILE - 1) * stride + kernel; ++j) {
      const simd_pair x = simd_make_pair(simd_load_words(above[j] + at), simd_load_words(below[j] + at));
      SIMD_UNROLL for (int32_t i = 0; i < DEPTHWISE_TILE; ++i) {
        const int32_t kx = j - i * stride;
        if (kx >= 0 && kx < kernel) simd_add_products(sum + 2 * i, &x, w + kx * t->step);
      }
    }
  }
  for (int32_t i = 0; i < DEPTHWISE_TILE; ++i) store_group(t, c, sum + 2 * i, t->y + i * t->y_step + at, made);
}

#define DEPTHWISE_KERNEL(kernel, stride)                                                                 \
  static __attribute__((noinline, unused)) void depthwise_##kernel##_##stride(const depthwise_tile *t) { \
    for (int64_t c = 0; c < t->channels; c += GROUP) depthwise_group(t, c, kernel, stride);              \
  }

DEPTHWISE_KERNEL(3, 1)
DEPTHWISE_KERNEL(3, 2)
DEPTHWISE_KERNEL(5, 1)
DEPTHWISE_KERNEL(5, 2)

typedef void (*depthwise_function)(const depthwise_tile *tile);

/* The tiled kernel for these numbers, or NULL. */
static depthwise_function find_tiled(const mslite_convolution *g) {
  const int64_t kernel = g->width.kernel, stride = g->width.stride;
  if (g->width.output < DEPTHWISE_TILE || g->out_channels < GROUP || SIMD_WIDTH == 1) return NULL;
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
  for (int64_t next = 0; next < g->width.output; next += DEPTHWISE_TILE) {
    /* The last tile begins where it fits: some pixels are computed twice. */
    const int64_t ox = next + DEPTHWISE_TILE <= g->width.output ? next : g->width.output - DEPTHWISE_TILE;
    const int64_t columns = (DEPTHWISE_TILE - 1) * g->width.stride + g->width.kernel;
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
    function(tile);
  }
}

/* What tap [ky, kx] of output [oy, ox] reads. */
static const int8_t *source_of(const mslite_convolution *g, const depthwise_tile *tile, const int8_t *x, int64_t oy,
                               int64_t ox, int64_t ky, int64_t kx) {
  const int64_t iy = oy * g->height.stride - g->height.pad_before + ky * g->height.dilation;
  const int64_t ix = ox * g->width.stride - g->width.pad_before + kx * g->width.dilation;
  const bool inside = iy >= 0 && iy < g->height.input && ix >= 0 && ix < g->width.input;
  return inside ? x + (iy * g->width.input + ix) * g->out_channels : tile->padding;
}

/* GROUP channels, or as many as there are. */
static simd_words load_some(const depthwise_tile *t, const int8_t *x) {
  if (t->width >= GROUP) return simd_load_words(x);
  int8_t room[GROUP] = {0};
  memcpy(room, x, (size_t)t->width);
  return simd_load_words(room);
}

/* The same for any kernel, pixel by pixel. */
static void plain_row(const mslite_convolution *g, const depthwise_tile *tile, const int8_t *x, int64_t oy, int8_t *y) {
  for (int64_t ox = 0; ox < g->width.output; ++ox, y += g->out_channels) {
    for (int64_t c = 0; c < tile->channels; c += GROUP) {
      const int64_t made = shared_channels(tile, c), at = c - made;
      simd_i32 sum[2] = {simd_load_i32(tile->numbers + c), simd_load_i32(tile->numbers + c + SIMD_WIDTH)};
      const int32_t *w = tile->w + c;
      for (int64_t ky = 0; ky < g->height.kernel; ky += 2) {
        for (int64_t kx = 0; kx < g->width.kernel; ++kx, w += tile->step) {
          const int8_t *above = source_of(g, tile, x, oy, ox, ky, kx);
          const int8_t *below = ky + 1 < g->height.kernel ? source_of(g, tile, x, oy, ox, ky + 1, kx) : above;
          const simd_pair both = simd_make_pair(load_some(tile, above + at), load_some(tile, below + at));
          simd_add_products(sum, &both, w);
        }
      }
      store_group(tile, c, sum, y + at, made);
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
  memset(run->scratch, own->numbers.x_zero, MOST_CHANNELS + 2 * GROUP);
  depthwise_tile tile;
  tile.numbers = (const int32_t *)run->inputs[1] + channel;
  tile.w = tile.numbers + ROW_WEIGHTS * own->step;
  tile.step = own->step;
  tile.y_step = g->out_channels;
  tile.channels = channel + own->channel_block < g->out_channels ? own->channel_block : g->out_channels - channel;
  set_limits(&tile, &own->numbers);
  tile.padding = (const int8_t *)run->scratch + GROUP;
  tile.width = g->out_channels;
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

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_depthwise_int8) = {
    .name = MSLITE_ISA_STRING(depthwise_int8),
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
