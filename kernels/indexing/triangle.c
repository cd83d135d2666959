/* Tril and Triu: keep the elements on one side of diagonal `k` (a scalar input, 0 if absent), zeros elsewhere. */
#include <string.h>

#include "movement.h"

typedef struct {
  int64_t rows, columns, total_rows, rows_per_part;
  int32_t size, upper, k_type;
} triangle_derived;

static int32_t triangle_support(const mslite_node *node) {
  if (!mslite_copies_elements(node)) return 0;
  return node->input_count < 2 || node->inputs[1]->type == MSLITE_INT32 || node->inputs[1]->type == MSLITE_INT64;
}

static mslite_status triangle_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0];
  triangle_derived *numbers = derived;
  if (x->rank < 2) return MSLITE_ERROR_SHAPE;
  numbers->upper = node->op == MSLITE_OP_Triu;
  numbers->size = mslite_type_size(x->type);
  numbers->rows = x->dims[x->rank - 2];
  numbers->columns = x->dims[x->rank - 1];
  numbers->k_type = node->input_count > 1 ? node->inputs[1]->type : 0;
  numbers->total_rows = numbers->columns > 0 ? mslite_element_count(x) / numbers->columns : 0;
  const int64_t row_bytes = numbers->columns * numbers->size;
  numbers->rows_per_part =
      row_bytes == 0 || row_bytes > MSLITE_COPY_PART_BYTES ? 1 : MSLITE_COPY_PART_BYTES / row_bytes;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->total_rows + numbers->rows_per_part - 1) / numbers->rows_per_part);
  return MSLITE_OK;
}

static int64_t bound(int64_t value, int64_t limit) { return value < 0 ? 0 : value > limit ? limit : value; }

static void triangle_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const triangle_derived *numbers = run->derived;
  const int64_t given = numbers->k_type == 0 ? 0 : mslite_integer_at(run->inputs[1], numbers->k_type, 0);
  const int64_t k = given < -numbers->rows
                        ? -numbers->rows
                        : bound(given + numbers->rows, numbers->rows + numbers->columns) - numbers->rows;
  const int64_t row_bytes = numbers->columns * numbers->size;
  int64_t row = part * numbers->rows_per_part;
  const int64_t end =
      numbers->total_rows - row < numbers->rows_per_part ? numbers->total_rows : row + numbers->rows_per_part;
  for (; row < end; ++row) {
    /* Tril keeps columns up to row + k, Triu those from row + k on. */
    const int64_t diagonal = row % numbers->rows + k;
    const int64_t begin = numbers->upper ? bound(diagonal, numbers->columns) * numbers->size : 0;
    const int64_t stop = numbers->upper ? row_bytes : bound(diagonal + 1, numbers->columns) * numbers->size;
    const char *from = (const char *)run->inputs[0] + row * row_bytes;
    char *to = (char *)run->outputs[0] + row * row_bytes;
    memset(to, 0, (size_t)begin);
    if (to != from) memcpy(to + begin, from + begin, (size_t)(stop - begin));
    memset(to + stop, 0, (size_t)(row_bytes - stop));
  }
}

static int32_t triangle_in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

MSLITE_MOVEMENT_KERNEL(tril, Tril, triangle_derived, triangle_support, triangle_prepare, triangle_run,
                       triangle_in_place)
MSLITE_MOVEMENT_KERNEL(triu, Triu, triangle_derived, triangle_support, triangle_prepare, triangle_run,
                       triangle_in_place)
