/* Functions of fixed-point numbers, with TensorFlow Lite's reference kernels' bits. Qm.n is an int32 whose real value
 * is raw / 2^n; m + n = 31. */
#ifndef MSLITE_FIXED_FUNCTIONS_H
#define MSLITE_FIXED_FUNCTIONS_H

#include "math/fixed_point.h"

/* exp(a) in Q0.31 of a <= 0 in Q5.26. */
int32_t mslite_fixed_exp(int32_t a);

/* 1 / x in Q0.31 times 2^*bits, in [1/2, 1), of x > 0 with `digits` integer digits. */
int32_t mslite_fixed_reciprocal(int32_t x, int32_t digits, int32_t *bits);

/* ln(x) in Q5.26 of x >= 1 in Q12.19. */
int32_t mslite_fixed_log(int32_t x);

/* The multiplier that stands for 1 / sqrt(x); 0 counts as 1. Its value is below 2^31, but may be below 2^30. */
mslite_multiplier mslite_inverse_root(int32_t x);

#endif
