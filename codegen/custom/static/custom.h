/* Steps of custom operators, which CustomKernel computes. */
#ifndef MSLITE_CUSTOM_H
#define MSLITE_CUSTOM_H

#include <stdint.h>

#include "../kernels/kernel.h"
#include "../registered_kernel.h"

/* A node. `tensors`: its inputs, then its outputs, without data. */
typedef struct {
  int32_t input_count, output_count;
  const TensorC *tensors;
  const CustomParameter *param;
} mslite_custom;

void mslite_custom_run(const mslite_run *run, int32_t phase, int32_t part);

#endif
