/* Rescaling functions that few layers of generated C need, once per program. */
#include "simd/micro.h"
#if MICRO_MVE
#include "simd/micro_mve.h"
#endif

int32_t micro_rescale_other(int32_t sum, int32_t multiplier, int32_t shift, int32_t rounding, int32_t nudge) {
  int32_t steps;
  if (rounding == MICRO_ROUNDS_EVEN) {
    steps = mslite_rescale_even(sum, multiplier);
  } else {
    const int32_t shifted = shift > 0 ? mslite_shift_left(sum, shift) : sum;
    steps = (int32_t)(((int64_t)shifted * multiplier + (1 << 30)) >> 31);
    if (shift < 0) steps = (((steps + (steps >> 31)) >> (-1 - shift)) + 1) >> 1;
  }
  return 2 * micro_limit_i8((int32_t)((uint32_t)steps + (uint32_t)(nudge >> 1))) - nudge;
}

#if MICRO_MVE
micro_i32x4 micro_steps_other(micro_i32x4 sums, micro_i32x4 multiplier, micro_i32x4 shift, int32_t rounding,
                              int32_t nudge) {
  if (rounding == MICRO_ROUNDS_WIDE) return micro_steps_wide(sums, multiplier, shift);
  int32_t sum[4], factor[4], right[4];
  memcpy(sum, &sums, sizeof sum);
  memcpy(factor, &multiplier, sizeof factor);
  memcpy(right, &shift, sizeof right);
  for (int32_t i = 0; i < 4; ++i) {
    sum[i] = ((micro_rescale_other(sum[i], factor[i], right[i], rounding, nudge) + nudge) >> 1) - (nudge >> 1);
  }
  memcpy(&sums, sum, sizeof sum);
  return sums;
}
#endif
