/* Average pooling with arm_avgpool_s8. */
#include "cmsis_nn.h"

void mslite_cmsis_nn_run_average(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const mslite_cmsis_nn_pool *own = run->derived;
  const cmsis_nn_context context = {run->scratch, own->reserved};
  mslite_cmsis_nn_check(run, arm_avgpool_s8_get_buffer_size(own->output.w, own->input.c) <= own->reserved &&
                                 arm_avgpool_s8(&context, &own->params, &own->input, run->inputs[0], &own->filter,
                                                &own->output, run->outputs[0]) == ARM_CMSIS_NN_SUCCESS);
}
