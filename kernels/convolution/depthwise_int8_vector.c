/* Depthwise convolution of stored int8, vectorised over channels: sums of pairs of 16-bit products, rescaled while they
 * are in registers. The usual kernels compute DEPTHWISE_TILE neighbouring pixels at once, so that a column of x is
 * read and widened once for all of them; any other kernel goes pixel by pixel. Where several outputs belong to an input
 * channel, x is first spread to as many channels as y has.
 *
 * Limit: 3 x 3 at stride 1 on AVX2 takes some 140 instructions for the sums of 16 channels and 4 pixels, and rescaling
 * them 120, or 64 where results are rounded once; float32 takes 100 altogether. */
#include "convolution/depthwise_int8_tile.h"

enum {
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
  store_group(t, c, sum, DEPTHWISE_TILE, t->y + at, made);
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

/* What a tile reads whose first column is ix, of the row that begins at `row`, or of padding where that is NULL. */
static void point_at(const mslite_convolution *g, const depthwise_tile *tile, const int8_t *row, int64_t ix,
                     int64_t columns, const int8_t **to) {
  for (int64_t j = 0; j < columns; ++j) {
    const bool inside = row != NULL && ix + j >= 0 && ix + j < g->width.input;
    to[j] = inside ? row + (ix + j) * g->out_channels : tile->padding;
  }
}

/* One output row; x is the image, all pointers at the part's first channel. Rows outside read padding, like columns:
 * the bias counts on whole windows. */
static void tiled_row(const mslite_convolution *g, depthwise_function function, depthwise_tile *tile, const int8_t *x,
                      int64_t oy, int8_t *y) {
  const int64_t columns = (DEPTHWISE_TILE - 1) * g->width.stride + g->width.kernel;
  const int64_t row_bytes = g->width.input * g->out_channels;
  const int8_t *rows[MOST_ROWS];
  tile->rows = (int32_t)g->height.kernel;
  for (int32_t ky = 0; ky < tile->rows; ++ky) {
    const int64_t iy = oy * g->height.stride - g->height.pad_before + ky * g->height.dilation;
    rows[ky] = iy >= 0 && iy < g->height.input ? x + iy * row_bytes : NULL;
  }
  int64_t last = -1; /* the first column of a tile that was inside, and whose pointers are still there */
  for (int64_t next = 0; next < g->width.output; next += DEPTHWISE_TILE) {
    /* The last tile begins where it fits: some pixels are computed twice. */
    const int64_t ox = next + DEPTHWISE_TILE <= g->width.output ? next : g->width.output - DEPTHWISE_TILE;
    const int64_t ix = ox * g->width.stride - g->width.pad_before;
    const bool inside = ix >= 0 && ix + columns <= g->width.input;
    for (int32_t ky = 0; ky < tile->rows; ++ky) {
      const int8_t **to = tile->x[ky];
      if (!inside || last < 0) {
        point_at(g, tile, rows[ky], ix, columns, to);
      } else if (rows[ky] != NULL) {
        const int64_t further = (ix - last) * g->out_channels;
        for (int64_t j = 0; j < columns; ++j) to[j] += further;
      }
    }
    last = inside ? ix : -1;
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
      store_group(tile, c, sum, 1, y + at, made);
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
