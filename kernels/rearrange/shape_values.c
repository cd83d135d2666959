/* Shape, Rank and Size: integers that are known before a run. */
#include "movement.h"

typedef struct {
  int32_t type;
  int32_t count;
  int64_t values[MSLITE_MAX_RANK];
} values_derived;

static int32_t values_support(const mslite_node *node) {
  const int32_t type = node->outputs[0]->type;
  return type == MSLITE_INT32 || type == MSLITE_INT64;
}

static void values_prepare(const mslite_node *node, values_derived *numbers, mslite_schedule *schedule) {
  numbers->type = node->outputs[0]->type;
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
}

static mslite_status shape_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  values_derived *numbers = derived;
  values_prepare(node, numbers, schedule);
  numbers->count = node->inputs[0]->rank;
  for (int32_t i = 0; i < numbers->count; ++i) numbers->values[i] = node->inputs[0]->dims[i];
  return MSLITE_OK;
}

static mslite_status rank_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  values_derived *numbers = derived;
  values_prepare(node, numbers, schedule);
  numbers->count = 1;
  numbers->values[0] = node->inputs[0]->rank;
  return MSLITE_OK;
}

static mslite_status size_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  values_derived *numbers = derived;
  values_prepare(node, numbers, schedule);
  numbers->count = 1;
  numbers->values[0] = mslite_element_count(node->inputs[0]);
  return MSLITE_OK;
}

static void values_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const values_derived *numbers = run->derived;
  for (int32_t i = 0; i < numbers->count; ++i) {
    if (numbers->type == MSLITE_INT64) {
      ((int64_t *)run->outputs[0])[i] = numbers->values[i];
    } else {
      ((int32_t *)run->outputs[0])[i] = (int32_t)numbers->values[i];
    }
  }
}

MSLITE_MOVEMENT_KERNEL(shape, Shape, values_derived, values_support, shape_prepare, values_run, NULL)
MSLITE_MOVEMENT_KERNEL(rank, Rank, values_derived, values_support, rank_prepare, values_run, NULL)
MSLITE_MOVEMENT_KERNEL(size, Size, values_derived, values_support, size_prepare, values_run, NULL)
