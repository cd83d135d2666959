/* Element-wise functions of quantized integers in fixed-point arithmetic. */
#include "unary/fixed_unary.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "math/fixed_functions.h"
#include "math/scalar_math.h"

enum { LIMIT, LEAKY, HARD_SWISH, ABSOLUTE, SAME_ABSOLUTE, NEGATIVE, ROOT, INVERSE_ROOT, SIGMOID, TANH };

/* Adds the zero point and clamps. */
static int32_t result(const mslite_fixed_unary *n, int32_t value) {
  return mslite_clamp((int32_t)((uint32_t)value + (uint32_t)n->zero_y), n->low, n->high);
}

/* ---- selection of the formula and its parameters ---- */

static int32_t nearest_step(float bound, float scale) {
  const float steps = roundf(bound / scale);
  return (int32_t)(steps > -1e9F ? steps < 1e9F ? steps : 1e9F : -1e9F);
}

/* Sets the bounds of float values; infinite ones have no effect. */
static bool set_bounds(mslite_fixed_unary *n, float low, float high) {
  const int32_t least = n->low, most = n->high;
  n->code = LIMIT;
  if (low > -FLT_MAX) n->low = n->zero_y + nearest_step(low, n->scale_y);
  if (high < FLT_MAX) n->high = n->zero_y + nearest_step(high, n->scale_y);
  n->low = n->low < least ? least : n->low;
  n->high = n->high > most ? most : n->high;
  /* The upper bound is applied last. */
  if (n->high < least) n->high = least;
  if (n->low > n->high) n->low = n->high;
  return true;
}

static bool set_leaky(mslite_fixed_unary *n, float slope) {
  n->code = LEAKY;
  n->turns = slope < 0;
  n->negative = mslite_make_multiplier((double)fabsf(n->scale_x * slope / n->scale_y));
  return true;
}

/* int8 only; returns false if the output's steps are finer than 1/128 of the input's. */
static bool set_hard_swish(mslite_fixed_unary *n, int32_t type) {
  const float fine = 0.0078125F * n->scale_x;
  n->code = HARD_SWISH;
  n->positive = mslite_make_multiplier((double)(fine / n->scale_y));
  n->negative = mslite_make_multiplier((double)(fine / (3.0F / 32768.0F)));
  return type == MSLITE_INT8 && n->positive.shift <= 0 && n->positive.shift > -31 && n->negative.shift > -31;
}

/* Finds the power of two that equals `scale`, with a tolerance of a thousandth in the logarithm. */
static bool power_of(float scale, int32_t *power) {
  const float logarithm = (float)(mslite_log((double)scale) * 1.4426950408889634), nearest = roundf(logarithm);
  *power = (int32_t)nearest;
  return fabsf(logarithm - nearest) < 1e-3F;
}

/* Sigmoid and tanh of int16, with results in units of 2^-15. The table has 3/4 of a point per 2^-5 (sigmoid), so its
 * end is at 10.7; scales of 2^-12 (and 2^-11 for tanh) reach it exactly, others by a multiplier of 15 bits. */
static bool set_table(mslite_fixed_unary *n, int32_t code) {
  int32_t power_x, power_y;
  n->code = code;
  if (!power_of(n->scale_y, &power_y) || power_y != -15) return false;
  if (code == SIGMOID && n->scale_y != 1.0F / 32768.0F) return false;
  if (power_of(n->scale_x, &power_x) && (power_x == -12 || (code == TANH && power_x == -11))) {
    n->factor = 3 << (power_x + 12);
    return true;
  }
  double factor = (double)n->scale_x * 12288.0;
  while (factor <= 32767.0 / 2.0 && n->left <= 30) {
    ++n->left;
    factor *= 2.0;
  }
  n->factor = factor < 32767.0 * 2 ? (int32_t)factor : 0;
  return n->factor > 0 && n->left < 31;
}

