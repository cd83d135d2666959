/* Addition of two tensors of the same shape with arm_elementwise_add_s8. */
#include "cmsis_nn.h"

void mslite_cmsis_nn_run_add(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const mslite_cmsis_nn_elementwise *own = run->derived;
  mslite_cmsis_nn_check(
      run, arm_elementwise_add_s8(run->inputs[0], run->inputs[1], own->a.offset, own->a.multiplier, own->a.shift,
                                  own->b.offset, own->b.multiplier, own->b.shift, own->left_shift, run->outputs[0],
                                  own->output.offset, own->output.multiplier, own->output.shift, own->low, own->high,
                                  own->count) == ARM_CMSIS_NN_SUCCESS);
}
