/* The functions of recurrent gates on fixed-point numbers of 16 bits, with the bits of gemmlowp's, which TensorFlow
 * Lite's reference kernels use. Qm.n is an int16 whose real value is raw / 2^n; m + n = 15. */
#ifndef MSLITE_FIXED_GATES_H
#define MSLITE_FIXED_GATES_H

#include <stdint.h>

/* 1 / (1 + exp(-a)) in Q0.15, of a in Q3.12. */
int16_t mslite_fixed_sigmoid(int16_t a);

/* tanh(a) in Q0.15, of a with `digits` integer digits, 0 to 6. */
int16_t mslite_fixed_tanh(int16_t a, int32_t digits);

#endif