static bool set_activation(mslite_fixed_unary *n, const mslite_Activation *params, int32_t type) {
  switch (params->activation_type) {
    case MSLITE_ACTIVATION_TYPE_NO_ACTIVATION:
      return set_bounds(n, -FLT_MAX, FLT_MAX);
    case MSLITE_ACTIVATION_TYPE_RELU:
      return set_bounds(n, 0.0F, FLT_MAX);
    case MSLITE_ACTIVATION_TYPE_RELU6:
      return set_bounds(n, 0.0F, 6.0F);
    case MSLITE_ACTIVATION_TYPE_RELU1:
      return set_bounds(n, -1.0F, 1.0F);
    case MSLITE_ACTIVATION_TYPE_HARD_TANH:
      return set_bounds(n, params->min_val, params->max_val);
    case MSLITE_ACTIVATION_TYPE_LEAKY_RELU:
      return set_leaky(n, params->alpha);
    case MSLITE_ACTIVATION_TYPE_HSWISH:
      return set_hard_swish(n, type);
    case MSLITE_ACTIVATION_TYPE_SIGMOID:
      return type == MSLITE_INT16 && set_table(n, SIGMOID);
    case MSLITE_ACTIVATION_TYPE_TANH:
      return type == MSLITE_INT16 && set_table(n, TANH);
    default:
      return false;
  }
}

bool mslite_fixed_unary_of(const mslite_node *node, mslite_fixed_unary *n) {
  const mslite_quant *x = node->inputs[0]->quant, *y = node->outputs[0]->quant;
  const int32_t type = node->outputs[0]->type;
  if (y->rounds_even && type == MSLITE_INT8) return false; /* a table of the float function has fewer roundings */
  memset(n, 0, sizeof *n);
  n->zero_x = x->zero_point;
  n->zero_y = y->zero_point;
  n->scale_x = (float)x->scale;
  n->scale_y = (float)y->scale;
  n->low = type == MSLITE_INT8 ? INT8_MIN : INT16_MIN;
  n->high = type == MSLITE_INT8 ? INT8_MAX : INT16_MAX;
  n->positive = mslite_make_multiplier((double)(n->scale_x / n->scale_y));
  switch (node->op) {
    case MSLITE_OP_Activation:
      return set_activation(n, node->params, type);
    case MSLITE_OP_LeakyRelu:
      return set_leaky(n, ((const mslite_LeakyRelu *)node->params)->negative_slope);
    case MSLITE_OP_Clip:
      return set_bounds(n, ((const mslite_Clip *)node->params)->min, ((const mslite_Clip *)node->params)->max);
    case MSLITE_OP_Abs:
      n->code = n->scale_x == n->scale_y ? SAME_ABSOLUTE : ABSOLUTE;
      return true;
    case MSLITE_OP_Neg: /* the reference ignores quantization parameters, and wraps around */
      n->code = NEGATIVE;
      return x->zero_point == 0 && y->zero_point == 0 && n->scale_x == n->scale_y;
    case MSLITE_OP_Sqrt:
      n->code = ROOT;
      return true;
    case MSLITE_OP_Rsqrt:
      n->code = INVERSE_ROOT;
      n->positive = mslite_make_multiplier(1.0 / (double)(sqrtf(n->scale_x) * n->scale_y));
      return type == MSLITE_INT8;
    default:
      return false;
  }
}

/* ---- the formulas ---- */

static int32_t saturated(int32_t value) { return mslite_clamp(value, INT16_MIN, INT16_MAX); }

/* Returns a * b / 2^15 in 16 bits, rounded half away from zero. */
static int32_t short_product(int32_t a, int32_t b) {
  const int32_t product = a * b, nudge = product >= 0 ? 1 << 14 : 1 - (1 << 14);
  return saturated((product + nudge) / (1 << 15));
}

/* Returns the 16 high bits of a multiplier, rounded. */
static int32_t short_multiplier(int32_t value) {
  return value >= INT32_MAX - (1 << 15) ? INT16_MAX : (value + (1 << 15)) >> 16;
}

/* x / 6 * min(max(x + 3, 0), 6), all in 16 bits. */
static int32_t hard_swish(const mslite_fixed_unary *n, int32_t q) {
  const int32_t fine = (q - n->zero_x) * 128, exponent = n->negative.shift;
  const int32_t scaled = short_product(fine, short_multiplier(n->positive.value));
  int64_t gate = fine;
  if (exponent > 0) gate = gate * ((int64_t)1 << (exponent - 1));
  int32_t part = (int32_t)(gate < INT16_MIN ? INT16_MIN : gate > INT16_MAX ? INT16_MAX : gate);
  part = short_product(part, short_multiplier(n->negative.value));
  if (exponent > 0) part = saturated(part * 2);
  if (exponent < 0) part = mslite_divide_by_power(part, -exponent);
  part = (part + (1 << 15)) >> 1; /* from [-1, 1] to [0, 1] */
  const int32_t product = part * scaled / (1 << 15);
  return result(n, mslite_divide_by_power(product, -n->positive.shift));
}

