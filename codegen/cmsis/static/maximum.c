/* Max pooling with arm_max_pool_s8. */
#include "cmsis_nn.h"

void mslite_cmsis_nn_run_maximum(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const mslite_cmsis_nn_pool *own = run->derived;
  const cmsis_nn_context context = {run->scratch, own->reserved};
  mslite_cmsis_nn_check(run, arm_max_pool_s8(&context, &own->params, &own->input, run->inputs[0], &own->filter,
                                             &own->output, run->outputs[0]) == ARM_CMSIS_NN_SUCCESS);
}
