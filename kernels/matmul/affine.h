/* Shared by the shape rule and the kernel of Affine. */
#ifndef MSLITE_AFFINE_H
#define MSLITE_AFFINE_H

#include "kernel.h"

/* Returns the index of the bias among the inputs, or -1. */
int32_t mslite_affine_bias(const mslite_tensor *const *inputs, int32_t input_count);

/* Finds the least and the largest entry of the context. Returns false if it is empty or invalid. */
bool mslite_affine_reach(const mslite_Affine *attributes, int64_t *least, int64_t *most);

#endif
