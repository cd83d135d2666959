/* GatherNd, BatchGatherNd (slices at index tuples) and GatherD (single elements). */
#include <string.h>

#include "known_values.h"
#include "movement.h"

static int32_t index_type_ok(int32_t type) { return type == MSLITE_INT32 || type == MSLITE_INT64; }

/* params [batch, dims[depth], row], indices [batch, count, depth] */
typedef struct {
  int64_t rows, rows_per_part, row_bytes;
  int64_t count;       /* tuples per batch */
  int64_t batch_bytes; /* of params */
  int32_t depth;
  int32_t index_type;
  int64_t dims[MSLITE_MAX_RANK];
} tuple_derived;

static mslite_status prepare_tuples(const mslite_node *node, int64_t batch_dims, tuple_derived *numbers,
                                    mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0];
  const mslite_tensor *indices = node->inputs[1];
  if (batch_dims < 0 || batch_dims >= indices->rank || batch_dims > x->rank) return MSLITE_ERROR_ATTRIBUTE;
  const int64_t depth = indices->dims[indices->rank - 1];
  if (depth > x->rank - batch_dims) return MSLITE_ERROR_SHAPE;
  numbers->depth = (int32_t)depth;
  numbers->index_type = indices->type;
  numbers->row_bytes = mslite_type_size(x->type);
  numbers->rows = numbers->count = 1;
  for (int32_t i = 0; i < indices->rank - 1; ++i) {
    if (i < batch_dims && indices->dims[i] != x->dims[i]) return MSLITE_ERROR_SHAPE;
    numbers->rows *= indices->dims[i];
    if (i >= batch_dims) numbers->count *= indices->dims[i];
  }
  for (int32_t i = 0; i < depth; ++i) numbers->dims[i] = x->dims[batch_dims + i];
  for (int32_t i = (int32_t)(batch_dims + depth); i < x->rank; ++i) numbers->row_bytes *= x->dims[i];
  numbers->batch_bytes = numbers->row_bytes;
  for (int32_t i = 0; i < depth; ++i) numbers->batch_bytes *= numbers->dims[i];
  if (numbers->row_bytes == 0) numbers->rows = 0;
  numbers->rows_per_part = numbers->row_bytes == 0 || numbers->row_bytes > MSLITE_COPY_PART_BYTES
                               ? 1
                               : MSLITE_COPY_PART_BYTES / numbers->row_bytes;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->rows + numbers->rows_per_part - 1) / numbers->rows_per_part);
  return MSLITE_OK;
}

static int32_t tuple_support(const mslite_node *node) {
  return mslite_copies_elements(node) && node->input_count > 1 && index_type_ok(node->inputs[1]->type) &&
         node->inputs[1]->rank > 0;
}

static mslite_status gather_nd_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  return prepare_tuples(node, 0, derived, schedule);
}

static mslite_status batch_gather_nd_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  return prepare_tuples(node, ((const mslite_BatchGatherNd *)node->params)->batch_dims, derived, schedule);
}

static void tuple_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const tuple_derived *numbers = run->derived;
  const size_t bytes = (size_t)numbers->row_bytes;
  int64_t row = part * numbers->rows_per_part;
  const int64_t end = numbers->rows - row < numbers->rows_per_part ? numbers->rows : row + numbers->rows_per_part;
  for (; row < end; ++row) {
    int64_t at = 0;
    bool inside = true;
    for (int32_t i = 0; i < numbers->depth; ++i) {
      const int64_t place = row * numbers->depth + i;
      const int64_t given = mslite_integer_at(run->inputs[1], numbers->index_type, place);
      const int64_t index = given < 0 ? given + numbers->dims[i] : given;
      if (index >= 0 && index < numbers->dims[i]) {
        at = at * numbers->dims[i] + index;
      } else {
        inside = false;
        mslite_report_value(run, 1, place, given, -numbers->dims[i], numbers->dims[i]);
      }
    }
    char *to = (char *)run->outputs[0] + row * numbers->row_bytes;
    if (inside) {
      const int64_t batch = row / numbers->count;
      memcpy(to, (const char *)run->inputs[0] + batch * numbers->batch_bytes + at * numbers->row_bytes, bytes);
    } else {
      memset(to, 0, bytes);
    }
  }
}

