/* HashtableLookup: the rows of `values` whose key equals the id; keys are sorted. Zeros and hit 0 if there is none. */
#include <string.h>

#include "kernel.h"

typedef struct {
  int64_t count, keys, row_bytes;
} lookup_derived;

static int32_t support(const mslite_node *node) {
  return node->input_count == 3 && node->output_count == 2 && node->inputs[0]->type == MSLITE_INT32 &&
         node->inputs[1]->type == MSLITE_INT32 && mslite_type_size(node->inputs[2]->type) > 0 &&
         node->inputs[2]->type != MSLITE_STRING;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *values = node->inputs[2];
  lookup_derived *numbers = derived;
  numbers->count = mslite_element_count(node->inputs[0]);
  numbers->keys = mslite_element_count(node->inputs[1]);
  if (values->rank < 1 || values->dims[0] != numbers->keys) return MSLITE_ERROR_SHAPE;
  numbers->row_bytes = mslite_type_size(values->type);
  for (int32_t i = 1; i < values->rank; ++i) numbers->row_bytes *= values->dims[i];
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const lookup_derived *numbers = run->derived;
  const int32_t *ids = run->inputs[0], *keys = run->inputs[1];
  uint8_t *hits = run->outputs[1];
  const size_t bytes = (size_t)numbers->row_bytes;
  for (int64_t i = 0; i < numbers->count; ++i) {
    int64_t low = 0, high = numbers->keys;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (keys[middle] < ids[i])
        low = middle + 1;
      else
        high = middle;
    }
    char *row = (char *)run->outputs[0] + i * numbers->row_bytes;
    hits[i] = low < numbers->keys && keys[low] == ids[i];
    if (hits[i])
      memcpy(row, (const char *)run->inputs[2] + low * numbers->row_bytes, bytes);
    else
      memset(row, 0, bytes);
  }
}

const mslite_kernel mslite_kernel_hashtable_lookup = {
    .name = "hashtable_lookup_scalar",
    .op = MSLITE_OP_HashtableLookup,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(lookup_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
};
