/* Exponentials, logarithms and functions that are based on them. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "math/scalar_math.h"

/* Returns 2^n for -1022 <= n <= 1023. */
static double power_of_two(int64_t n) {
  const uint64_t bits = (uint64_t)(n + 1023) << 52;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Returns exp(r) - 1 for |r| <= ln2 / 2 by its Taylor series, whose 15th term is below 2^-60 of the sum. */
static double exp_series(double r) {
  double sum = 0;
  for (int k = 14; k >= 2; --k) sum = (sum + 1) * r / k;
  return r + r * sum;
}

/* Reduces x to n ln2 + r. */
static double reduce(double x, int64_t *n) {
  const double count = floor(x * 1.4426950408889634 + 0.5);
  *n = (int64_t)count;
  return (x - count * 0.6931471803691238) - count * 1.9082149292705877e-10;
}

double mslite_exp(double x) {
  if (x != x) return x;
  if (x > 709.8) return INFINITY;
  if (x < -746) return 0;
  int64_t n;
  const double r = reduce(x, &n);
  const int64_t half = n / 2;
  return (1 + exp_series(r)) * power_of_two(half) * power_of_two(n - half);
}

double mslite_expm1(double x) {
  if (x != x || x == 0) return x;
  if (x > 700) return mslite_exp(x);
  if (x < -40) return -1;
  int64_t n;
  const double rest = exp_series(reduce(x, &n)), scale = power_of_two(n);
  return rest * scale + (scale - 1);
}

/* Returns log(m 2^n (1 + tail)) for m in [sqrt(1/2), sqrt(2)): 2 atanh((m - 1) / (m + 1)). */
static double log_parts(double m, int64_t n, double tail) {
  const double f = m - 1, s = f / (2 + f), z = s * s;
  double sum = 0;
  for (int k = 23; k >= 3; k -= 2) sum = (sum + 1.0 / k) * z;
  return (double)n * 0.6931471803691238 + ((f - s * (f - 2 * sum)) + ((double)n * 1.9082149292705877e-10 + tail));
}

static double split(double x, int64_t *n) {
  uint64_t bits;
  *n = 0;
  if (x < DBL_MIN) {
    x *= 18014398509481984.0; /* 2^54 */
    *n = -54;
  }
  memcpy(&bits, &x, sizeof bits);
  int64_t exponent = (int64_t)(bits >> 52) - 1023;
  bits = (bits & 0x000fffffffffffffU) | 0x3ff0000000000000U;
  memcpy(&x, &bits, sizeof x);
  if (x > 1.4142135623730951) {
    x *= 0.5;
    ++exponent;
  }
  *n += exponent;
  return x;
}

double mslite_log(double x) {
  if (x != x || x == INFINITY) return x;
  if (x == 0) return -INFINITY;
  if (x < 0) return NAN;
  int64_t n;
  const double m = split(x, &n);
  return log_parts(m, n, 0);
}

double mslite_log1p(double x) {
  if (x != x || x == INFINITY || x == 0) return x;
  if (x == -1) return -INFINITY;
  if (x < -1) return NAN;
  const double u = 1 + x;
  /* The rounding error of the addition, relative to u. */
  const double lost = x > 1 ? 1 - (u - x) : x - (u - 1);
  int64_t n;
  const double m = split(u, &n);
  return log_parts(m, n, lost / u);
}

static bool is_odd_integer(double y) { return fabs(y) < 9007199254740992.0 && fmod(y, 2) != 0 && floor(y) == y; }

/* Returns x^n by squaring, 0 <= n <= 64. Exact if the result is. */
static double power_by_squaring(double x, int32_t n) {
  double result = 1;
  for (; n > 0; n >>= 1) {
    if (n & 1) result *= x;
    x *= x;
  }
  return result;
}

double mslite_pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return NAN;
  const bool odd = is_odd_integer(y);
  const double magnitude = fabs(x);
  if (fabs(y) == INFINITY) {
    if (magnitude == 1) return 1;
    return (magnitude > 1) == (y > 0) ? INFINITY : 0;
  }
  if (x == 0 || magnitude == INFINITY) {
    const double value = (x == 0) == (y > 0) ? 0 : INFINITY;
    return odd && signbit(x) ? -value : value;
  }
  if (floor(y) == y && fabs(y) <= 64) {
    const double value = power_by_squaring(x, (int32_t)fabs(y));
    if (y > 0) return value;
    if (value != 0 && fabs(value) != INFINITY) return 1 / value;
  }
  if (y == 0.5) return sqrt(x);
  if (x < 0 && floor(y) != y) return NAN;
  const double value = mslite_exp(y * mslite_log(magnitude));
  return x < 0 && odd ? -value : value;
}

double mslite_sinh(double x) {
  const double a = fabs(x);
  if (a > 700) return copysign(0.5 * mslite_exp(a - 0.6931471805599453) * 2, x);
  const double e = mslite_expm1(a);
  return copysign(0.5 * (e + e / (e + 1)), x);
}

double mslite_cosh(double x) {
  const double a = fabs(x);
  if (a > 700) return mslite_exp(a - 0.6931471805599453);
  const double e = mslite_exp(a);
  return 0.5 * (e + 1 / e);
}

double mslite_tanh(double x) {
  const double a = fabs(x);
  if (a > 22) return copysign(1, x);
  const double e = mslite_expm1(2 * a);
  return copysign(e / (e + 2), x);
}

double mslite_asinh(double x) {
  const double a = fabs(x);
  if (!(a < 1e150)) return x == x && a < INFINITY ? copysign(mslite_log(a) + 0.6931471805599453, x) : x;
  return copysign(mslite_log1p(a + a * a / (1 + sqrt(1 + a * a))), x);
}

double mslite_acosh(double x) {
  if (!(x >= 1)) return NAN;
  if (x > 1e150) return mslite_log(x) + 0.6931471805599453;
  const double t = x - 1;
  return mslite_log1p(t + sqrt(2 * t + t * t));
}

double mslite_atanh(double x) {
  const double a = fabs(x);
  if (!(a <= 1)) return NAN;
  return copysign(0.5 * mslite_log1p(2 * a / (1 - a)), x);
}

double mslite_erf(double x) {
  const double a = fabs(x);
  if (x != x || x == 0) return x;
  if (a > 6) return copysign(1, x);
  if (a < 3) {
    /* erf(a) = 2 / sqrt(pi) exp(-a^2) (a + 2 a^3 / 3 + 4 a^5 / 15 + ...): every term is positive */
    double term = a, sum = a;
    for (int k = 1; term > sum * 1e-18; ++k) {
      term *= 2 * a * a / (2 * k + 1);
      sum += term;
    }
    return copysign(1.1283791670955126 * mslite_exp(-a * a) * sum, x);
  }
  /* 1 - erf(a) by its continued fraction a + (1/2) / (a + (2/2) / (a + ...)) */
  double fraction = a;
  for (int k = 60; k >= 1; --k) fraction = a + 0.5 * k / fraction;
  return copysign(1 - 0.5641895835477563 * mslite_exp(-a * a) / fraction, x);
}
