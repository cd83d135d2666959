/* The model has operators that are yours. This function computes them all; `param->type` says which one it is.
 *
 * Write it, and build it with this project: make CUSTOM_KERNEL=custom_kernel.c, or cmake
 * -DCUSTOM_KERNEL=custom_kernel.c. The memory of the outputs is there: write to outputs[i].data_. 0: all went well;
 * anything else ends the run with an error. It may be called from any thread, for one node at a time. */
#ifndef REGISTERED_KERNEL_H
#define REGISTERED_KERNEL_H

#include "nnacl/custom_parameter.h"
#include "nnacl/tensor_c.h"

#ifdef __cplusplus
extern "C" {
#endif

int CustomKernel(TensorC *inputs, int input_num, TensorC *outputs, int output_num, CustomParameter *param);

#ifdef __cplusplus
}
#endif

#endif
