/* Splice: row r of the result is the concatenation of the rows r + context[0], r + context[1], ... of x, clamped to
 * the first and the last row; or of the rows in `forward_indexes`, one per entry of the context. */
#include <string.h>

#include "movement.h"

enum { MAX_ENTRIES = 4096 };

typedef struct {
  int64_t rows, results, row_bytes;
  int32_t offsets, listed;
  int32_t entry[MAX_ENTRIES]; /* the context, or the listed rows */
} splice_derived;

static int32_t support(const mslite_node *node) {
  const mslite_Splice *attributes = node->params;
  return mslite_copies_elements(node) && attributes->forward_indexes.count <= MAX_ENTRIES &&
         attributes->context.count <= MAX_ENTRIES;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_Splice *attributes = node->params;
  const mslite_tensor *x = node->inputs[0];
  splice_derived *numbers = derived;
  if (x->rank < 2 || attributes->context.count < 1) return MSLITE_ERROR_SHAPE;
  numbers->rows = x->dims[x->rank - 2];
  numbers->results = node->outputs[0]->dims[x->rank - 2];
  numbers->row_bytes = x->dims[x->rank - 1] * mslite_type_size(x->type);
  numbers->offsets = attributes->context.count;
  numbers->listed = attributes->forward_indexes.count > 0;
  const mslite_longs *entries = numbers->listed ? &attributes->forward_indexes : &attributes->context;
  for (int32_t i = 0; i < entries->count; ++i) {
    const int64_t entry = entries->at[i];
    if (numbers->listed ? entry < 0 || entry >= numbers->rows : entry < -INT32_MAX || entry > INT32_MAX)
      return MSLITE_ERROR_ATTRIBUTE;
    numbers->entry[i] = (int32_t)entry;
  }
  if (numbers->listed && entries->count != numbers->results * numbers->offsets) return MSLITE_ERROR_ATTRIBUTE;
  int64_t batches = numbers->rows == 0 ? 0 : 1;
  for (int32_t i = 0; i < x->rank - 2; ++i) batches *= x->dims[i];
  if (batches > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)batches;
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const splice_derived *numbers = run->derived;
  const int64_t bytes = numbers->row_bytes;
  const char *x = (const char *)run->inputs[0] + part * numbers->rows * bytes;
  char *y = (char *)run->outputs[0] + part * numbers->results * numbers->offsets * bytes;
  for (int64_t row = 0; row < numbers->results && bytes > 0; ++row) {
    for (int32_t k = 0; k < numbers->offsets; ++k, y += bytes) {
      int64_t from = numbers->listed ? numbers->entry[row * numbers->offsets + k] : row + numbers->entry[k];
      from = from < 0 ? 0 : from >= numbers->rows ? numbers->rows - 1 : from;
      memcpy(y, x + from * bytes, (size_t)bytes);
    }
  }
}

MSLITE_MOVEMENT_KERNEL(splice, Splice, splice_derived, support, prepare, run_part, NULL)
