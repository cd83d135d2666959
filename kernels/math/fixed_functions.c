/* Functions of fixed-point numbers: exp by a Taylor series, 1 / x and 1 / sqrt(x) by Newton iterations, ln by a
 * rational function. Operations and roundings have the same order as in TensorFlow Lite and gemmlowp. */
#include "math/fixed_functions.h"

static int32_t product(int32_t a, int32_t b) { return mslite_doubling_high_product(a, b); }

/* a + b and a - b with 32-bit wraparound. */
static int32_t sum(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
static int32_t difference(int32_t a, int32_t b) { return (int32_t)((uint32_t)a - (uint32_t)b); }

/* a * 2^bits, saturated to 32 bits. */
static int32_t scaled_up(int32_t a, int32_t bits) {
  if (bits == 0) return a;
  const int32_t most = (int32_t)(((int64_t)1 << (31 - bits)) - 1);
  return a > most ? INT32_MAX : a < -most ? INT32_MIN : a * (int32_t)((int64_t)1 << bits);
}

/* (a + b) / 2, rounded half away from zero. */
static int32_t half_sum(int32_t a, int32_t b) {
  const int64_t both = (int64_t)a + b;
  return (int32_t)((both + (both >= 0 ? 1 : -1)) / 2);
}

static int32_t leading_zeros(uint32_t x) {
  int32_t count = 0;
  for (uint32_t bit = (uint32_t)1 << 31; bit != 0 && (x & bit) == 0; bit >>= 1) ++count;
  return count;
}

static int32_t clamped(int64_t x) { return (int32_t)(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x); }

int32_t mslite_fixed_exp(int32_t a) {
  /* exp(-1/4), exp(-1/2), exp(-1), ... exp(-16), in Q0.31 */
  static const int32_t powers[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  const int32_t quarter = (int32_t)1 << 24, eighth = (int32_t)1 << 28;
  const int32_t exp_eighth = 1895147668, third = 715827883; /* exp(-1/8) and 1/3 in Q0.31 */
  if (a == 0) return INT32_MAX;
  const int32_t rest = (a & (quarter - 1)) - quarter; /* in [-1/4, 0) */
  const int32_t x = scaled_up(rest, 5) + eighth;
  const int32_t x2 = product(x, x), x3 = product(x2, x), x4 = product(x2, x2);
  const int32_t tail = product(mslite_divide_by_power(x4, 2) + x3, third) + x2;
  int32_t result = exp_eighth + product(exp_eighth, x + mslite_divide_by_power(tail, 1));
  const int32_t quarters = difference(rest, a);
  for (int32_t i = 0; i < 7; ++i)
    if ((quarters >> (24 + i) & 1) != 0) result = product(result, powers[i]);
  return result;
}

/* Returns 1 / (1 + a) in Q0.31 for a in [0, 1) in Q0.31. */
static int32_t one_over_one_plus(int32_t a) {
  const int32_t half_denominator = half_sum(a, INT32_MAX);
  /* 48/17 - 32/17 d in Q2.29, which is within 1/17 of 1 / d in [1/2, 1] */
  int32_t x = 1515870810 + product(half_denominator, -1010580540);
  for (int32_t i = 0; i < 3; ++i) {
    const int32_t error = ((int32_t)1 << 29) - product(half_denominator, x);
    x += scaled_up(product(x, error), 2);
  }
  return scaled_up(x, 1);
}

int32_t mslite_fixed_reciprocal(int32_t x, int32_t digits, int32_t *bits) {
  const int32_t zeros = leading_zeros((uint32_t)x);
  *bits = digits - zeros;
  if (zeros == 32) return INT32_MAX;
  return one_over_one_plus((int32_t)(((uint32_t)x << zeros) - ((uint32_t)1 << 31)));
}

int32_t mslite_fixed_log(int32_t x) {
  enum { DIGITS = 12, RESULT_BITS = 25 }; /* the sum is in Q6.25 */
  /* In Q0.31: ln 2, roots of 1/2, and the coefficients of the rational function */
  const int32_t log_2 = 1488522236, fourth_root = 1805811301, root = 1518500250;
  const int32_t alpha_n = 117049297, alpha_d = 127690142, alpha_i = 1057819769, alpha_f = 638450708;
  const int32_t quarter = (int32_t)1 << 23; /* Q6.25 */
  /* x = 2^k r, with the one of two adjacent k for which r is near 2^(-1/4). */
  const int32_t zeros_a = leading_zeros((uint32_t)x);
  const int32_t r_a = scaled_up(product(scaled_up(x, zeros_a - 1), root), 1);
  const int32_t k_a = clamped((int64_t)scaled_up(DIGITS - zeros_a, RESULT_BITS) + quarter);
  const int32_t zeros_b = leading_zeros((uint32_t)product(x, root)) - 1;
  const int32_t r_b = scaled_up(x, zeros_b);
  const int32_t k_b = clamped((int64_t)scaled_up(DIGITS - zeros_b, RESULT_BITS) - quarter);
  const int32_t r = r_a < r_b ? r_a : r_b, k = k_a > k_b ? k_a : k_b;
  const int32_t p = half_sum(r, fourth_root);
  const int32_t offset = difference(r, fourth_root), q = sum(offset, offset), square = product(q, q);
  const int32_t numerator = sum(product(q, r), product(product(q, square), alpha_n));
  const int32_t inner = sum(sum(alpha_i, q), product(alpha_d, square));
  const int32_t denominator = sum(product(p, inner), product(alpha_f, q));
  const int32_t quotient = product(mslite_divide_by_power(numerator, 6), one_over_one_plus(denominator));
  return scaled_up(sum(product(k, log_2), quotient), 1);
}

mslite_multiplier mslite_inverse_root(int32_t x) {
  mslite_multiplier result = {INT32_MAX, 0};
  if (x <= 1) return result;
  int32_t shift = 11;
  for (; x >= (int32_t)1 << 29; ++shift) x /= 4;
  const int32_t pairs = (leading_zeros((uint32_t)x) - 1) / 2 - 1;
  shift -= pairs;
  x = (int32_t)((uint32_t)x << (2 * pairs));
  /* In Q3.28: root = root (3/2 - x / 2 root^2) */
  const int32_t three_halves = ((int32_t)1 << 28) + ((int32_t)1 << 27), half = mslite_divide_by_power(x >> 1, 1);
  int32_t root = (int32_t)1 << 28;
  for (int32_t i = 0; i < 5; ++i) {
    const int32_t cube = scaled_up(product(product(root, root), root), 6);
    root = scaled_up(difference(product(three_halves, root), product(half, cube)), 3);
  }
  result.value = product(root, 1518500250); /* sqrt(1/2) in Q0.31 */
  if (shift < 0) {
    result.value = (int32_t)((uint32_t)result.value << -shift);
    shift = 0;
  }
  result.shift = -shift;
  return result;
}
