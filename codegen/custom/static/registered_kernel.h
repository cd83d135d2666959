/* Computes the custom operators of the model. You have to write this function and build it with this project: make
 * CUSTOM_KERNEL=custom_kernel.c, or cmake -DCUSTOM_KERNEL=custom_kernel.c.
 *
 * `param->type` is the operator. Write the results to outputs[i].data_, which is allocated already. Return 0 for
 * success; any other value ends the run with an error. The function can be called from any thread, but not for two
 * nodes of a run at the same time. */
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
