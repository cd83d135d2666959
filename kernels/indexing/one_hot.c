/* OneHot: vectors of `off` with one `on`. An index outside of [0, depth) gives only `off`. */
#include <string.h>

#include "movement.h"

typedef struct {
  int64_t outer, depth, inner;
  int32_t size, index_type;
  int32_t pair; /* input 2 contains off and on */
} one_hot_derived;

static int32_t one_hot_support(const mslite_node *node) {
  if (node->input_count < 3 || mslite_type_size(node->outputs[0]->type) == 0) return 0;
  const int32_t type = node->inputs[0]->type;
  const int32_t last = node->inputs[node->input_count - 1]->type;
  return (type == MSLITE_INT32 || type == MSLITE_INT64 || type == MSLITE_UINT8 || type == MSLITE_FLOAT32) &&
         node->inputs[2]->type == node->outputs[0]->type && last == node->outputs[0]->type;
}

static mslite_status one_hot_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  one_hot_derived *numbers = derived;
  const mslite_tensor *y = node->outputs[0];
  const int32_t axis = mslite_normalize_axis(((const mslite_OneHot *)node->params)->axis, y->rank);
  if (axis < 0) return MSLITE_ERROR_ATTRIBUTE;
  numbers->pair = node->input_count < 4;
  if (numbers->pair && mslite_element_count(node->inputs[2]) != 2) return MSLITE_ERROR_SHAPE;
  numbers->outer = numbers->inner = 1;
  for (int32_t i = 0; i < axis; ++i) numbers->outer *= y->dims[i];
  for (int32_t i = axis + 1; i < y->rank; ++i) numbers->inner *= y->dims[i];
  numbers->depth = y->dims[axis];
  numbers->size = mslite_type_size(y->type);
  numbers->index_type = node->inputs[0]->type;
  if (numbers->outer > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)numbers->outer;
  return MSLITE_OK;
}

static void one_hot_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const one_hot_derived *numbers = run->derived;
  const size_t size = (size_t)numbers->size;
  const char *on = (const char *)run->inputs[2] + (numbers->pair ? size : 0);
  const char *off = numbers->pair ? run->inputs[2] : run->inputs[3];
  char *y = (char *)run->outputs[0] + part * numbers->depth * numbers->inner * numbers->size;
  for (int64_t i = 0; i < numbers->depth * numbers->inner; ++i) memcpy(y + i * numbers->size, off, size);
  for (int64_t i = 0; i < numbers->inner; ++i) {
    const int64_t at = part * numbers->inner + i;
    int64_t index;
    if (numbers->index_type == MSLITE_FLOAT32) {
      const float value = ((const float *)run->inputs[0])[at];
      index = value >= 0 && value < 9e18f ? (int64_t)value : -1;
    } else {
      index = mslite_integer_at(run->inputs[0], numbers->index_type, at);
    }
    if (index >= 0 && index < numbers->depth) memcpy(y + (index * numbers->inner + i) * numbers->size, on, size);
  }
}

MSLITE_MOVEMENT_KERNEL(one_hot, OneHot, one_hot_derived, one_hot_support, one_hot_prepare, one_hot_run, NULL)
