/* Activation on integers: the functions that only compare (ReLU, its clipped variants, ABS). */
#include "kernel.h"

enum { PART_ELEMENTS = 16384 };

typedef struct {
  int64_t count;
  int64_t low;
  int64_t high;
  int32_t type;
  int32_t absolute;
} limit_derived;

static int32_t support(const mslite_node *node) {
  const int32_t type = node->inputs[0]->type;
  if (type != MSLITE_INT32 && type != MSLITE_INT64 && type != MSLITE_INT8) return 0;
  if (node->quant_type == MSLITE_QUANT_TYPE_QUANT_ALL) return 0;
  switch (((const mslite_Activation *)node->params)->activation_type) {
    case MSLITE_ACTIVATION_TYPE_NO_ACTIVATION:
    case MSLITE_ACTIVATION_TYPE_RELU:
    case MSLITE_ACTIVATION_TYPE_RELU6:
    case MSLITE_ACTIVATION_TYPE_RELU1:
    case MSLITE_ACTIVATION_TYPE_ABS:
      return node->inputs[0]->quant_count == 0;
    default:
      return 0;
  }
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const int32_t function = ((const mslite_Activation *)node->params)->activation_type;
  limit_derived *numbers = derived;
  numbers->count = mslite_element_count(node->outputs[0]);
  numbers->type = node->inputs[0]->type;
  numbers->absolute = function == MSLITE_ACTIVATION_TYPE_ABS;
  numbers->low = INT64_MIN;
  numbers->high = INT64_MAX;
  if (function == MSLITE_ACTIVATION_TYPE_RELU || function == MSLITE_ACTIVATION_TYPE_RELU6) numbers->low = 0;
  if (function == MSLITE_ACTIVATION_TYPE_RELU6) numbers->high = 6;
  if (function == MSLITE_ACTIVATION_TYPE_RELU1) {
    numbers->low = -1;
    numbers->high = 1;
  }
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  return MSLITE_OK;
}

static int64_t limit(const limit_derived *numbers, int64_t v) {
  if (numbers->absolute && v < 0) return v == INT64_MIN ? v : -v;
  if (v < numbers->low) return numbers->low;
  return v > numbers->high ? numbers->high : v;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const limit_derived *numbers = run->derived;
  const int64_t begin = (int64_t)part * PART_ELEMENTS;
  const int64_t end = numbers->count - begin < PART_ELEMENTS ? numbers->count : begin + PART_ELEMENTS;
#define LIMIT(type)                     \
  for (int64_t i = begin; i < end; ++i) \
  ((type *)run->outputs[0])[i] = (type)limit(numbers, ((const type *)run->inputs[0])[i])
  if (numbers->type == MSLITE_INT8)
    LIMIT(int8_t);
  else if (numbers->type == MSLITE_INT32)
    LIMIT(int32_t);
  else
    LIMIT(int64_t);
#undef LIMIT
}

static int32_t in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

const mslite_kernel mslite_kernel_activation_integers = {
    .name = "activation_integers_scalar",
    .op = MSLITE_OP_Activation,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(limit_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
    .in_place = in_place,
};
