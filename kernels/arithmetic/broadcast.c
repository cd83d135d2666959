/* Broadcasting: merges dimensions and iterates over rows. */
#include "arithmetic/broadcast.h"

#include <string.h>

static void natural_strides(const mslite_tensor *operand, const mslite_tensor *output, int64_t *strides) {
  int64_t stride = 1;
  for (int32_t i = output->rank - 1; i >= 0; --i) {
    const int32_t at = i - (output->rank - operand->rank);
    const int64_t size = at < 0 ? 1 : operand->dims[at];
    strides[i] = size == 1 ? 0 : stride;
    stride *= size;
  }
}

void mslite_plan_broadcast(const mslite_tensor *output, const mslite_tensor *const *operands, int32_t operand_count,
                           mslite_broadcast_plan *plan, mslite_schedule *schedule) {
  int64_t strides[MSLITE_BROADCAST_OPERANDS][MSLITE_MAX_RANK];
  memset(plan, 0, sizeof *plan);
  plan->count = mslite_element_count(output);
  plan->operand_count = operand_count;
  for (int32_t k = 0; k < operand_count; ++k) natural_strides(operands[k], output, strides[k]);
  for (int32_t i = 0; i < output->rank; ++i) {
    if (output->dims[i] == 1) continue;
    bool joins = plan->rank > 0;
    for (int32_t k = 0; k < operand_count && joins; ++k)
      joins = plan->strides[k][plan->rank - 1] == strides[k][i] * output->dims[i];
    const int32_t to = joins ? plan->rank - 1 : plan->rank++;
    plan->dims[to] = joins ? plan->dims[to] * output->dims[i] : output->dims[i];
    for (int32_t k = 0; k < operand_count; ++k) plan->strides[k][to] = strides[k][i];
  }
  if (plan->rank == 0) {
    plan->rank = 1;
    plan->dims[0] = plan->count;
    for (int32_t k = 0; k < operand_count; ++k) plan->strides[k][0] = 1;
  }
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((plan->count + MSLITE_BROADCAST_PART - 1) / MSLITE_BROADCAST_PART);
}

void mslite_broadcast_begin(const mslite_broadcast_plan *plan, int32_t part, mslite_broadcast_cursor *cursor) {
  memset(cursor, 0, sizeof *cursor);
  cursor->at = (int64_t)part * MSLITE_BROADCAST_PART;
  cursor->end = plan->count - cursor->at < MSLITE_BROADCAST_PART ? plan->count : cursor->at + MSLITE_BROADCAST_PART;
  int64_t rest = cursor->at;
  for (int32_t i = plan->rank - 1; i >= 0 && plan->count > 0; --i) {
    cursor->index[i] = rest % plan->dims[i];
    rest /= plan->dims[i];
    for (int32_t k = 0; k < plan->operand_count; ++k) cursor->offset[k] += cursor->index[i] * plan->strides[k][i];
  }
}

int64_t mslite_broadcast_row(const mslite_broadcast_plan *plan, const mslite_broadcast_cursor *cursor) {
  const int64_t of_row = plan->dims[plan->rank - 1] - cursor->index[plan->rank - 1];
  const int64_t of_part = cursor->end - cursor->at;
  return of_row < of_part ? of_row : of_part;
}

void mslite_broadcast_next(const mslite_broadcast_plan *plan, int64_t length, mslite_broadcast_cursor *cursor) {
  int32_t i = plan->rank - 1;
  cursor->at += length;
  cursor->index[i] += length;
  for (int32_t k = 0; k < plan->operand_count; ++k) cursor->offset[k] += length * plan->strides[k][i];
  while (i > 0 && cursor->index[i] == plan->dims[i]) {
    for (int32_t k = 0; k < plan->operand_count; ++k)
      cursor->offset[k] += plan->strides[k][i - 1] - plan->dims[i] * plan->strides[k][i];
    cursor->index[i] = 0;
    ++cursor->index[--i];
  }
}

int32_t mslite_broadcast_in_place(const mslite_node *node) {
  const mslite_tensor *output = node->outputs[0];
  for (int32_t k = 0; k < node->input_count && k < 2; ++k)
    if (node->inputs[k]->type == output->type && mslite_element_count(node->inputs[k]) == mslite_element_count(output))
      return k;
  return -1;
}
