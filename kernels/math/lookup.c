/* Tables of a real function between stored integers. */
#include "math/lookup.h"

#include <math.h>

void mslite_fill_bytes(mslite_real_function function, const void *numbers, float scale_x, int32_t zero_x, float scale_y,
                       int32_t zero_y, int32_t even, int8_t *table) {
  const float inverse = 1.0F / scale_y;
  for (int32_t q = INT8_MIN; q <= INT8_MAX; ++q) {
    const float real = scale_x * (float)(q - zero_x);
    const float value = (float)function(numbers, (double)real);
    const float steps = (even ? rintf(value / scale_y) : roundf(value * inverse)) + (float)zero_y;
    /* A NaN stands for zero. */
    const float limited = steps < INT8_MIN   ? INT8_MIN
                          : steps > INT8_MAX ? INT8_MAX
                          : steps == steps   ? steps
                                             : (float)zero_y;
    table[q - INT8_MIN] = (int8_t)limited;
  }
}

/* Rounds to single precision, where asked for. */
static double kept(double x, int32_t single) { return single ? (double)(float)x : x; }

void mslite_fill_steps(mslite_real_function function, const void *numbers, double scale_x, int32_t zero_x,
                       double scale_y, int32_t zero_y, int32_t single, int16_t *table) {
  const double from = kept(scale_x * (INT16_MIN - zero_x), single), to = kept(scale_x * (INT16_MAX - zero_x), single);
  const double low = kept(scale_y * (INT16_MIN - zero_y), single), high = kept(scale_y * (INT16_MAX - zero_y), single);
  const double step = kept(kept(to - from, single) / MSLITE_LOOKUP_STEPS, single), half = step / 2;
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
