/* Functions of fixed-point numbers, bit-identical to TensorFlow Lite's reference kernels. Qm.n is an int32 with the
 * real value raw / 2^n; m + n = 31. */
#ifndef MSLITE_FIXED_FUNCTIONS_H
#define MSLITE_FIXED_FUNCTIONS_H

#include "math/fixed_point.h"

/* Returns exp(a) in Q0.31 for a <= 0 in Q5.26. */
int32_t mslite_fixed_exp(int32_t a);

/* Returns 1 / x in Q0.31 times 2^*bits, in [1/2, 1), for x > 0 with `digits` integer digits. */
int32_t mslite_fixed_reciprocal(int32_t x, int32_t digits, int32_t *bits);

/* Returns ln(x) in Q5.26 for x >= 1 in Q12.19. */
int32_t mslite_fixed_log(int32_t x);

/* Returns the multiplier of 1 / sqrt(x); 0 is treated as 1. Its value is below 2^31, but may be below 2^30. */
mslite_multiplier mslite_inverse_root(int32_t x);

#endif
