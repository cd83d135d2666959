/* Depthwise convolution of quantized int8, vectorized over channels: sums of pairs of 16-bit products, or, with dot
 * products, of four 8-bit products (for at least one group of channels, and weights without zero points), rescaled
 * in registers. Frequent kernel sizes compute DEPTHWISE_TILE adjacent pixels together, so that a column of x is read
 * and widened once for all of them; others are computed pixel by pixel. If an input channel has several outputs, x
 * is first expanded to the channels of y.
 * Limit: 3 x 3 at stride 1 on AVX2 takes about 140 instructions for the sums of 16 channels and 4 pixels, and 120
 * for rescaling, or 64 if results are rounded once; float32 takes 100 in total. */
#include "convolution/depthwise_int8_tile.h"
#include "quantized.h"

enum {
  MAX_CHANNELS = 320,
  /* Bytes of scratch memory, followed by the pointers to columns. */
  PADDING = (MAX_CHANNELS + 2 * GROUP + 63) / 64 * 64,
  MAX_TAPS = 1 << 14,      /* the sum of their products fits 32 bits */
  SMALLEST_PART = 1 << 15, /* multiply-accumulates */
  MAX_PARTS = 64,
  ROOM = GROUP * GROUP / 2, /* bytes: a group for each pixel of the two channels that a group extends over */
  /* Only windows of constant height, so that missing rows need no instructions. */
  ONLY_SQUARE = SIMD_FOURS && SIMD_WIDTH == 4
};

typedef struct {
  mslite_convolution geometry; /* with the channels of the output */
  mslite_stored_numbers numbers;
  int64_t multiplier;                    /* outputs per input channel */
  int64_t row_block, row_blocks;         /* output rows of one part, in all images */
  int64_t channel_block, channel_blocks; /* channels of one part */
  int64_t step;                          /* channels, padded to whole vectors */
} depthwise_derived;

static int32_t depthwise_support(const mslite_node *node) {
  if (!mslite_quantized_convolution_fits(node, MSLITE_INT8)) return 0;
  mslite_convolution_attributes attributes;
  mslite_convolution_read(node->op, node->params, &attributes);
  const int64_t *dims = node->inputs[1]->dims;
  if (attributes.group <= 1 || dims[3] != 1 || dims[0] % attributes.group != 0) return 0;
  if (SIMD_FOURS && (dims[0] < GROUP || mslite_has_zero_points(node->inputs[1]))) return 0;
  if (ONLY_SQUARE && dims[1] != dims[2]) return 0;
  return dims[1] * dims[2] <= MAX_TAPS ? 3 + SIMD_FOURS : 0;
}

/* Returns how many channels of slot c's group are also in the group before: it begins that many channels earlier. */
SIMD_INLINE int64_t shared_channels(const depthwise_tile *t, int64_t c) {
  return t->width >= GROUP && c + GROUP > t->channels ? c + GROUP - t->channels : 0;
}

/* Adds SIMD_ROWS of `rows` rows, beginning at row ky. */
SIMD_INLINE void add_rows(const depthwise_tile *t, int64_t at, int32_t ky, int32_t rows, const int32_t *w,
                          int64_t w_step, simd_i32 *sum, const int32_t kernel, const int32_t stride) {
  SIMD_UNROLL for (int32_t j = 0; j < (DEPTHWISE_TILE - 1) * stride + kernel; ++j) {
    simd_words row[SIMD_ROWS];
    SIMD_UNROLL for (int32_t i = 0; i < SIMD_ROWS; ++i) {
      row[i] = simd_load_words(t->x[ky + i < rows ? ky + i : ky][j] + at);
    }
    const simd_pair x = simd_make_pair(row);
    SIMD_UNROLL for (int32_t i = 0; i < DEPTHWISE_TILE; ++i) {
      const int32_t kx = j - i * stride;
      if (kx >= 0 && kx < kernel) simd_add_products(sum + VECTORS * i, &x, w + kx * w_step);
    }
  }
}

