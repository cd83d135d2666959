/* Select, and Where with three inputs: condition ? a : b with broadcasting, for elements of any fixed size. */
#include <string.h>

#include "arithmetic/broadcast.h"
#include "movement.h"
#include "quantized.h"

/* One plan per output. Each output is one phase, so that MSLITE_MAX_PHASES limits the number of outputs. */
typedef struct {
  mslite_broadcast_plan plans[MSLITE_MAX_PHASES];
  int32_t outputs;
  int32_t condition_size; /* bytes of a condition element, which is true if any byte is not 0 */
  int32_t sizes[MSLITE_MAX_PHASES];
} select_derived;

static int32_t support(const mslite_node *node) {
  const int32_t outputs = node->output_count;
  if (node->input_count != 2 * outputs + 1 || outputs > MSLITE_MAX_PHASES) return 0;
  const int32_t type = node->inputs[0]->type;
  if (type != MSLITE_BOOL && type != MSLITE_UINT8 && type != MSLITE_INT8 && type != MSLITE_INT32) return 0;
  for (int32_t k = 0; k < outputs; ++k)
    if (node->inputs[1 + k]->type != node->outputs[k]->type ||
        node->inputs[1 + outputs + k]->type != node->outputs[k]->type || mslite_type_size(node->outputs[k]->type) == 0)
      return 0;
  return 1;
}

/* Supports quantized integers if all have the same quantization parameters. */
static int32_t stored_support(const mslite_node *node) {
  const mslite_tensor *y = node->outputs[0];
  if (node->output_count != 1 || node->input_count != 3 || !mslite_is_quantized(y, y->type)) return 0;
  return mslite_same_quant(node->inputs[1], y) && mslite_same_quant(node->inputs[2], y) ? support(node) : 0;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  select_derived *numbers = derived;
  numbers->outputs = node->output_count;
  numbers->condition_size = mslite_type_size(node->inputs[0]->type);
  for (int32_t k = 0; k < node->output_count; ++k) {
    mslite_schedule one = {0};
    const mslite_tensor *const operands[3] = {node->inputs[0], node->inputs[1 + k],
                                              node->inputs[1 + node->output_count + k]};
    mslite_plan_broadcast(node->outputs[k], operands, 3, &numbers->plans[k], &one);
    numbers->sizes[k] = mslite_type_size(node->outputs[k]->type);
    schedule->part_count[k] = one.part_count[0];
  }
  schedule->phase_count = node->output_count;
  return MSLITE_OK;
}

#define SELECT(type)                                                                                         \
  for (int64_t i = 0; i < n; ++i) {                                                                          \
    const bool holds = wide ? ((const int32_t *)c)[i * step_c] != 0 : ((const uint8_t *)c)[i * step_c] != 0; \
    ((type *)y)[i] = holds ? ((const type *)a)[i * step_a] : ((const type *)b)[i * step_b];                  \
  }                                                                                                          \
  break

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  const select_derived *numbers = run->derived;
  const mslite_broadcast_plan *plan = &numbers->plans[phase];
  const int64_t size = numbers->sizes[phase];
  const bool wide = numbers->condition_size == 4;
  const int64_t step_c = plan->strides[0][plan->rank - 1], step_a = plan->strides[1][plan->rank - 1],
                step_b = plan->strides[2][plan->rank - 1];
  mslite_broadcast_cursor at;
  mslite_broadcast_begin(plan, part, &at);
  for (int64_t n; (n = mslite_broadcast_row(plan, &at)) > 0; mslite_broadcast_next(plan, n, &at)) {
    const char *c = (const char *)run->inputs[0] + at.offset[0] * numbers->condition_size;
    const char *a = (const char *)run->inputs[1 + phase] + at.offset[1] * size;
    const char *b = (const char *)run->inputs[1 + numbers->outputs + phase] + at.offset[2] * size;
    char *y = (char *)run->outputs[phase] + at.at * size;
    switch (size) {
      case 1:
        SELECT(uint8_t);
      case 2:
        SELECT(uint16_t);
      case 4:
        SELECT(uint32_t);
      case 8:
        SELECT(uint64_t);
      default:
        for (int64_t i = 0; i < n; ++i) {
          const bool holds = wide ? ((const int32_t *)(const void *)c)[i * step_c] != 0 : c[i * step_c] != 0;
          memcpy(y + i * size, holds ? a + i * step_a * size : b + i * step_b * size, (size_t)size);
        }
        break;
    }
  }
}

#define SELECT_KERNEL(function, operator, support_, quantized_) \
  const mslite_kernel mslite_kernel_##function = {              \
      .name = #function "_scalar",                              \
      .op = MSLITE_OP_##operator,                               \
      .isa = MSLITE_ISA_SCALAR,                                 \
      .derived_size = sizeof(select_derived),                   \
      .support = support_,                                      \
      .prepare = prepare,                                       \
      .run = run_part,                                          \
      .quantized = quantized_,                                  \
  };

SELECT_KERNEL(select, Select, support, 0)
SELECT_KERNEL(where_select, Where, support, 0)
SELECT_KERNEL(where_int8, Where, stored_support, 1)
