/* AddN: the sum of any number of tensors of the same shape, added in order. */
#include "kernel.h"

enum { PART_ELEMENTS = 16384 };

typedef struct {
  int64_t count;
  int32_t operands;
  int32_t type;
} add_n_derived;

static int32_t support(const mslite_node *node) {
  const int64_t count = mslite_element_count(node->outputs[0]);
  for (int32_t k = 0; k < node->input_count; ++k)
    if (node->inputs[k]->type != node->outputs[0]->type || mslite_element_count(node->inputs[k]) != count) return 0;
  switch (node->outputs[0]->type) {
    case MSLITE_FLOAT32:
    case MSLITE_FLOAT64:
    case MSLITE_INT32:
    case MSLITE_INT64:
      return node->input_count >= 1;
    default:
      return 0;
  }
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  add_n_derived *numbers = derived;
  numbers->count = mslite_element_count(node->outputs[0]);
  numbers->operands = node->input_count;
  numbers->type = node->outputs[0]->type;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  return MSLITE_OK;
}

/* Integers are added as unsigned values, so that they wrap around. */
#define ADD(type)                                               \
  {                                                             \
    type *y = run->outputs[0];                                  \
    const type *first = run->inputs[0];                         \
    for (int64_t i = begin; i < end; ++i) y[i] = first[i];      \
    for (int32_t k = 1; k < numbers->operands; ++k) {           \
      const type *x = run->inputs[k];                           \
      for (int64_t i = begin; i < end; ++i) y[i] = y[i] + x[i]; \
    }                                                           \
  }                                                             \
  break

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const add_n_derived *numbers = run->derived;
  const int64_t begin = (int64_t)part * PART_ELEMENTS;
  const int64_t end = numbers->count - begin < PART_ELEMENTS ? numbers->count : begin + PART_ELEMENTS;
  switch (numbers->type) {
    case MSLITE_FLOAT32:
      ADD(float);
    case MSLITE_FLOAT64:
      ADD(double);
    case MSLITE_INT32:
      ADD(uint32_t);
    default:
      ADD(uint64_t);
  }
}

const mslite_kernel mslite_kernel_add_n = {
    .name = "add_n_scalar",
    .op = MSLITE_OP_AddN,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(add_n_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
};
