#include "math/fixed_point.h"

#include <math.h>

mslite_multiplier mslite_make_multiplier(double real) {
  const mslite_multiplier nothing = {0, 0}, most = {INT32_MAX, 30};
  int exponent;
  if (!(real > 0)) return nothing;
  if (real > 1e300) return most; /* scales come from files: their quotient may be infinite */
  const double fraction = frexp(real, &exponent);
  int64_t fixed = (int64_t)round(fraction * 2147483648.0);
  if (fixed == (int64_t)1 << 31) {
    fixed /= 2;
    ++exponent;
  }
  if (exponent < -31) return nothing;
  const mslite_multiplier factor = {(int32_t)fixed, exponent > 30 ? 30 : exponent};
  return factor;
}

mslite_multiplier mslite_make_even_multiplier(double real) {
  const mslite_multiplier factor = {(int32_t)mslite_bits_of_float((float)real), MSLITE_SHIFT_TO_EVEN};
  return factor;
}

mslite_multiplier mslite_divide_multiplier(mslite_multiplier factor, int64_t count) {
  /* Uses as many bits of the divisor as the shift allows. */
  int32_t shift = -1;
  for (int64_t rest = count; rest > 0; rest >>= 1) ++shift;
  if (shift > 32) shift = 32;
  if (shift > 31 + factor.shift) shift = 31 + factor.shift;
  const mslite_multiplier result = {(int32_t)(((int64_t)factor.value << shift) / count), factor.shift - shift};
  return result;
}
