/* Bitcast: the bytes of x, read as another type. */
#include <string.h>

#include "kernel.h"

typedef struct {
  int64_t bytes;
} bitcast_derived;

static int32_t support(const mslite_node *node) {
  return mslite_type_size(node->inputs[0]->type) > 0 && mslite_type_size(node->outputs[0]->type) > 0;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0], *y = node->outputs[0];
  bitcast_derived *numbers = derived;
  numbers->bytes = mslite_element_count(x) * mslite_type_size(x->type);
  if (numbers->bytes != mslite_element_count(y) * mslite_type_size(y->type)) return MSLITE_ERROR_SHAPE;
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const bitcast_derived *numbers = run->derived;
  if (run->outputs[0] != run->inputs[0] && numbers->bytes > 0)
    memcpy(run->outputs[0], run->inputs[0], (size_t)numbers->bytes);
}

static int32_t in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

const mslite_kernel mslite_kernel_bitcast = {
    .name = "bitcast_scalar",
    .op = MSLITE_OP_Bitcast,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(bitcast_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
    .in_place = in_place,
};
