/* Operators whose results are the same elements in the same order, possibly with another shape. */
#include <string.h>

#include "movement.h"

typedef struct {
  int64_t bytes;
} alias_derived;

static mslite_status alias_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  alias_derived *numbers = derived;
  const int64_t count = mslite_element_count(node->outputs[0]);
  if (count != mslite_element_count(node->inputs[0])) return MSLITE_ERROR_SHAPE;
  numbers->bytes = count * mslite_type_size(node->outputs[0]->type);
  schedule->phase_count = 1;
  schedule->part_count[0] = mslite_byte_parts(numbers->bytes);
  return MSLITE_OK;
}

static void alias_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const alias_derived *numbers = run->derived;
  if (run->inputs[0] == run->outputs[0]) return;
  const int64_t begin = (int64_t)part * MSLITE_COPY_PART_BYTES;
  const int64_t left = numbers->bytes - begin;
  memcpy((char *)run->outputs[0] + begin, (const char *)run->inputs[0] + begin,
         (size_t)(left < MSLITE_COPY_PART_BYTES ? left : MSLITE_COPY_PART_BYTES));
}

static int32_t alias_in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

#define ALIAS(name, operator)                                                                             \
  MSLITE_MOVEMENT_KERNEL(name, operator, alias_derived, mslite_copies_elements, alias_prepare, alias_run, \
                         alias_in_place)

ALIAS(reshape, Reshape)
ALIAS(flatten, Flatten)
ALIAS(squeeze, Squeeze)
ALIAS(unsqueeze, Unsqueeze)
ALIAS(expand_dims, ExpandDims)
ALIAS(depend, Depend)

/* The identity outside of training, where the mask is not read. */
static int32_t dropout_support(const mslite_node *node) {
  return node->output_count == 1 && mslite_copies_elements(node);
}

MSLITE_MOVEMENT_KERNEL(dropout, Dropout, alias_derived, dropout_support, alias_prepare, alias_run, alias_in_place)
