/* An activation applied to what another kernel has computed, for kernels outside of `_vector.c` files. */
#ifndef MSLITE_ACTIVATION_APPLY_H
#define MSLITE_ACTIVATION_APPLY_H

#include "kernel.h"

/* True for activations that have no numbers of their own. */
bool mslite_can_apply_activation(int32_t activation);

/* `count` numbers, in place. */
void mslite_apply_activation(int32_t activation, float *x, int64_t count);

#endif
