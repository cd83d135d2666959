/* Shared by the kernels that copy elements of any type. */
#include "movement.h"

bool mslite_same_quant(const mslite_tensor *a, const mslite_tensor *b) {
  if (a->quant_count == 0 || b->quant_count == 0 || a->type == MSLITE_FLOAT32) return true;
  if (a->quant_count != b->quant_count) return false;
  for (int32_t i = 0; i < a->quant_count; ++i) {
    if (a->quant[i].scale != b->quant[i].scale || a->quant[i].zero_point != b->quant[i].zero_point) return false;
  }
  return true;
}

int32_t mslite_copies_elements(const mslite_node *node) {
  const mslite_tensor *x = node->inputs[0];
  const mslite_tensor *y = node->outputs[0];
  return mslite_type_size(x->type) > 0 && y->type == x->type && mslite_same_quant(x, y);
}

void mslite_run_copy(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  mslite_copy_part(run->derived, run->inputs[0], 0, run->outputs[0], part);
}

mslite_status mslite_schedule_copy(mslite_copy *copy, mslite_schedule *schedule) {
  schedule->phase_count = 1;
  schedule->part_count[0] = mslite_copy_finish(copy);
  return MSLITE_OK;
}
