/* Applies the activation of a portable kernel to each element of its result, with one lane of the vector functions. */
#ifndef MSLITE_FUSED_H
#define MSLITE_FUSED_H

#define MSLITE_ISA scalar
#include "activation/functions.h"

static inline float mslite_fused_activation(int32_t type, float x) {
  mslite_activation_params numbers;
  activation_params_of(type, 0.0f, 0.0f, 0.0f, false, &numbers);
  activation_row(&numbers, &x, &x, 1);
  return x;
}

#endif
