/* Applies a fused activation to the result of another kernel, for kernels outside of `_vector.c` files. */
#ifndef MSLITE_ACTIVATION_APPLY_H
#define MSLITE_ACTIVATION_APPLY_H

#include "kernel.h"

/* Returns whether the activation has no parameters, so that it can be applied. */
bool mslite_can_apply_activation(int32_t activation);

/* Applies the activation to `count` values, in place. */
void mslite_apply_activation(int32_t activation, float *x, int64_t count);

#endif
