/* Assert: stops the run if an element of the condition is false. */
#include "movement.h"

typedef struct {
  int64_t count;
} assert_derived;

static int32_t support(const mslite_node *node) { return node->inputs[0]->type == MSLITE_BOOL; }

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  ((assert_derived *)derived)->count = mslite_element_count(node->inputs[0]);
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const uint8_t *condition = run->inputs[0];
  const int64_t count = ((const assert_derived *)run->derived)->count;
  *(uint8_t *)run->outputs[0] = 1;
  for (int64_t i = 0; i < count; ++i) {
    if (condition[i] == 0) mslite_report_value(run, 0, i, 0, 1, 2);
  }
}

MSLITE_MOVEMENT_KERNEL(assert_true, Assert, assert_derived, support, prepare, run_part, NULL)
