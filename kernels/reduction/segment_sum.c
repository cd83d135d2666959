/* UnsortedSegmentSum: sums the rows of x with the same segment id; negative ids are ignored. */
#include <string.h>

#include "reduction/add_row.h"

typedef struct {
  int64_t rows;
  int64_t width; /* elements per row */
  int64_t segments;
  int32_t type;
  int32_t size;
  int32_t wide_ids;
} segment_derived;

static int32_t support(const mslite_node *node) {
  const int32_t ids = node->inputs[1]->type;
  return mslite_adds_rows(node->inputs[0]->type) && (ids == MSLITE_INT32 || ids == MSLITE_INT64);
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  segment_derived *numbers = derived;
  numbers->rows = mslite_element_count(node->inputs[1]);
  numbers->width = 1;
  for (int32_t i = node->inputs[1]->rank; i < node->inputs[0]->rank; ++i) numbers->width *= node->inputs[0]->dims[i];
  numbers->segments = node->outputs[0]->dims[0];
  numbers->type = node->inputs[0]->type;
  numbers->size = mslite_type_size(numbers->type);
  numbers->wide_ids = node->inputs[1]->type == MSLITE_INT64;
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

/* Ignores ids outside of the segments, because they would be written outside of the output. */
static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const segment_derived *numbers = run->derived;
  const void *x = run->inputs[0];
  void *y = run->outputs[0];
  memset(y, 0, (size_t)(numbers->segments * numbers->width * numbers->size));
  for (int64_t i = 0; i < numbers->rows; ++i) {
    const int64_t id = numbers->wide_ids ? ((const int64_t *)run->inputs[1])[i] : ((const int32_t *)run->inputs[1])[i];
    if (id < 0 || id >= numbers->segments) continue;
    mslite_add_row(numbers->type, numbers->width, x, i, y, id);
  }
}

const mslite_kernel mslite_kernel_segment_sum = {
    .name = "segment_sum_scalar",
    .op = MSLITE_OP_UnsortedSegmentSum,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(segment_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
};
