/* Depthwise convolution of quantized int8 with Helium, any window, one output per channel: one pixel of sixteen
 * channels at a time. Pairs of 8-bit products are added in 16 bits, which cannot overflow because no tap is -128,
 * and then in 32 bits.
 * Packed weights, in groups of sixteen channels. The last group ends with the last channel, so some channels may be
 * packed twice:
 *   int32_t bias[groups][16], multiplier[groups][16]
 *   int8_t shift[groups][16]   of the channels 0, 4, 8, 12, 1, 5 ... of a group, in the order of the sums
 *   int8_t w[taps][channels] */
#include "convolution/depthwise_micro.h"

#if MICRO_MVE
#include "simd/micro_mve_lanes.h"

enum { LANES = 16, MAX_TAPS = 256 };

static bool has_least(const mslite_node *node) {
  const int8_t *taps = node->inputs[1]->data;
  for (int64_t i = 0; i < mslite_element_count(node->inputs[1]); ++i) {
    if (taps[i] == INT8_MIN) return true;
  }
  return false;
}

/* Returns whether depthwise_3x3_int8 is faster: for long rows at stride 1, and few channels, of which sixteen lanes
 * would compute many twice. */
static bool prefers_windows(const mslite_node *node, const mslite_convolution_attributes *attributes) {
  enum { NARROW = 11 };
  const int64_t *dims = node->inputs[1]->dims;
  const mslite_tensor *x = node->inputs[0];
  const bool is_narrow = x->rank == 4 && x->dims[2] >= 1 && x->dims[2] <= NARROW;
  if (dims[1] != 3 || dims[2] != 3 || is_narrow) return false;
  for (int32_t i = 0; i < 2; ++i) {
    if (mslite_list_entry(attributes->dilation, i, 1) != 1 || mslite_list_entry(attributes->stride, i, 1) != 1) {
      return false;
    }
  }
  return 4 * ((dims[0] + LANES - 1) / LANES * LANES) > 5 * dims[0];
}

static int32_t depthwise_support(const mslite_node *node) {
  if (!micro_depthwise_fits(node)) return 0;
  mslite_convolution_attributes attributes;
  mslite_convolution_read(node->op, node->params, &attributes);
  const int64_t *dims = node->inputs[1]->dims;
  if (dims[0] < LANES || dims[0] != attributes.group || dims[1] > MAX_TAPS || dims[2] > MAX_TAPS) return 0;
  if (dims[1] * dims[2] > MAX_TAPS || prefers_windows(node, &attributes)) return 0;
  return has_least(node) ? 0 : 5;
}

/* Plans the addresses of a pixel's taps, and a pixel of padding. */
static mslite_status depthwise_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  mslite_micro_depthwise *own = derived;
  const mslite_status status = micro_depthwise_prepare(node, own, 1, schedule);
  if (status != MSLITE_OK) return status;
  schedule->scratch_bytes = own->kernel_rows * own->kernel_columns * 8 + own->channels;
  return MSLITE_OK;
}

static int64_t groups_of(int64_t channels) { return (channels + LANES - 1) / LANES; }

static int64_t first_of(int64_t group, int64_t channels) {
  return (group + 1) * LANES > channels ? channels - LANES : group * LANES;
}

static int64_t depthwise_pack_size(const mslite_node *node, int32_t input) {
  if (input != 1) return input == 2 ? -1 : 0;
  return groups_of(node->inputs[1]->dims[0]) * LANES * 9 + mslite_element_count(node->inputs[1]);
}

static void depthwise_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  if (input != 1) return;
  const int64_t channels = node->inputs[1]->dims[0], taps = node->inputs[1]->dims[1] * node->inputs[1]->dims[2];
  const int64_t count = groups_of(channels) * LANES;
  const micro_factors factors = micro_factors_of(node, channels, micro_convolution_channel, false);
  int32_t *const bias = packed, *const multiplier = bias + count;
  int8_t *const shift = (int8_t *)(multiplier + count), *const to = shift + count;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t channel = first_of(i / LANES, channels) + i % 4 * 4 + i % LANES / 4;
    const micro_numbers numbers = micro_make_numbers(node, channel, micro_convolution_channel, &factors);
    bias[i] = numbers.bias;
    multiplier[i] = numbers.multiplier;
    shift[i] = numbers.shift;
  }
  const int8_t *from = source;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t i = 0; i < taps; ++i) to[i * channels + c] = *from++;
  }
}

/* The parameters of sixteen channels. */
typedef struct {
  const int32_t *bias, *multiplier;
  const int8_t *shift;
} group_numbers;

/* Rescales every fourth channel, beginning at channel `which`. */
MICRO_INLINE micro_i32x4 usual_steps(const group_numbers *of, int32_t which, micro_i32x4 sums) {
  return micro_steps_twice(sums, micro_load_i32x4(of->multiplier + 4 * which), micro_load_bytes(of->shift + 4 * which));
}

MICRO_SHARED micro_i32x4 other_steps(const mslite_micro_depthwise *own, const group_numbers *of, int32_t which,
                                     micro_i32x4 sums) {
  return micro_steps_other(sums, micro_load_i32x4(of->multiplier + 4 * which), micro_load_bytes(of->shift + 4 * which),
                           own->rounding, own->nudge);
}

#define ADD_PRODUCTS(sum_even, sum_odd) \
  s0 = micro_add_even(s0, sum_even);    \
  s2 = micro_add_odd(s2, sum_even);     \
  s1 = micro_add_even(s1, sum_odd);     \
  s3 = micro_add_odd(s3, sum_odd)

