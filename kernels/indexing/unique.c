/* Unique and UniqueSlices: items (elements, or slices along an axis) are sorted by value, then by position, so that
 * equal items are adjacent, the first occurrence first. */
#include <string.h>

#include "movement.h"

typedef struct {
  int32_t type, size;
  int32_t sorted;                                      /* results in ascending order; otherwise by first occurrence */
  int32_t wide_index;                                  /* index outputs are int64 */
  int32_t inverse_output, first_output, counts_output; /* -1: not needed */
  int32_t rank, axis;                                  /* of the result; axis: the dimension of the items */
  int64_t items, outer, inner;
  int64_t dims[MSLITE_MAX_RANK];
} unique_derived;

/* The shared workspace: three values per item. */
typedef struct {
  int64_t *order; /* items ordered by value, then position */
  int64_t *group; /* per item: the start of its group in `order` */
  int64_t *rank;  /* per group, at its start: its index in the result */
} unique_space;

static unique_space space_of(const unique_derived *numbers, void *shared) {
  int64_t *memory = shared;
  const unique_space space = {memory, memory + numbers->items, memory + 2 * numbers->items};
  return space;
}

#define COMPARE(type)                                    \
  {                                                      \
    const type a = ((const type *)data)[i];              \
    const type b = ((const type *)data)[j];              \
    return a < b ? -1 : a > b ? 1 : (a != a) - (b != b); \
  }

static int32_t compare_elements(const void *data, int32_t type, int64_t i, int64_t j) {
  switch (type) {
    case MSLITE_FLOAT32:
      COMPARE(float)
    case MSLITE_FLOAT64:
      COMPARE(double)
    case MSLITE_INT64:
      COMPARE(int64_t)
    case MSLITE_INT32:
      COMPARE(int32_t)
    case MSLITE_INT16:
      COMPARE(int16_t)
    case MSLITE_INT8:
      COMPARE(int8_t)
    default:
      COMPARE(uint8_t)
  }
}

static int32_t compare_items(const unique_derived *numbers, const void *data, int64_t a, int64_t b) {
  for (int64_t outer = 0; outer < numbers->outer; ++outer) {
    const int64_t at_a = (outer * numbers->items + a) * numbers->inner;
    const int64_t at_b = (outer * numbers->items + b) * numbers->inner;
    for (int64_t inner = 0; inner < numbers->inner; ++inner) {
      const int32_t sign = compare_elements(data, numbers->type, at_a + inner, at_b + inner);
      if (sign != 0) return sign;
    }
  }
  return 0;
}

static bool before(const unique_derived *numbers, const void *data, int64_t a, int64_t b) {
  const int32_t sign = compare_items(numbers, data, a, b);
  return sign < 0 || (sign == 0 && a < b);
}

static void sift(const unique_derived *numbers, const void *data, int64_t *heap, int64_t root, int64_t count) {
  const int64_t item = heap[root];
  for (int64_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
    if (child + 1 < count && before(numbers, data, heap[child], heap[child + 1])) ++child;
    if (!before(numbers, data, item, heap[child])) break;
    heap[root] = heap[child];
    root = child;
  }
  heap[root] = item;
}

/* Sorts the items (heapsort) and numbers the groups. Returns their number. */
static int64_t group_items(const unique_derived *numbers, const void *data, const unique_space *space) {
  const int64_t count = numbers->items;
  int64_t *order = space->order;
  for (int64_t i = 0; i < count; ++i) order[i] = i;
  for (int64_t i = count / 2 - 1; i >= 0; --i) sift(numbers, data, order, i, count);
  for (int64_t i = count - 1; i > 0; --i) {
    const int64_t top = order[0];
    order[0] = order[i];
    order[i] = top;
    sift(numbers, data, order, 0, i);
  }
  int64_t groups = 0;
  int64_t begin = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (i == 0 || compare_items(numbers, data, order[i - 1], order[i]) != 0) {
      begin = i;
      space->rank[begin] = groups++;
    }
    space->group[order[i]] = begin;
  }
  if (numbers->sorted) return groups;
  groups = 0;
  for (int64_t item = 0; item < count; ++item) {
    if (order[space->group[item]] == item) space->rank[space->group[item]] = groups++;
  }
  return groups;
}

static int32_t unique_support(const mslite_node *node) {
  switch (node->inputs[0]->type) {
    case MSLITE_FLOAT32:
    case MSLITE_FLOAT64:
    case MSLITE_INT64:
    case MSLITE_INT32:
    case MSLITE_INT16:
    case MSLITE_INT8:
    case MSLITE_UINT8:
    case MSLITE_BOOL:
      return 1;
    default:
      return 0;
  }
}

