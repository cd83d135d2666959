/* Convolution with arm_convolve_wrapper_s8. */
#include "cmsis_nn.h"

void mslite_cmsis_nn_run_convolution(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const mslite_cmsis_nn_convolution *own = run->derived;
  const cmsis_nn_per_channel_quant_params scales = {(int32_t *)run->inputs[3], (int32_t *)run->inputs[4]};
  const cmsis_nn_context context = {run->scratch, own->reserved};
  const int32_t needed = arm_convolve_wrapper_s8_get_buffer_size(&own->params, &own->input, &own->filter, &own->output);
  mslite_cmsis_nn_check(run, needed <= own->reserved &&
                                 arm_convolve_wrapper_s8(&context, &own->params, &scales, &own->input, run->inputs[0],
                                                         &own->filter, run->inputs[1], &own->bias, run->inputs[2],
                                                         &own->output, run->outputs[0]) == ARM_CMSIS_NN_SUCCESS);
}
