/* The rescaling parameters of output channels for the kernels of generated C: selects the cheapest rounding that
 * gives the reference's results for all possible sums. Runs only on the host. */
#include "math/channels_micro.h"

#include "convolution/stored.h"

enum {
  LARGEST_SHIFT = 20,
  LARGEST_STEP = 256
}; /* results lie in [-128, 127] + [-127, 128] steps from the zero point */

static int64_t floor_divide(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/* Returns the least sum in [-most, most + 1] whose result is `steps` or more; results are monotonic in the sum. */
static int64_t first_sum(double factor, int64_t most, int32_t steps) {
  const double guess = floor((steps - 0.5) / factor);
  int64_t sum = guess < (double)-most ? -most : guess > (double)most ? most + 1 : (int64_t)guess;
  while (sum > -most && mslite_rescale_real(sum - 1, factor) >= steps) --sum;
  while (sum <= most && mslite_rescale_real(sum, factor) < steps) ++sum;
  return sum;
}

/* Narrows [*low, *high] to the multipliers for which sum * multiplier >= bound. */
static void at_least(int64_t sum, int64_t bound, int64_t *low, int64_t *high) {
  if (sum > 0) {
    const int64_t least = -floor_divide(-bound, sum);
    if (least > *low) *low = least;
  } else if (sum < 0) {
    const int64_t largest = floor_divide(bound, sum);
    if (largest < *high) *high = largest;
  } else if (bound > 0) {
    *high = *low - 1;
  }
}

/* floor(sum * multiplier / 2^(33 + shift) + 1/2) and the reference's result are monotonic in `sum`, so they are
 * equal if each result step begins at the same sum. A result of `steps` or more means sum * multiplier >= (2 * steps
 * - 1) * 2^(32 + shift). Every step narrows the interval of valid multipliers; any of them can be used. */
static bool round_once(double factor, int64_t most, int32_t *multiplier, int32_t *shift) {
  *multiplier = *shift = 0;
  if (!(factor < 0.5) || most > INT32_MAX) return false;
  if ((double)most * factor < 0.25) return true;
  int exponent;
  frexp(factor, &exponent);
  *shift = exponent < -2 ? -2 - exponent : 0;
  if (*shift > LARGEST_SHIFT) *shift = LARGEST_SHIFT;
  int64_t low = 0, high = INT32_MAX;
  for (int32_t steps = -LARGEST_STEP; steps <= LARGEST_STEP; ++steps) {
    const int64_t sum = first_sum(factor, most, steps),
                  bound = (2 * (int64_t)steps - 1) * ((int64_t)1 << (32 + *shift));
    if (sum <= most) at_least(sum, bound, &low, &high);
    /* The previous sum gives a smaller result. */
    if (sum > -most) at_least(1 - sum, 1 - bound, &low, &high);
  }
  *multiplier = (int32_t)(low + (high - low) / 2);
  return low <= high;
}

/* Finds the rounding for this channel, and its parameters. */
static int32_t round_channel(const micro_channel *channel, bool once, int32_t *multiplier, int32_t *shift) {
  if (once) return round_once(channel->real, channel->most, multiplier, shift) ? MICRO_ROUNDS_ONCE : -1;
  *multiplier = channel->factor.value;
  *shift = channel->factor.shift;
  if (*shift == MSLITE_SHIFT_TO_EVEN) return MICRO_ROUNDS_EVEN;
  if (channel->most >= (int64_t)1 << 30 || (*shift >= 0 && *multiplier != 0)) return MICRO_ROUNDS_WIDE;
  *shift = *multiplier == 0 ? 0 : -1 - *shift;
  return MICRO_ROUNDS_TWICE;
}

/* Returns the parameters of a channel, without its bias, in a layer with this rounding. */
static micro_numbers numbers_of(const micro_channel *channel, int32_t rounding) {
  int32_t multiplier, shift;
  round_channel(channel, rounding == MICRO_ROUNDS_ONCE, &multiplier, &shift);
  const micro_numbers numbers = {0, multiplier,
                                 (int8_t)(rounding == MICRO_ROUNDS_WIDE ? channel->factor.shift : shift)};
  return numbers;
}

static bool has_same_factor(const micro_channel *a, const micro_channel *b, bool once) {
  return once ? !(a->real < b->real) && !(a->real > b->real)
              : a->factor.value == b->factor.value && a->factor.shift == b->factor.shift;
}

micro_factors micro_factors_of(const mslite_node *node, int64_t count, micro_channel_of channel_of, bool once) {
  micro_factors factors = {once ? MICRO_ROUNDS_ONCE : MICRO_ROUNDS_TWICE, count > 0, {0, 0, 0}};
  micro_channel widest = {0, 0, {0, 0}, 0}; /* the channel with the largest sums */
  for (int64_t i = 0; i < count; ++i) {
    micro_channel channel;
    channel_of(node, i, &channel);
    if (i > 0 && !has_same_factor(&channel, &widest, once)) factors.has_one = false;
    if (i == 0 || channel.most > widest.most) widest = channel;
  }
  /* A multiplier that is valid for the largest sums is valid for all channels with the same factor. */
  int32_t multiplier, shift;
  if (factors.has_one && round_channel(&widest, once, &multiplier, &shift) < 0) factors.has_one = false;
  for (int64_t i = 0; i < count; ++i) {
    micro_channel channel = widest;
    if (!factors.has_one) channel_of(node, i, &channel);
    const int32_t own = round_channel(&channel, once, &multiplier, &shift);
    if (own < 0 || factors.has_one) {
      factors.rounding = own;
      break;
    }
    if (own > factors.rounding) factors.rounding = own;
  }
  if (factors.has_one) factors.one = numbers_of(&widest, factors.rounding);
  return factors;
}

micro_numbers micro_make_numbers(const mslite_node *node, int64_t channel, micro_channel_of channel_of,
                                 const micro_factors *factors) {
  micro_channel own;
  channel_of(node, channel, &own);
  micro_numbers numbers = factors->has_one ? factors->one : numbers_of(&own, factors->rounding);
  numbers.bias = (int32_t)(uint32_t)(uint64_t)own.bias;
  return numbers;
}

int32_t micro_make_table(const mslite_node *node, int64_t count, micro_channel_of channel_of, bool once, void *table) {
  const micro_factors factors = micro_factors_of(node, count, channel_of, once);
  if (factors.rounding < 0 || table == NULL || count < 0) return factors.rounding;
  int32_t *bias = table;
  int8_t *shifts = (int8_t *)(bias + 2 * count);
  memset(table, 0, (size_t)micro_table_size(count));
  for (int64_t i = 0; i < count; ++i) {
    const micro_numbers numbers = micro_make_numbers(node, i, channel_of, &factors);
    bias[i] = numbers.bias;
    bias[count + i] = numbers.multiplier;
    shifts[i] = numbers.shift;
  }
  return factors.rounding;
}

void micro_convolution_channel(const mslite_node *node, int64_t channel, micro_channel *numbers) {
  const mslite_tensor *weight = node->inputs[1];
  const mslite_stored_channel stored = mslite_stored_channel_of(node, channel);
  const int64_t terms = weight->dims[1] * weight->dims[2] * weight->dims[3];
  const int8_t *w = (const int8_t *)weight->data + channel * terms;
  int64_t sum = 0, magnitude = 0;
  for (int64_t i = 0; i < terms; ++i) {
    sum += w[i];
    magnitude += w[i] < 0 ? -w[i] : w[i];
  }
  micro_set_channel(numbers, stored.bias, node->inputs[0]->quant->zero_point, sum, magnitude);
  numbers->factor = stored.factor;
  numbers->real = 0;
}
