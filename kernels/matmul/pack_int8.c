#include "matmul/pack_int8.h"

#include <string.h>

static int64_t round_up(int64_t a, int64_t b) { return (a + b - 1) / b * b; }

void mslite_plan_int8(int64_t groups, int64_t n, int64_t k, const mslite_int8_layout *layout,
                      mslite_int8_packed *plan) {
  plan->units = k > 0 ? (k + layout->depth - 1) / layout->depth : 1;
  plan->padded = round_up(n, layout->columns);
  const int64_t channels = groups * plan->padded, numbers = round_up(channels * (int64_t)sizeof(int32_t), 64);
  plan->bias = 0;
  plan->value = plan->bias + numbers;
  plan->shift = plan->value + numbers;
  plan->zero = plan->shift + numbers;
  plan->scale = plan->zero + numbers;
  plan->panels = plan->scale + round_up(channels * (int64_t)sizeof(double), 64);
  plan->group_bytes = plan->padded * plan->units * layout->depth;
  plan->overflows = plan->panels + groups * plan->group_bytes;
  plan->bytes = plan->overflows + (int64_t)sizeof(int32_t);
}

/* Returns a clamp for sums before they are multiplied by `scale`: it keeps results within 32 bits without changing
 * any int8 result. */
static int32_t sum_limit(double scale) {
  const double largest = 268435456.0; /* 2^28 */
  return scale * 2147483647.0 <= largest ? INT32_MAX : (int32_t)(largest / scale);
}

enum { DEEPEST = 8 }; /* largest unit of k of all layouts */

/* Packs column `column` of a panel. Returns the sum of its weights. */
static uint32_t pack_column(const int8_t *source, const mslite_int8_weights *weights, const mslite_int8_layout *layout,
                            int64_t column, int8_t *panel) {
  const int64_t depth = layout->depth, half = depth / 2, step = layout->columns * depth, k_step = weights->k_step;
  const int64_t first = column / layout->woven * layout->woven;
  int64_t places[DEEPEST]; /* in the panel's first unit */
  for (int64_t i = 0; i < depth; ++i) {
    places[i] = first * depth + (column - first) * half + i / half * layout->woven * half + i % half;
  }
  const uint8_t flip = weights->flip;
  uint32_t sum = 0;
  for (int64_t k = 0; k < weights->k; k += depth, panel += step) {
    const int64_t count = weights->k - k < depth ? weights->k - k : depth;
    for (int64_t i = 0; i < count; ++i, source += k_step) {
      const int32_t weight = (int8_t)((uint8_t)*source ^ flip);
      panel[places[i]] = (int8_t)weight;
      sum += (uint32_t)weight;
    }
  }
  return sum;
}

static bool overflows(const int8_t *source, const mslite_int8_weights *weights, const mslite_int8_layout *layout) {
  const int64_t half = layout->depth / 2;
  const uint8_t lowest = 128 ^ weights->flip;
  for (int64_t k = half; layout->woven > 1 && k < weights->k; ++k) {
    if (k % layout->depth < half) continue;
    if ((uint8_t)source[k * weights->k_step] != lowest) continue;
    if ((uint8_t)source[(k - half) * weights->k_step] == lowest) return true;
  }
  return false;
}

void mslite_pack_int8(const mslite_node *node, const int8_t *source, const mslite_int8_weights *weights,
                      const mslite_int8_layout *layout,
                      mslite_int8_channel (*channel)(const mslite_node *node, int64_t index), void *packed) {
  mslite_int8_packed plan;
  mslite_plan_int8(weights->groups, weights->n, weights->k, layout, &plan);
  memset(packed, 0, (size_t)plan.bytes);
  char *base = packed;
  int32_t *bias = (int32_t *)(void *)(base + plan.bias), *value = (int32_t *)(void *)(base + plan.value);
  int32_t *shift = (int32_t *)(void *)(base + plan.shift), *zero = (int32_t *)(void *)(base + plan.zero);
  double *scale = (double *)(void *)(base + plan.scale);
  int32_t *any_overflows = (int32_t *)(void *)(base + plan.overflows);
  const uint32_t x_zero = (uint32_t)(weights->x_zero + layout->offset);
  for (int64_t group = 0; group < weights->groups; ++group) {
    int8_t *panels = (int8_t *)base + plan.panels + group * plan.group_bytes;
    for (int64_t n = 0; n < weights->n; ++n) {
      const int64_t panel = n / layout->columns, at = group * plan.padded + n;
      const int8_t *column = source + group * weights->group_step + n * weights->n_step;
      const uint32_t sum = pack_column(column, weights, layout, n % layout->columns,
                                       panels + panel * layout->columns * plan.units * layout->depth);
      if (overflows(column, weights, layout)) *any_overflows = 1;
      const mslite_int8_channel numbers = channel(node, group * weights->n + n);
      bias[at] = (int32_t)((uint32_t)numbers.bias - x_zero * sum +
                           (uint32_t)weights->k * x_zero * (uint32_t)numbers.weight_zero);
      value[at] = numbers.factor.value;
      shift[at] = numbers.factor.shift;
      zero[at] = numbers.weight_zero;
      scale[at] = numbers.scale;
      if (numbers.scale > 0) value[at] = sum_limit(numbers.scale);
    }
  }
}
