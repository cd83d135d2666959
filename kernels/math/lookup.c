/* Lookup tables of a function of quantized integers. */
#include "math/lookup.h"

#include <math.h>
#include <stdbool.h>

#if defined(MSLITE_TARGET_X86)
#include <cpuid.h>
#include <immintrin.h>
#endif

void mslite_fill_bytes(mslite_real_function function, const void *numbers, float scale_x, int32_t zero_x, float scale_y,
                       int32_t zero_y, int32_t even, int8_t *table) {
  const float inverse = 1.0F / scale_y;
  for (int32_t q = INT8_MIN; q <= INT8_MAX; ++q) {
    const float real = scale_x * (float)(q - zero_x);
    const float value = (float)function(numbers, (double)real);
    const float steps = (even ? rintf(value / scale_y) : roundf(value * inverse)) + (float)zero_y;
    /* NaN is treated as zero. */
    const float limited = steps < INT8_MIN   ? INT8_MIN
                          : steps > INT8_MAX ? INT8_MAX
                          : steps == steps   ? steps
                                             : (float)zero_y;
    table[q - INT8_MIN] = (int8_t)limited;
  }
}

#if defined(MSLITE_TARGET_X86)
enum { MIN_BYTES = 8 }; /* fewer are not worth loading the table */

/* Returns whether there is AVX-512 VBMI (byte permutations), and the system saves its registers. */
__attribute__((target("xsave"))) static int32_t find_permutations(void) {
  const uint32_t os_saves = 1U << 27, avx512f = 1U << 16, avx512bw = 1U << 30, vbmi = 1U << 1;
  const uint64_t registers = 0xE6;
  uint32_t a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & os_saves) == 0) return 0;
  if (((uint64_t)_xgetbv(0) & registers) != registers || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return 0;
  return (b & avx512f) != 0 && (b & avx512bw) != 0 && (c & vbmi) != 0;
}

/* Detected once, because CPUID is slow on virtual machines. */
static bool has_permutations(void) {
  static int32_t known = -1;
  int32_t found = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (found < 0) {
    found = find_permutations();
    __atomic_store_n(&known, found, __ATOMIC_RELAXED);
  }
  return found != 0;
}

/* Both halves of the table, selected by bit 7, which is set in negative values. */
__attribute__((target("avx512f,avx512bw,avx512vbmi"))) static void look_up_vectors(const int8_t *table,
                                                                                   const int8_t *from,
                                                                                   int64_t from_step, int8_t *to,
                                                                                   int64_t to_step, int64_t rows,
                                                                                   int64_t count) {
  __m512i part[4];
  for (int32_t i = 0; i < 4; ++i) part[i] = _mm512_loadu_si512(table + 64 * i);
  for (int64_t r = 0; r < rows; ++r, from += from_step, to += to_step) {
    for (int64_t i = 0; i < count; i += 64) {
      const __mmask64 inside = UINT64_MAX >> (count - i < 64 ? 64 - (count - i) : 0);
      const __m512i q = _mm512_maskz_loadu_epi8(inside, from + i);
      const __m512i low = _mm512_permutex2var_epi8(part[0], q, part[1]);
      const __m512i high = _mm512_permutex2var_epi8(part[2], q, part[3]);
      _mm512_mask_storeu_epi8(to + i, inside, _mm512_mask_blend_epi8(_mm512_movepi8_mask(q), high, low));
    }
  }
}
#endif

void mslite_look_up_bytes(const int8_t *table, const int8_t *from, int64_t from_step, int8_t *to, int64_t to_step,
                          int64_t rows, int64_t count) {
#if defined(MSLITE_TARGET_X86)
  if (count >= MIN_BYTES && has_permutations()) {
    look_up_vectors(table, from, from_step, to, to_step, rows, count);
    return;
  }
#endif
  for (int64_t r = 0; r < rows; ++r, from += from_step, to += to_step) {
    for (int64_t i = 0; i < count; ++i) to[i] = table[from[i] - INT8_MIN];
  }
}

/* Rounds to float32 if `single`. */
static double kept(double x, int32_t single) { return single ? (double)(float)x : x; }

void mslite_fill_steps(mslite_real_function function, const void *numbers, double scale_x, int32_t zero_x,
                       double scale_y, int32_t zero_y, int32_t single, int16_t *table) {
  const double from = kept(scale_x * (INT16_MIN - zero_x), single), to = kept(scale_x * (INT16_MAX - zero_x), single);
  const double low = kept(scale_y * (INT16_MIN - zero_y), single), high = kept(scale_y * (INT16_MAX - zero_y), single);
  const double step = kept(kept(to - from, single) / (double)MSLITE_LOOKUP_STEPS, single), half = step / 2;
  const double inverse = kept(65536.0 / kept(high - low, single), single);
  for (int32_t i = 0; i <= MSLITE_LOOKUP_STEPS; ++i) {
    const double x = i == MSLITE_LOOKUP_STEPS ? to : kept(from + kept(i * step, single), single);
    const double value = kept(kept(function(numbers, x), single) * inverse, single);
    double point = round(value);
    if (i < MSLITE_LOOKUP_STEPS) {
      const double middle = kept(function(numbers, kept(x + half, single)), single);
      const double next = kept(function(numbers, kept(from + kept((i + 1) * step, single), single)), single);
      const double sum = kept(kept(next * inverse, single) + point, single);
      const double error = kept(round(kept(sum / 2, single)) - round(kept(middle * inverse, single)), single);
      point = kept(point - round(kept(error / 2, single)), single);
    }
    table[i] = (int16_t)(point < INT16_MIN ? INT16_MIN : point > INT16_MAX ? INT16_MAX : point == point ? point : 0.0);
  }
}
