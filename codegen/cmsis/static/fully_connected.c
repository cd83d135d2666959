/* Fully connected layers with arm_fully_connected_per_channel_s8.
 *
 * The Helium version expects the sums of the weights, plus the bias, in its workspace. Here they are a constant, input
 * 5, which CMSIS-NN only reads. */
#include "cmsis_nn.h"

void mslite_cmsis_nn_run_fully_connected(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const mslite_cmsis_nn_fully_connected *own = run->derived;
  const cmsis_nn_per_channel_quant_params scales = {(int32_t *)run->inputs[3], (int32_t *)run->inputs[4]};
  const int32_t reserved = own->bias.c * (int32_t)sizeof(int32_t);
  const cmsis_nn_context context = {(void *)run->inputs[5], reserved};
  mslite_cmsis_nn_check(
      run, arm_fully_connected_s8_get_buffer_size(&own->filter) <= reserved &&
               arm_fully_connected_per_channel_s8(&context, &own->params, &scales, &own->input, run->inputs[0],
                                                  &own->filter, run->inputs[1], &own->bias, run->inputs[2],
                                                  &own->output, run->outputs[0]) == ARM_CMSIS_NN_SUCCESS);
}

/* Never called. It compiles only with versions of CMSIS-NN (from 7.0.0) whose sums include the zero point of the
 * weights and the bias. */
arm_cmsis_nn_status mslite_cmsis_nn_expects_sums(int32_t *sums, const int8_t *weights, const int32_t *bias);
arm_cmsis_nn_status mslite_cmsis_nn_expects_sums(int32_t *sums, const int8_t *weights, const int32_t *bias) {
  return arm_vector_sum_s8(sums, 1, 1, weights, 0, 0, bias);
}