static void prepare_items(const mslite_tensor *x, bool has_axis, int32_t axis, unique_derived *numbers,
                          mslite_schedule *schedule) {
  numbers->type = x->type;
  numbers->size = mslite_type_size(x->type);
  numbers->outer = numbers->inner = 1;
  if (has_axis) {
    numbers->rank = x->rank;
    numbers->axis = axis;
    numbers->items = x->dims[axis];
    for (int32_t i = 0; i < x->rank; ++i) numbers->dims[i] = x->dims[i];
    for (int32_t i = 0; i < axis; ++i) numbers->outer *= x->dims[i];
    for (int32_t i = axis + 1; i < x->rank; ++i) numbers->inner *= x->dims[i];
  } else {
    numbers->rank = 1;
    numbers->items = mslite_element_count(x);
  }
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  schedule->shared_bytes = 3 * numbers->items * (int64_t)sizeof(int64_t);
}

static mslite_status unique_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  unique_derived *numbers = derived;
  memset(numbers, 0, sizeof *numbers);
  numbers->first_output = numbers->counts_output = -1;
  numbers->inverse_output = node->output_count > 1 ? 1 : -1;
  prepare_items(node->inputs[0], false, 0, numbers, schedule);
  return MSLITE_OK;
}

static mslite_status slices_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_UniqueSlices *attributes = node->params;
  unique_derived *numbers = derived;
  memset(numbers, 0, sizeof *numbers);
  const int32_t axis = attributes->has_axis ? mslite_normalize_axis(attributes->axis, node->inputs[0]->rank) : 0;
  if (axis < 0) return MSLITE_ERROR_ATTRIBUTE;
  numbers->sorted = attributes->sorted;
  numbers->wide_index = 1;
  numbers->first_output = node->output_count > 1 ? 1 : -1;
  numbers->inverse_output = node->output_count > 2 ? 2 : -1;
  numbers->counts_output = node->output_count > 3 ? 3 : -1;
  prepare_items(node->inputs[0], attributes->has_axis, axis, numbers, schedule);
  return MSLITE_OK;
}

static void store(const unique_derived *numbers, void *to, int64_t at, int64_t value) {
  if (numbers->wide_index) {
    ((int64_t *)to)[at] = value;
  } else {
    ((int32_t *)to)[at] = (int32_t)value;
  }
}

static void unique_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const unique_derived *numbers = run->derived;
  const unique_space space = space_of(numbers, run->shared);
  const int64_t groups = group_items(numbers, run->inputs[0], &space);
  const int64_t bytes = numbers->inner * numbers->size;
  int64_t begin = 0;
  for (int64_t i = 0; i < numbers->items; ++i) {
    const int64_t item = space.order[i];
    if (space.group[item] == i) {
      begin = i;
      for (int64_t outer = 0; outer < numbers->outer; ++outer) {
        memcpy((char *)run->outputs[0] + (outer * groups + space.rank[i]) * bytes,
               (const char *)run->inputs[0] + (outer * numbers->items + item) * bytes, (size_t)bytes);
      }
      if (numbers->first_output >= 0) store(numbers, run->outputs[numbers->first_output], space.rank[i], item);
    }
    if (numbers->inverse_output >= 0) store(numbers, run->outputs[numbers->inverse_output], item, space.rank[begin]);
    const bool last = i + 1 == numbers->items || space.group[space.order[i + 1]] != begin;
    if (last && numbers->counts_output >= 0) {
      store(numbers, run->outputs[numbers->counts_output], space.rank[begin], i + 1 - begin);
    }
  }
}

static mslite_status unique_count(const mslite_run *run, int64_t dims[][MSLITE_MAX_RANK]) {
  const unique_derived *numbers = run->derived;
  const unique_space space = space_of(numbers, run->shared);
  const int64_t groups = group_items(numbers, run->inputs[0], &space);
  for (int32_t i = 0; i < numbers->rank; ++i) dims[0][i] = i == numbers->axis ? groups : numbers->dims[i];
  if (numbers->inverse_output >= 0) dims[numbers->inverse_output][0] = numbers->items;
  if (numbers->first_output >= 0) dims[numbers->first_output][0] = groups;
  if (numbers->counts_output >= 0) dims[numbers->counts_output][0] = groups;
  return MSLITE_OK;
}

const mslite_kernel mslite_kernel_unique = {
    .name = "unique_scalar",
    .op = MSLITE_OP_Unique,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(unique_derived),
    .support = unique_support,
    .prepare = unique_prepare,
    .run = unique_run,
    .count = unique_count,
};

const mslite_kernel mslite_kernel_unique_slices = {
    .name = "unique_slices_scalar",
    .op = MSLITE_OP_UniqueSlices,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(unique_derived),
    .support = unique_support,
    .prepare = slices_prepare,
    .run = unique_run,
    .count = unique_count,
};