/* Computes DEPTHWISE_TILE outputs of the group of slot c. `kernel` and `stride` are constants when this is inlined. */
SIMD_INLINE void depthwise_group(const depthwise_tile *t, int64_t c, const int32_t kernel, const int32_t stride) {
  const int64_t made = shared_channels(t, c), at = c - made;
  simd_i32 sum[VECTORS * DEPTHWISE_TILE];
  SIMD_UNROLL for (int32_t i = 0; i < VECTORS * DEPTHWISE_TILE; ++i) {
    sum[i] = simd_load_i32(t->numbers + c + i % VECTORS * SIMD_WIDTH);
  }
  const int32_t *w = t->w + c / SIMD_SHARED;
  const int64_t w_step = t->step / SIMD_SHARED;
#if SIMD_FOURS && SIMD_WIDTH == 4
  SIMD_UNROLL for (int32_t ky = 0; ky < kernel; ky += SIMD_ROWS, w += kernel * w_step) {
    add_rows(t, at, ky, kernel, w, w_step, sum, kernel, stride);
  }
#else
  for (int32_t ky = 0; ky < t->rows; ky += SIMD_ROWS, w += kernel * w_step) {
    add_rows(t, at, ky, t->rows, w, w_step, sum, kernel, stride);
  }
#endif
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

/* Returns the tiled kernel for this geometry, or NULL. */
static depthwise_function find_tiled(const mslite_convolution *g) {
  const int64_t kernel = g->width.kernel, stride = g->width.stride;
  if (g->width.output < DEPTHWISE_TILE || SIMD_WIDTH == 1) return NULL;
  if (g->width.dilation != 1 || g->height.kernel > MAX_ROWS) return NULL;
  if (kernel == 3) return stride == 1 ? depthwise_3_1 : stride == 2 ? depthwise_3_2 : NULL;
  if (kernel == 5) return stride == 1 ? depthwise_5_1 : stride == 2 ? depthwise_5_2 : NULL;
  return NULL;
}

/* Returns the columns of x that a row of outputs reads, including padding. */
static int64_t columns_of(const mslite_convolution *g) {
  return (g->width.output - 1) * g->width.stride + g->width.kernel;
}

/* Returns the bytes of the pointers to columns. */
static int64_t table_size(const mslite_convolution *g) {
  return g->height.kernel * columns_of(g) * (int64_t)sizeof(int8_t *);
}

/* Sets the pointers to the columns of the row at `row`, or to padding if it is NULL. */
static void point_at(const mslite_convolution *g, const int8_t *padding, const int8_t *row, const int8_t **to) {
  const int64_t columns = columns_of(g), before = g->width.pad_before;
  int64_t first = row == NULL || before > columns ? columns : before > 0 ? before : 0;
  int64_t last = row == NULL || g->width.input + before > columns ? columns : g->width.input + before;
  if (last < first) last = first;
  for (int64_t j = 0; j < first; ++j) to[j] = padding;
  for (int64_t j = first; j < last; ++j) to[j] = row + (j - before) * g->out_channels;
  for (int64_t j = last; j < columns; ++j) to[j] = padding;
}

/* Reading a group of narrower pixels also reads the following pixels, so the last ones are copied to a larger
 * buffer. */
static void copy_last(const mslite_convolution *g, const depthwise_tile *tile, const int8_t **to) {
  const int64_t columns = columns_of(g), channels = g->out_channels;
  for (int64_t j = 0; j < columns; ++j) {
    const int64_t left = to[j] == tile->padding ? GROUP : tile->end - to[j];
    if (left >= GROUP) continue;
    int8_t *copy = tile->room + (left / channels - 1) * GROUP;
    to[j] = memcpy(copy, to[j], (size_t)channels);
  }
}

/* Computes one output row; x is the image, all pointers are at the part's first channel. Rows and columns outside of
 * x read padding, because the bias assumes complete windows. */
static void tiled_row(const mslite_convolution *g, depthwise_function function, depthwise_tile *tile,
                      const int8_t **table, const int8_t *x, int64_t oy, int8_t *y) {
  const int64_t columns = columns_of(g);
  tile->rows = (int32_t)g->height.kernel;
  for (int32_t ky = 0; ky < tile->rows; ++ky) {
    const int64_t iy = oy * g->height.stride - g->height.pad_before + ky * g->height.dilation;
    const bool inside = iy >= 0 && iy < g->height.input;
    point_at(g, tile->padding, inside ? x + iy * g->width.input * g->out_channels : NULL, table + ky * columns);
    if (g->out_channels < GROUP && inside) copy_last(g, tile, table + ky * columns);
  }
  for (int64_t next = 0; next < g->width.output; next += DEPTHWISE_TILE) {
    /* The last tile begins where it fits, so some pixels are computed twice. */
    const int64_t ox = next + DEPTHWISE_TILE <= g->width.output ? next : g->width.output - DEPTHWISE_TILE;
    for (int32_t ky = 0; ky < tile->rows; ++ky) tile->x[ky] = table + ky * columns + ox * g->width.stride;
    tile->y = y + ox * g->out_channels;
    function(tile);
  }
}

/* Returns the address that tap [ky, kx] of output [oy, ox] reads. */
static const int8_t *source_of(const mslite_convolution *g, const depthwise_tile *tile, const int8_t *x, int64_t oy,
                               int64_t ox, int64_t ky, int64_t kx) {
  const int64_t iy = oy * g->height.stride - g->height.pad_before + ky * g->height.dilation;
  const int64_t ix = ox * g->width.stride - g->width.pad_before + kx * g->width.dilation;
  const bool inside = iy >= 0 && iy < g->height.input && ix >= 0 && ix < g->width.input;
  return inside ? x + (iy * g->width.input + ix) * g->out_channels : tile->padding;
}

/* Loads GROUP channels, or as many as exist. */
static simd_words load_some(const depthwise_tile *t, const int8_t *x) {
  if (t->width >= GROUP) return simd_load_words(x);
  int8_t room[GROUP] = {0};
  memcpy(room, x, (size_t)t->width);
  return simd_load_words(room);
}

/* As tiled_row, for any kernel size, pixel by pixel. */
static void plain_row(const mslite_convolution *g, const depthwise_tile *tile, const int8_t *x, int64_t oy, int8_t *y) {
  for (int64_t ox = 0; ox < g->width.output; ++ox, y += g->out_channels) {
    for (int64_t c = 0; c < tile->channels; c += GROUP) {
      const int64_t made = shared_channels(tile, c), at = c - made;
      simd_i32 sum[VECTORS];
      for (int32_t v = 0; v < VECTORS; ++v) sum[v] = simd_load_i32(tile->numbers + c + v * SIMD_WIDTH);
      const int32_t *w = tile->w + c / SIMD_SHARED;
      for (int64_t ky = 0; ky < g->height.kernel; ky += SIMD_ROWS) {
        for (int64_t kx = 0; kx < g->width.kernel; ++kx, w += tile->step / SIMD_SHARED) {
          simd_words row[SIMD_ROWS];
          for (int64_t i = 0; i < SIMD_ROWS; ++i) {
            const int64_t tap = ky + i < g->height.kernel ? ky + i : ky;
            row[i] = load_some(tile, source_of(g, tile, x, oy, ox, tap, kx) + at);
          }
          const simd_pair all = simd_make_pair(row);
          simd_add_products(sum, &all, w);
        }
      }
      store_group(tile, c, sum, 1, y + at, made);
    }
  }
}

/* Expands one row of x: each channel `multiplier` times. */
static void spread_row(const depthwise_derived *own, const int8_t *x, int8_t *to) {
  const mslite_convolution *g = &own->geometry;
  const int64_t count = g->width.input * g->in_channels;
  for (int64_t i = 0; i < count; ++i) memset(to + i * own->multiplier, x[i], (size_t)own->multiplier);
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
  /* The weights of a part (12 KB) stay in the L1 cache with the rows that it reads. */
  int64_t channels = round_up(6144 / taps, GROUP);
  if (channels > MAX_CHANNELS) channels = MAX_CHANNELS;
  if (channels < GROUP) channels = GROUP;
  own->channel_blocks = (g->out_channels + channels - 1) / channels;
  own->channel_block = round_up((g->out_channels + own->channel_blocks - 1) / own->channel_blocks, GROUP);
  const double work = (double)rows * (double)g->width.output * (double)taps * (double)g->out_channels;
  int64_t blocks = (int64_t)(work / (double)SMALLEST_PART) / own->channel_blocks;
  if (blocks > MAX_PARTS) blocks = MAX_PARTS;
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
  schedule->scratch_bytes = PADDING;
  if (find_tiled(g) != NULL) schedule->scratch_bytes += table_size(g) + (g->out_channels < GROUP ? ROOM : 0);
  return MSLITE_OK;
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
  memset(run->scratch, own->numbers.x_zero, PADDING);
  depthwise_tile tile;
  tile.numbers = (const int32_t *)run->inputs[1] + channel;
  tile.w = (const int32_t *)run->inputs[1] + ROW_WEIGHTS * own->step + channel / SIMD_SHARED;
  tile.step = own->step;
  tile.y_step = g->out_channels;
  tile.channels = channel + own->channel_block < g->out_channels ? own->channel_block : g->out_channels - channel;
  set_limits(&tile, &own->numbers);
  tile.padding = (const int8_t *)run->scratch + GROUP;
  tile.end = input + g->batch * g->height.input * g->width.input * g->out_channels;
  tile.room = (int8_t *)run->scratch + PADDING + table_size(g);
  tile.width = g->out_channels;
  for (int64_t row = first; row < first + own->row_block && row < rows; ++row) {
    const int64_t image = row / g->height.output, oy = row % g->height.output;
    const int8_t *x = input + image * g->height.input * g->width.input * g->out_channels + channel;
    int8_t *y = (int8_t *)run->outputs[0] + row * g->width.output * g->out_channels + channel;
    if (function != NULL) {
      tiled_row(g, function, &tile, (const int8_t **)(void *)((char *)run->scratch + PADDING), x, oy, y);
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
    .quantized = 1,
};