/* Only values above zero have an inverse root; others give the largest output. */
static int32_t inverse_root(const mslite_fixed_unary *n, int32_t value) {
  enum { SPARE = 20 }; /* bits that keep the result an integer */
  if (value <= 0) return n->high;
  mslite_multiplier root = mslite_inverse_root(value), back = n->positive;
  root.shift += SPARE;
  back.shift -= SPARE;
  return result(n, back.shift < -31 ? 0 : mslite_rescale(mslite_rescale(1, root), back));
}

static int32_t square_root(const mslite_fixed_unary *n, int32_t value) {
  const float steps = sqrtf(value > 0 ? n->scale_x * (float)value : 0.0F) / n->scale_y;
  return result(n, (int32_t)(steps < 1e9F ? steps : 1e9F));
}

void mslite_fill_sigmoid(uint16_t *table) {
  /* Each point is half of the largest interpolation error above the curve. */
  for (int32_t i = 0; i < MSLITE_SIGMOID_POINTS - 1; ++i) {
    const double p = 1.0 / (1.0 + mslite_exp(-i / 24.0));
    table[i] = (uint16_t)(65536.0 * (p + p * (1.0 - p) * (2.0 * p - 1.0) / (16.0 * 24.0 * 24.0)) + 0.5);
  }
  table[MSLITE_SIGMOID_POINTS - 1] = UINT16_MAX;
}

static int32_t table_position(const mslite_fixed_unary *n, int32_t q) {
  return (q * n->factor + (n->left > 0 ? 1 << (n->left - 1) : 0)) >> n->left;
}

/* Returns the table's value at |position| / 2^bits, in Q(16 - bits).(16 + bits), `high` beyond its end. */
static int32_t between_points(const uint16_t *table, int32_t position, int32_t bits, int32_t high) {
  const int32_t distance = position < 0 ? -position : position, at = distance >> bits;
  if (at >= MSLITE_SIGMOID_POINTS - 1) return high;
  return (table[at] << bits) + (distance & ((1 << bits) - 1)) * (table[at + 1] - table[at]);
}

static int32_t sigmoid_of(const mslite_fixed_unary *n, const uint16_t *table, int32_t q) {
  const int32_t position = table_position(n, q), value = between_points(table, position, 9, INT16_MAX << 10);
  return (position >= 0 ? value + (1 << 9) : (1 << 25) - value + (1 << 9) - 1) >> 10;
}

/* tanh(x) = 2 sigmoid(2 x) - 1 */
static int32_t tanh_of(const mslite_fixed_unary *n, const uint16_t *table, int32_t q) {
  const int32_t position = table_position(n, q), value = between_points(table, position, 8, UINT16_MAX << 8);
  return (position >= 0 ? value - (1 << 23) + (1 << 7) : -value + (1 << 23) + (1 << 7) - 1) >> 8;
}

int32_t mslite_fixed_unary_value(const mslite_fixed_unary *n, const uint16_t *sigmoid, int32_t q) {
  const int32_t value = q - n->zero_x, magnitude = value < 0 ? -value : value;
  switch (n->code) {
    case LIMIT:
      return result(n, mslite_rescale(value, n->positive));
    case LEAKY:
      if (value >= 0) return result(n, mslite_rescale(value, n->positive));
      return result(n, n->turns ? -mslite_rescale(value, n->negative) : mslite_rescale(value, n->negative));
    case HARD_SWISH:
      return hard_swish(n, q);
    case ABSOLUTE:
      return result(n, mslite_rescale(magnitude, n->positive));
    case SAME_ABSOLUTE:
      return result(n, magnitude);
    case NEGATIVE:
      return q == n->low ? q : -q;
    case ROOT:
      return square_root(n, value);
    case INVERSE_ROOT:
      return inverse_root(n, value);
    case SIGMOID:
      return sigmoid_of(n, sigmoid, q);
    default:
      return tanh_of(n, sigmoid, q);
  }
}
