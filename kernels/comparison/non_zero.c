/* NonZero, and Where with one input: the indices of the nonzero elements, int32 [count, rank]. */
#include "kernel.h"

typedef struct {
  int64_t count;
  int64_t dims[MSLITE_MAX_RANK];
  int32_t rank;
  int32_t type;
  int32_t size;
} non_zero_derived;

static int32_t support(const mslite_node *node) {
  return node->input_count == 1 && mslite_type_size(node->inputs[0]->type) > 0 && node->inputs[0]->rank >= 0;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  non_zero_derived *numbers = derived;
  const mslite_tensor *x = node->inputs[0];
  numbers->count = mslite_element_count(x);
  numbers->rank = x->rank;
  for (int32_t i = 0; i < x->rank; ++i) numbers->dims[i] = x->dims[i];
  numbers->type = x->type;
  numbers->size = mslite_type_size(x->type);
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

static bool is_set(const non_zero_derived *numbers, const void *x, int64_t at) {
  switch (numbers->type) {
    case MSLITE_FLOAT32:
      return ((const float *)x)[at] != 0.0F;
    case MSLITE_FLOAT64:
      return ((const double *)x)[at] != 0.0;
    case MSLITE_FLOAT16:
    case MSLITE_BFLOAT16:
      return (((const uint16_t *)x)[at] & 0x7fffU) != 0;
    default:
      for (int32_t byte = 0; byte < numbers->size; ++byte)
        if (((const uint8_t *)x)[at * numbers->size + byte] != 0) return true;
      return false;
  }
}

static mslite_status count_set(const mslite_run *run, int64_t dims[][MSLITE_MAX_RANK]) {
  const non_zero_derived *numbers = run->derived;
  int64_t found = 0;
  for (int64_t i = 0; i < numbers->count; ++i) found += is_set(numbers, run->inputs[0], i);
  dims[0][0] = found;
  dims[0][1] = numbers->rank;
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const non_zero_derived *numbers = run->derived;
  int32_t *y = run->outputs[0];
  int64_t index[MSLITE_MAX_RANK] = {0};
  for (int64_t i = 0; i < numbers->count; ++i) {
    if (is_set(numbers, run->inputs[0], i))
      for (int32_t axis = 0; axis < numbers->rank; ++axis) *y++ = (int32_t)index[axis];
    for (int32_t axis = numbers->rank - 1; axis >= 0 && ++index[axis] == numbers->dims[axis]; --axis) index[axis] = 0;
  }
}

#define NON_ZERO(function, operator)               \
  const mslite_kernel mslite_kernel_##function = { \
      .name = #function "_scalar",                 \
      .op = MSLITE_OP_##operator,                  \
      .isa = MSLITE_ISA_SCALAR,                    \
      .derived_size = sizeof(non_zero_derived),    \
      .support = support,                          \
      .prepare = prepare,                          \
      .run = run_part,                             \
      .count = count_set,                          \
  };

NON_ZERO(non_zero, NonZero)
NON_ZERO(where_indices, Where)
