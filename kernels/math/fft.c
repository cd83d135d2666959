#include "math/fft.h"

#include <stdbool.h>
#include <string.h>

#include "math/scalar_math.h"

#define PI 3.141592653589793

static bool is_power_of_two(int64_t n) { return (n & (n - 1)) == 0; }

/* Returns the length of the cyclic convolution for the chirp. */
static int64_t chirp_length(int64_t n) {
  int64_t m = 1;
  while (m < 2 * n - 1) m *= 2;
  return m;
}

/* Powers of two: n / 2 roots of unity. Others: the roots for m, n values of the chirp, and its transform of length
 * m. */
int64_t mslite_fft_table_size(int64_t n) {
  if (is_power_of_two(n)) return n;
  return 3 * chirp_length(n) + 2 * n;
}

int64_t mslite_fft_space_size(int64_t n) { return is_power_of_two(n) ? 0 : 2 * chirp_length(n); }

static void make_roots(int64_t n, double *roots) {
  for (int64_t k = 0; k < n / 2; ++k) {
    const double angle = 2 * PI * (double)k / (double)n;
    roots[2 * k] = mslite_cos(angle);
    roots[2 * k + 1] = -mslite_sin(angle);
  }
}

static void swap_reversed(int64_t n, double *data) {
  for (int64_t i = 1, j = 0; i < n; ++i) {
    int64_t bit = n / 2;
    for (; j & bit; bit /= 2) j ^= bit;
    j |= bit;
    if (i >= j) continue;
    for (int64_t part = 0; part < 2; ++part) {
      const double other = data[2 * i + part];
      data[2 * i + part] = data[2 * j + part];
      data[2 * j + part] = other;
    }
  }
}

static void transform(int64_t n, const double *roots, double *data) {
  swap_reversed(n, data);
  for (int64_t half = 1; half < n; half *= 2) {
    const int64_t step = n / (2 * half);
    for (int64_t begin = 0; begin < n; begin += 2 * half) {
      for (int64_t k = 0; k < half; ++k) {
        double *a = data + 2 * (begin + k), *b = a + 2 * half;
        const double *root = roots + 2 * k * step;
        const double real = b[0] * root[0] - b[1] * root[1], imaginary = b[0] * root[1] + b[1] * root[0];
        b[0] = a[0] - real;
        b[1] = a[1] - imaginary;
        a[0] += real;
        a[1] += imaginary;
      }
    }
  }
}

void mslite_fft_make_tables(int64_t n, double *tables) {
  if (is_power_of_two(n)) {
    make_roots(n, tables);
    return;
  }
  const int64_t m = chirp_length(n);
  double *chirp = tables + m, *spectrum = chirp + 2 * n;
  make_roots(m, tables);
  memset(spectrum, 0, (size_t)(2 * m) * sizeof *spectrum);
  for (int64_t k = 0; k < n; ++k) {
    const double angle = PI * (double)(k * k % (2 * n)) / (double)n;
    chirp[2 * k] = mslite_cos(angle);
    chirp[2 * k + 1] = -mslite_sin(angle);
    for (int64_t at = k; at < m; at = at == k && k > 0 ? m - k : m) {
      spectrum[2 * at] = chirp[2 * k];
      spectrum[2 * at + 1] = -chirp[2 * k + 1];
    }
  }
  transform(m, tables, spectrum);
}

static void multiply(const double *a, const double *b, double *product) {
  const double real = a[0] * b[0] - a[1] * b[1], imaginary = a[0] * b[1] + a[1] * b[0];
  product[0] = real;
  product[1] = imaginary;
}

void mslite_fft_forward(int64_t n, const double *tables, double *data, double *space) {
  if (is_power_of_two(n)) {
    transform(n, tables, data);
    return;
  }
  const int64_t m = chirp_length(n);
  const double *chirp = tables + m, *spectrum = chirp + 2 * n;
  for (int64_t k = 0; k < n; ++k) multiply(data + 2 * k, chirp + 2 * k, space + 2 * k);
  memset(space + 2 * n, 0, (size_t)(2 * (m - n)) * sizeof *space);
  transform(m, tables, space);
  /* The inverse transform is the conjugate of the transform of the conjugate, divided by m. */
  for (int64_t k = 0; k < m; ++k) {
    multiply(space + 2 * k, spectrum + 2 * k, space + 2 * k);
    space[2 * k + 1] = -space[2 * k + 1];
  }
  transform(m, tables, space);
  for (int64_t k = 0; k < n; ++k) {
    const double value[2] = {space[2 * k] / (double)m, -space[2 * k + 1] / (double)m};
    multiply(value, chirp + 2 * k, data + 2 * k);
  }
}
