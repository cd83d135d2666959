/* SplitWithOverlap: pieces along one dimension whose sizes have given ratios, each extended beyond its borders. */
#include <string.h>

#include "assembly/overlap.h"
#include "movement.h"

typedef struct {
  int64_t outer, size, inner; /* inner: in bytes */
  int64_t begin[MSLITE_MAX_OPERANDS], end[MSLITE_MAX_OPERANDS];
} overlap_derived;

bool mslite_overlap_piece(const mslite_SplitWithOverlap *attributes, int64_t size, int32_t index, int64_t *begin,
                          int64_t *end) {
  const int64_t count = attributes->number_split;
  if (count != attributes->ratio.count || index >= count) return false;
  int64_t total = 0, before = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (attributes->ratio.at[i] < 1 || attributes->ratio.at[i] > INT32_MAX) return false;
    total += attributes->ratio.at[i];
    if (i < index) before += attributes->ratio.at[i];
  }
  const int64_t after = before + attributes->ratio.at[index];
  /* Borders are rounded up. */
  *begin = (size * before + total - 1) / total;
  *end = (size * after + total - 1) / total;
  if (attributes->extend_top.count > index) *begin -= attributes->extend_top.at[index];
  if (attributes->extend_bottom.count > index) *end += attributes->extend_bottom.at[index];
  *begin = *begin < 0 ? 0 : *begin > size ? size : *begin;
  *end = *end > size ? size : *end < *begin ? *begin : *end;
  return true;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_SplitWithOverlap *attributes = node->params;
  const mslite_tensor *x = node->inputs[0];
  overlap_derived *numbers = derived;
  const int32_t axis = mslite_normalize_axis(attributes->split_dim, x->rank);
  if (axis < 0 || node->output_count > MSLITE_MAX_OPERANDS) return MSLITE_ERROR_ATTRIBUTE;
  numbers->outer = 1;
  numbers->size = x->dims[axis];
  numbers->inner = mslite_type_size(x->type);
  for (int32_t i = 0; i < axis; ++i) numbers->outer *= x->dims[i];
  for (int32_t i = axis + 1; i < x->rank; ++i) numbers->inner *= x->dims[i];
  for (int32_t i = 0; i < node->output_count; ++i) {
    if (!mslite_overlap_piece(attributes, numbers->size, i, &numbers->begin[i], &numbers->end[i]) ||
        node->outputs[i]->dims[axis] != numbers->end[i] - numbers->begin[i]) {
      return MSLITE_ERROR_ATTRIBUTE;
    }
  }
  schedule->phase_count = 1;
  schedule->part_count[0] = node->output_count;
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const overlap_derived *numbers = run->derived;
  const int64_t bytes = (numbers->end[part] - numbers->begin[part]) * numbers->inner;
  for (int64_t i = 0; i < numbers->outer && bytes > 0; ++i) {
    memcpy((char *)run->outputs[part] + i * bytes,
           (const char *)run->inputs[0] + (i * numbers->size + numbers->begin[part]) * numbers->inner, (size_t)bytes);
  }
}

MSLITE_MOVEMENT_KERNEL(split_with_overlap, SplitWithOverlap, overlap_derived, mslite_copies_elements, prepare, run_part,
                       NULL)
