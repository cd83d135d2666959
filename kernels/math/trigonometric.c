/* Sine, cosine, tangent and their inverses. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "math/scalar_math.h"

#define PI 3.141592653589793
#define HALF_PI 1.5707963267948966
#define HALF_PI_REST 6.123233995736766e-17

/* The binary digits of 2 / pi, 32 per word. */
static const uint32_t two_over_pi[] = {
    0xa2f9836eU, 0x4e441529U, 0xfc2757d1U, 0xf534ddc0U, 0xdb629599U, 0x3c439041U, 0xfe5163abU, 0xdebbc561U,
    0xb7246e3aU, 0x424dd2e0U, 0x06492eeaU, 0x09d1921cU, 0xfe1deb1cU, 0xb129a73eU, 0xe88235f5U, 0x2ebb4484U,
    0xe99c7026U, 0xb45f7e41U, 0x3991d639U, 0x835339f4U, 0x9c845f8bU, 0xbdf9283bU, 0x1ff897ffU, 0xde05980fU,
    0xef2f118bU, 0x5a0a6d1fU, 0x6d367ecfU, 0x27cb09b7U, 0x4f463f66U, 0x9e5fea2dU, 0x7527bac7U, 0xebe5f17bU,
    0x3d0739f7U, 0x8a5292eaU, 0x6bfb5fb1U, 0x1f8d5d08U, 0x56033046U, 0xfc7b6babU, 0xf0cfbc20U};

/* Returns bits [at, at + 64) of the little-endian number `limbs`. */
static uint64_t bits_at(const uint32_t *limbs, int32_t at) {
  const int32_t word = at / 32, shift = at % 32;
  const uint64_t low = limbs[word] | (uint64_t)limbs[word + 1] << 32;
  return shift == 0 ? low : low >> shift | (uint64_t)limbs[word + 2] << (64 - shift);
}

/* Returns x mod pi/2 for a large positive x, by multiplying its mantissa by the relevant digits of 2/pi. */
static double reduce_large(double x, int32_t *quadrant) {
  uint64_t mantissa;
  memcpy(&mantissa, &x, sizeof mantissa);
  const int32_t exponent = (int32_t)(mantissa >> 52) - 1075;
  mantissa = (mantissa & 0x000fffffffffffffU) | 0x0010000000000000U;
  const int32_t first = exponent < 2 ? 0 : (exponent - 2) / 32;
  const uint32_t factor[2] = {(uint32_t)mantissa, (uint32_t)(mantissa >> 32)};
  uint32_t product[9] = {0};
  for (int32_t i = 0; i < 2; ++i) {
    uint64_t carry = 0;
    for (int32_t j = 0; j < 5; ++j) {
      carry += (uint64_t)factor[i] * two_over_pi[first + 4 - j] + product[i + j];
      product[i + j] = (uint32_t)carry;
      carry >>= 32;
    }
    product[i + 5] = (uint32_t)carry;
  }
  const int32_t point = 160 - (exponent - 32 * first);
  *quadrant = (int32_t)(bits_at(product, point) & 3);
  uint64_t high = bits_at(product, point - 64), low = point >= 128 ? bits_at(product, point - 128) : 0;
  double sign = 1;
  if (high >> 63) {
    high = ~high;
    low = ~low;
    sign = -1;
    ++*quadrant;
  }
  const double fraction = (double)high * 5.421010862427522e-20 + (double)low * 2.938735877055719e-39;
  return sign * fraction * HALF_PI;
}

/* |x| = quadrant pi/2 + r, |r| <= pi/4 (slightly more at the borders) */
static double reduce(double x, int32_t *quadrant) {
  if (x > 1e6) return reduce_large(x, quadrant);
  const double n = floor(x * 0.6366197723675814 + 0.5);
  *quadrant = (int32_t)n & 3;
  /* pi/2 in three parts; n times each of the first two is exact. */
  return ((x - n * 1.5707963267341256) - n * 6.077100506303966e-11) - n * 2.0222662487959506e-21;
}

static double sine_series(double r) {
  const double z = r * r;
  double sum = 0;
  for (int k = 18; k >= 2; k -= 2) sum = (1 - sum) * z / (k * (k + 1));
  return r - r * sum;
}

static double cosine_series(double r) {
  const double z = r * r;
  double sum = 0;
  for (int k = 19; k >= 3; k -= 2) sum = (1 - sum) * z / (k * (k + 1));
  return 1 - (0.5 * z - 0.5 * z * sum);
}

double mslite_sin(double x) {
  const double a = fabs(x);
  if (!(a < INFINITY)) return NAN;
  int32_t quadrant;
  const double r = reduce(a, &quadrant);
  double y = quadrant & 1 ? cosine_series(r) : sine_series(r);
  if (quadrant & 2) y = -y;
  return signbit(x) ? -y : y;
}

double mslite_cos(double x) {
  const double a = fabs(x);
  if (!(a < INFINITY)) return NAN;
  int32_t quadrant;
  const double r = reduce(a, &quadrant);
  const double y = quadrant & 1 ? sine_series(r) : cosine_series(r);
  return (quadrant + 1) & 2 ? -y : y;
}

double mslite_tan(double x) {
  const double a = fabs(x);
  if (!(a < INFINITY)) return NAN;
  int32_t quadrant;
  const double r = reduce(a, &quadrant);
  const double s = sine_series(r), c = cosine_series(r);
  return copysign(1, x) * (quadrant & 1 ? -c / s : s / c);
}

/* atan of 0, 1/8, ... 1 */
static const double eighths[9] = {0.0,
                                  0.12435499454676144,
                                  0.24497866312686414,
                                  0.35877067027057225,
                                  0.4636476090008061,
                                  0.5585993153435624,
                                  0.6435011087932844,
                                  0.7188299996216245,
                                  0.7853981633974483};

double mslite_atan(double x) {
  const double a = fabs(x);
  if (x != x) return x;
  const double t = a > 1 ? 1 / a : a;
  const int32_t nearest = (int32_t)(t * 8 + 0.5);
  const double c = nearest * 0.125, d = (t - c) / (1 + t * c), z = d * d;
  double sum = 0;
  for (int k = 15; k >= 3; k -= 2) sum = z * (1.0 / k - sum);
  const double angle = eighths[nearest] + (d - d * sum);
  return copysign(a > 1 ? HALF_PI - (angle - HALF_PI_REST) : angle, x);
}

double mslite_asin(double x) {
  if (!(fabs(x) <= 1)) return NAN;
  if (fabs(x) == 1) return copysign(HALF_PI, x);
  return mslite_atan(x / sqrt((1 - x) * (1 + x)));
}

double mslite_acos(double x) {
  if (!(fabs(x) <= 1)) return NAN;
  if (x == -1) return PI;
  return 2 * mslite_atan(sqrt((1 - x) / (1 + x)));
}

double mslite_atan2(double y, double x) {
  if (x != x || y != y) return NAN;
  const double ax = fabs(x), ay = fabs(y);
  double angle;
  if (ay == 0)
    angle = 0;
  else if (ax == INFINITY && ay == INFINITY)
    angle = 0.5 * HALF_PI;
  else
    angle = ax == 0 ? HALF_PI : mslite_atan(ay / ax);
  return copysign(signbit(x) ? PI - angle : angle, y);
}