/* Computes the results of the pixel whose taps are at `x`. */
MICRO_SHARED void depthwise_pixel(const mslite_micro_depthwise *own, const micro_depthwise_part *at,
                                  const int8_t *const *x, int8_t *y) {
  const int32_t channels = own->channels, zero = own->nudge >> 1;
  const int32_t count = (channels + LANES - 1) & ~(LANES - 1);
  const int32_t tap_count = own->kernel_rows * own->kernel_columns;
  group_numbers of = {at->bias, at->bias + count, (const int8_t *)(at->bias + 2 * count)};
  const int8_t *const taps = of.shift + count;
  for (int32_t c = 0; c < channels; c += LANES) {
    if (c > channels - LANES) c = channels - LANES; /* the last group may overlap the one before */
    const int8_t *w = taps + c;
    micro_i32x4 s0 = micro_load_i32x4(of.bias), s1 = micro_load_i32x4(of.bias + 4);
    micro_i32x4 s2 = micro_load_i32x4(of.bias + 8), s3 = micro_load_i32x4(of.bias + 12);
    const int8_t *const *tap = x;
    for (int32_t i = tap_count >> 1; i > 0; --i, tap += 2) {
      const micro_i8x16 a = micro_load_i8x16(tap[0] + c), v = micro_load_i8x16(w);
      w += channels;
      const micro_i8x16 b = micro_load_i8x16(tap[1] + c), u = micro_load_i8x16(w);
      w += channels;
      const micro_i16x8 even = micro_add_i16x8(micro_multiply_even(a, v), micro_multiply_even(b, u));
      const micro_i16x8 odd = micro_add_i16x8(micro_multiply_odd(a, v), micro_multiply_odd(b, u));
      ADD_PRODUCTS(even, odd);
    }
    if ((tap_count & 1) != 0) {
      const micro_i8x16 a = micro_load_i8x16(*tap + c), v = micro_load_i8x16(w);
      const micro_i16x8 even = micro_multiply_even(a, v), odd = micro_multiply_odd(a, v);
      ADD_PRODUCTS(even, odd);
    }
    if (own->rounding == MICRO_ROUNDS_TWICE) {
      s0 = usual_steps(&of, 0, s0);
      s1 = usual_steps(&of, 1, s1);
      s2 = usual_steps(&of, 2, s2);
      s3 = usual_steps(&of, 3, s3);
    } else {
      s0 = other_steps(own, &of, 0, s0);
      s1 = other_steps(own, &of, 1, s1);
      s2 = other_steps(own, &of, 2, s2);
      s3 = other_steps(own, &of, 3, s3);
    }
    const micro_i16x8 evens = micro_add_limited(micro_interleave_i32x4(s0, s2), zero);
    const micro_i16x8 odds = micro_add_limited(micro_interleave_i32x4(s1, s3), zero);
    const micro_i8x16 result =
        micro_limit_i8x16(micro_interleave_i16x8(evens, odds), micro_set_i8x16(own->low), micro_set_i8x16(own->high));
    micro_store_i8x16(y + c, result);
    of.bias += LANES;
    of.multiplier += LANES;
    of.shift += LANES;
  }
}
#undef ADD_PRODUCTS

/* Finds the addresses of the taps of the output pixel whose window begins at this column of x; outside of x, those
 * of padding. */
MICRO_SHARED void find_taps(const mslite_micro_depthwise *own, const micro_depthwise_part *at, int32_t first,
                            const int8_t *padding, const int8_t **x) {
  const int32_t columns = own->x_columns, channels = own->channels;
  int32_t row = at->x_row;
  for (int32_t i = own->kernel_rows; i > 0; --i, row += own->dilation_rows) {
    int32_t column = first;
    for (int32_t j = own->kernel_columns; j > 0; --j, column += own->dilation_columns) {
      const bool is_inside = (uint32_t)row < (uint32_t)own->x_rows && (uint32_t)column < (uint32_t)columns;
      *x++ = is_inside ? at->x + (row * columns + column) * channels : padding;
    }
  }
}

static void depthwise_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const mslite_micro_depthwise *own = run->derived;
  const micro_depthwise_part at = micro_depthwise_begin(run, part);
  const int32_t channels = own->channels, taps = own->kernel_rows * own->kernel_columns;
  const int32_t last = own->x_columns - (own->kernel_columns - 1) * own->dilation_columns;
  const micro_span rows = micro_taps_inside(at.x_row, own->kernel_rows, own->dilation_rows, own->x_rows);
  const int8_t **const x = run->scratch;
  int8_t *const padding = (int8_t *)(x + taps);
  memset(padding, own->x_zero, (size_t)channels);
  int8_t *y = at.y;
  int32_t first = -own->pad_columns;
  bool was_inside = false;
  for (int32_t column = 0; column < own->y_columns; ++column, y += channels, first += own->stride_columns) {
    const bool is_inside = first >= 0 && first < last;
    if (is_inside && was_inside) {
      const int32_t step = own->stride_columns * channels;
      for (const int8_t **tap = x + rows.begin * own->kernel_columns, **const end = x + rows.end * own->kernel_columns;
           tap != end; ++tap) {
        *tap += step;
      }
    } else {
      find_taps(own, &at, first, padding, x);
    }
    was_inside = is_inside;
    depthwise_pixel(own, &at, x, y);
  }
}

#else
static int32_t depthwise_support(const mslite_node *node) {
  (void)node;
  return 0;
}
#endif

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_depthwise_pixel_int8) = {
    .name = MSLITE_ISA_STRING(depthwise_pixel_int8),
    .op = MSLITE_OP_Conv2DFusion,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(mslite_micro_depthwise),
    .support = depthwise_support,
#if MICRO_MVE
    .prepare = depthwise_prepare,
    .pack_size = depthwise_pack_size,
    .pack = depthwise_pack,
    .run = depthwise_run,
#endif
    .quantized = 1,
    .lead = micro_depthwise_lead,
};
