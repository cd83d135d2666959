/* Products with constant matrices by arm_fully_connected_per_channel_s8.
 *
 * What Helium's version keeps in its working memory, the sums of the weights with the bias, is a constant here:
 * input 5. No version writes to it. */
#include "cmsis_nn.h"

void mslite_cmsis_nn_run_product(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const mslite_cmsis_nn_product *own = run->derived;
  const cmsis_nn_per_channel_quant_params scales = {(int32_t *)run->inputs[3], (int32_t *)run->inputs[4]};
  const int32_t reserved = own->bias.c * (int32_t)sizeof(int32_t);
  const cmsis_nn_context context = {(void *)run->inputs[5], reserved};
  mslite_cmsis_nn_check(
      run, arm_fully_connected_s8_get_buffer_size(&own->filter) <= reserved &&
               arm_fully_connected_per_channel_s8(&context, &own->params, &scales, &own->input, run->inputs[0],
                                                  &own->filter, run->inputs[1], &own->bias, run->inputs[2],
                                                  &own->output, run->outputs[0]) == ARM_CMSIS_NN_SUCCESS);
}

/* The first version whose sums have the zero point of the weights and the bias in them: 7.0.0. Never called; it does
 * not compile with others. */
arm_cmsis_nn_status mslite_cmsis_nn_expects_sums(int32_t *sums, const int8_t *weights, const int32_t *bias);
arm_cmsis_nn_status mslite_cmsis_nn_expects_sums(int32_t *sums, const int8_t *weights, const int32_t *bias) {
  return arm_vector_sum_s8(sums, 1, 1, weights, 0, 0, bias);
}
