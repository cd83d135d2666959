/* Softmax with arm_softmax_s8. */
#include "cmsis_nn.h"

void mslite_cmsis_nn_run_softmax(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const mslite_cmsis_nn_softmax *own = run->derived;
  arm_softmax_s8(run->inputs[0], own->rows, own->size, own->multiplier, own->shift, own->least, run->outputs[0]);
}
