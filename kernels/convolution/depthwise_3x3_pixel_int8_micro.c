/* 3 x 3 depthwise convolution of stored int8 with Helium, one output per channel, of narrow images: a pixel of sixteen
 * channels at a time. Products of bytes are added in pairs as 16 bits, which hold two of them as no tap is -128, then
 * as 32. */
#include "convolution/depthwise_micro.h"

#if MICRO_MVE
#include "simd/micro_mve_lanes.h"

enum { LANES = 16, TAPS = 9 };

static bool depthwise_takes(const mslite_node *node) {
  const int8_t *taps = node->inputs[1]->data;
  for (int64_t i = 0; i < mslite_element_count(node->inputs[1]); ++i) {
    if (taps[i] == INT8_MIN) return false;
  }
  return true;
}

/* Packed weights are those of sixteen channels at a time; the last sixteen end with the last channel, so that some may
 * be there twice:
 *   int32_t bias[groups][16], multiplier[groups][16]
 *   int8_t shift[groups][16]
 *   int8_t taps[groups][9][16]
 * Numbers of the channels 0, 4, 8, 12, 1, 5 ... of a group, as the sums come; taps in the order of the channels. */
static int64_t groups_of(int64_t channels) { return (channels + LANES - 1) / LANES; }

static int64_t first_of(int64_t group, int64_t channels) {
  return group > 0 && (group + 1) * LANES > channels ? channels - LANES : group * LANES;
}

/* For narrow images: where rows are long, windows of one channel are faster. */
static int32_t depthwise_support(const mslite_node *node) {
  enum { WIDEST = 11 };
  if (!micro_depthwise_fits(node)) return 0;
  mslite_convolution_attributes attributes;
  mslite_convolution_read(node->op, node->params, &attributes);
  const int64_t *dims = node->inputs[1]->dims;
  const mslite_tensor *x = node->inputs[0];
  if (x->rank != 4 || x->dims[2] < 1 || x->dims[2] > WIDEST || dims[0] < LANES) return 0;
  return dims[1] == 3 && dims[2] == 3 && dims[0] == attributes.group && depthwise_takes(node) ? 5 : 0;
}

static mslite_status depthwise_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  mslite_micro_depthwise *own = derived;
  const mslite_status status = micro_depthwise_prepare(node, own, 1, schedule);
  if (status == MSLITE_OK) schedule->scratch_bytes = own->channels; /* a pixel of padding */
  return status;
}

static int64_t depthwise_pack_size(const mslite_node *node, int32_t input) {
  if (input != 1) return input == 2 ? -1 : 0;
  return groups_of(node->inputs[1]->dims[0]) * LANES * (4 + 4 + 1 + TAPS);
}

static void depthwise_pack(const mslite_node *node, int32_t input, const void *source, void *packed) {
  if (input != 1) return;
  const int64_t channels = node->inputs[1]->dims[0], count = groups_of(channels) * LANES;
  const micro_factors factors = micro_factors_of(node, channels, micro_convolution_channel, false);
  int32_t *bias = packed, *multiplier = bias + count;
  int8_t *shift = (int8_t *)(multiplier + count), *to = shift + count;
  for (int64_t group = 0; group < groups_of(channels); ++group) {
    const int8_t *const from = (const int8_t *)source + first_of(group, channels) * TAPS;
    for (int64_t i = 0; i < LANES; ++i) {
      const micro_numbers numbers =
          micro_make_numbers(node, first_of(group, channels) + i % 4 * 4 + i / 4, micro_convolution_channel, &factors);
      *bias++ = numbers.bias;
      *multiplier++ = numbers.multiplier;
      *shift++ = numbers.shift;
    }
    for (int64_t i = 0; i < TAPS * LANES; ++i) *to++ = from[i % LANES * TAPS + i / LANES];
  }
}

/* The numbers of sixteen channels. */
typedef struct {
  const int32_t *bias, *multiplier;
  const int8_t *shift;
} group_numbers;

/* Steps of every fourth channel, from channel `which` on. */
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

/* The results of the pixel whose taps read at `x`. */
MICRO_SHARED void depthwise_pixel(const mslite_micro_depthwise *own, const micro_depthwise_part *at,
                                  const int8_t *const *x, int8_t *y) {
  const int32_t channels = own->channels, zero = own->nudge >> 1;
  const int32_t count = (channels + LANES - 1) & ~(LANES - 1);
  group_numbers of = {at->bias, at->bias + count, (const int8_t *)(at->bias + 2 * count)};
  const int8_t *w = of.shift + count;
  for (int32_t c = 0; c < channels; c += LANES) {
    if (c > 0 && c + LANES > channels) c = channels - LANES; /* the last group shares some with the one before */
    micro_i32x4 s0 = micro_load_i32x4(of.bias), s1 = micro_load_i32x4(of.bias + 4);
    micro_i32x4 s2 = micro_load_i32x4(of.bias + 8), s3 = micro_load_i32x4(of.bias + 12);
    for (int32_t i = 0; i < TAPS - 1; i += 2, w += 2 * LANES) {
      const micro_i8x16 a = micro_load_i8x16(x[i] + c), v = micro_load_i8x16(w);
      const micro_i8x16 b = micro_load_i8x16(x[i + 1] + c), u = micro_load_i8x16(w + LANES);
      const micro_i16x8 even = micro_add_i16x8(micro_multiply_even(a, v), micro_multiply_even(b, u));
      const micro_i16x8 odd = micro_add_i16x8(micro_multiply_odd(a, v), micro_multiply_odd(b, u));
      ADD_PRODUCTS(even, odd);
    }
    const micro_i8x16 a = micro_load_i8x16(x[TAPS - 1] + c), v = micro_load_i8x16(w);
    const micro_i16x8 even = micro_multiply_even(a, v), odd = micro_multiply_odd(a, v);
    ADD_PRODUCTS(even, odd);
    w += LANES;
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

static void depthwise_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const mslite_micro_depthwise *own = run->derived;
  const micro_depthwise_part at = micro_depthwise_begin(run, part);
  const int32_t channels = own->channels, columns = own->x_columns;
  int8_t *const padding = run->scratch;
  memset(padding, own->x_zero, (size_t)channels);
  const int8_t *x[TAPS];
  int8_t *y = at.y;
  int32_t first = -own->pad_columns;
  bool was_inside = false;
  for (int32_t column = 0; column < own->y_columns; ++column, y += channels, first += own->stride_columns) {
    const bool is_inside = first >= 0 && first + 2 * own->dilation_columns < columns;
    if (is_inside && was_inside) {
      const int32_t step = own->stride_columns * channels;
      for (int32_t i = 0; i < TAPS; i += 3) {
        if (x[i] == padding) continue;
        x[i] += step;
        x[i + 1] += step;
        x[i + 2] += step;
      }
    } else {
      for (int32_t i = 0; i < TAPS; ++i) {
        const int32_t row = at.x_row + i / 3 * own->dilation_rows, x_column = first + i % 3 * own->dilation_columns;
        const bool is_x = row >= 0 && row < own->x_rows && x_column >= 0 && x_column < columns;
        x[i] = is_x ? at.x + (row * columns + x_column) * channels : padding;
      }
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

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_depthwise_3x3_pixel_int8) = {
    .name = MSLITE_ISA_STRING(depthwise_3x3_pixel_int8),
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
    .quantised = 1,
    .lead = micro_depthwise_lead,
};