typedef struct {
  int32_t rank, axis, size, index_type;
  int64_t count;
  int64_t dims[MSLITE_MAX_RANK];    /* of the output */
  int64_t strides[MSLITE_MAX_RANK]; /* of x */
  int64_t limit;
} element_derived;

enum { ELEMENTS_PER_PART = 8192 };

static int32_t gather_d_support(const mslite_node *node) {
  int64_t dim;
  int32_t count;
  return mslite_copies_elements(node) && node->input_count > 2 && index_type_ok(node->inputs[2]->type) &&
         mslite_read_known_entries(node->inputs[1], &dim, 1, &count) && mslite_type_size(node->inputs[0]->type) <= 8;
}

static mslite_status gather_d_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0];
  const mslite_tensor *y = node->outputs[0];
  element_derived *numbers = derived;
  int64_t dim;
  int32_t count;
  if (!mslite_read_known_entries(node->inputs[1], &dim, 1, &count) || count != 1) return MSLITE_ERROR_UNSUPPORTED;
  numbers->axis = mslite_normalize_axis(dim, x->rank);
  if (numbers->axis < 0 || y->rank != x->rank) return MSLITE_ERROR_SHAPE;
  numbers->rank = x->rank;
  numbers->size = mslite_type_size(x->type);
  numbers->index_type = node->inputs[2]->type;
  numbers->count = mslite_element_count(y);
  numbers->limit = x->dims[numbers->axis];
  mslite_row_major(x->dims, x->rank, numbers->strides);
  for (int32_t i = 0; i < x->rank; ++i) {
    numbers->dims[i] = y->dims[i];
    if (i != numbers->axis && y->dims[i] > x->dims[i]) return MSLITE_ERROR_SHAPE;
  }
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + ELEMENTS_PER_PART - 1) / ELEMENTS_PER_PART);
  return MSLITE_OK;
}

static void gather_d_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const element_derived *numbers = run->derived;
  const size_t size = (size_t)numbers->size;
  int64_t at = (int64_t)part * ELEMENTS_PER_PART;
  const int64_t end = numbers->count - at < ELEMENTS_PER_PART ? numbers->count : at + ELEMENTS_PER_PART;
  for (; at < end; ++at) {
    const int64_t given = mslite_integer_at(run->inputs[2], numbers->index_type, at);
    const int64_t index = given < 0 ? given + numbers->limit : given;
    char *to = (char *)run->outputs[0] + at * numbers->size;
    if (index < 0 || index >= numbers->limit) {
      memset(to, 0, size);
      mslite_report_value(run, 2, at, given, -numbers->limit, numbers->limit);
      continue;
    }
    int64_t rest = at;
    int64_t source = index * numbers->strides[numbers->axis];
    for (int32_t i = numbers->rank - 1; i >= 0; --i) {
      if (i != numbers->axis) source += rest % numbers->dims[i] * numbers->strides[i];
      rest /= numbers->dims[i];
    }
    memcpy(to, (const char *)run->inputs[0] + source * numbers->size, size);
  }
}

MSLITE_MOVEMENT_KERNEL(gather_nd, GatherNd, tuple_derived, tuple_support, gather_nd_prepare, tuple_run, NULL)
MSLITE_MOVEMENT_KERNEL(batch_gather_nd, BatchGatherNd, tuple_derived, tuple_support, batch_gather_nd_prepare, tuple_run,
                       NULL)
MSLITE_MOVEMENT_KERNEL(gather_d, GatherD, element_derived, gather_d_support, gather_d_prepare, gather_d_run, NULL)
