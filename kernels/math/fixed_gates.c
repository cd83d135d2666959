#include "math/fixed_gates.h"

static int16_t wrapped(int32_t value) { return (int16_t)(uint16_t)(uint32_t)value; }

static int16_t saturated(int32_t value) { return (int16_t)mslite_clamp(value, INT16_MIN, INT16_MAX); }

int16_t mslite_fixed_product(int16_t a, int16_t b) {
  if (a == INT16_MIN && b == INT16_MIN) return INT16_MAX;
  const int32_t exact = (int32_t)a * b;
  return (int16_t)((exact + (exact >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15));
}

int16_t mslite_fixed_scaled(int16_t value, int32_t exponent) {
  const int32_t threshold = (1 << (15 - exponent)) - 1;
  if (exponent > 0 && value > threshold) return INT16_MAX;
  if (exponent > 0 && value < -threshold) return INT16_MIN;
  return wrapped((int32_t)((uint32_t)value << exponent));
}

/* Converts a constant in Q.31 to 16 bits. */
static int16_t constant(int32_t wide) { return (int16_t)mslite_divide_by_power(wide, 16); }

/* Returns exp(a) in Q0.15 for a in [-1/4, 0), by a Taylor series around -1/8. */
static int16_t exp_near_zero(int16_t a) {
  const int16_t at_center = constant(1895147668), third = constant(715827883); /* exp(-1/8), 1/3 */
  const int16_t x = wrapped(a + (1 << 12));
  const int16_t square = mslite_fixed_product(x, x), cube = mslite_fixed_product(square, x);
  const int16_t quarter_fourth = (int16_t)mslite_divide_by_power(mslite_fixed_product(square, square), 2);
  const int16_t rest =
      (int16_t)mslite_divide_by_power(wrapped(mslite_fixed_product(wrapped(quarter_fourth + cube), third) + square), 1);
  return saturated(at_center + mslite_fixed_product(at_center, wrapped(x + rest)));
}

/* Returns exp(a) in Q0.15 for a <= 0 with `digits` integer digits: exp of the remainder, times a factor for each
 * higher bit. */
static int16_t exp_of_negative(int16_t a, int32_t digits) {
  static const int32_t powers[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  const int32_t fraction = 15 - digits, quarter = 1 << (fraction - 2);
  if (a == 0) return INT16_MAX;
  const int16_t below = (int16_t)((a & (quarter - 1)) - quarter);
  const int16_t remainder = wrapped(below - a);
  int16_t result = exp_near_zero(mslite_fixed_scaled(below, digits));
  for (int32_t i = 0; i < 7 && digits > i - 2; ++i) { /* exp(-2^(i - 2)) */
    if ((remainder & wrapped(1 << (fraction + i - 2))) != 0) result = mslite_fixed_product(result, constant(powers[i]));
  }
  if (digits > 5 && a < constant(-(1 << (36 - digits)))) return 0;
  return result;
}

/* Returns 1 / ((1 + a) / 2) in Q2.13 for a in (0, 1), by three steps of Newton-Raphson division. */
static int16_t reciprocal_of_half_sum(int16_t a) {
  const int32_t sum = a + INT16_MAX;
  const int16_t half = (int16_t)((sum + (sum >= 0 ? 1 : -1)) / 2), one = 1 << 13;
  int16_t x = wrapped(constant(1515870810) + mslite_fixed_product(half, constant(-1010580540))); /* 48/17, -32/17 */
  for (int32_t i = 0; i < 3; ++i) {
    const int16_t error = wrapped(one - mslite_fixed_product(half, x));
    x = wrapped(x + mslite_fixed_scaled(mslite_fixed_product(x, error), 2));
  }
  return x;
}

int16_t mslite_fixed_sigmoid(int16_t a) {
  if (a == 0) return 1 << 14;
  const int16_t magnitude = a > 0 ? a : wrapped(-a);
  const int16_t positive = mslite_fixed_scaled(reciprocal_of_half_sum(exp_of_negative(wrapped(-magnitude), 3)), 1);
  return a > 0 ? positive : wrapped(INT16_MAX - positive);
}

int16_t mslite_fixed_tanh(int16_t a, int32_t digits) {
  if (a == 0) return 0;
  const int16_t negative = a < 0 ? a : wrapped(-a);
  const int16_t x = reciprocal_of_half_sum(exp_of_negative(negative, digits + 1));
  const int16_t result = mslite_fixed_scaled(wrapped(x - (1 << 13)), 2);
  return a < 0 ? wrapped(-result) : result;
}
