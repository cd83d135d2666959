/* ScatterNd, ScatterNdUpdate, TensorScatterAdd, ScatterReduceNd (slices at index tuples), ScatterElements and
 * ScatterReduceElements (single elements). One part applies all updates in order, so that with repeated indices the
 * result does not depend on the number of threads. */
#include <string.h>

#include "known_values.h"
#include "movement.h"

typedef enum { REPLACE, ADD, MULTIPLY, MAXIMUM, MINIMUM } scatter_mode;

typedef struct {
  int32_t mode;
  int32_t type, size, index_type;
  int32_t data, indices, updates; /* input indices; data -1: starts with zeros */
  int64_t bytes;                  /* of the output */
  int64_t tuples, row;            /* index tuples; elements per tuple */
  int32_t depth;                  /* for tuples: the number of leading dimensions that they index */
  int32_t rank, axis;             /* for elements: the dimension that is indexed; otherwise -1 */
  int64_t dims[MSLITE_MAX_RANK];
  int64_t strides[MSLITE_MAX_RANK];
  int64_t update_dims[MSLITE_MAX_RANK];
} scatter_derived;

#define COMBINE_LOOP(type)                  \
  {                                         \
    type *y = (type *)to;                   \
    const type *u = (const type *)from;     \
    for (int64_t i = 0; i < count; ++i) {   \
      switch (mode) {                       \
        case ADD:                           \
          y[i] = (type)(y[i] + u[i]);       \
          break;                            \
        case MULTIPLY:                      \
          y[i] = (type)(y[i] * u[i]);       \
          break;                            \
        case MAXIMUM:                       \
          y[i] = u[i] > y[i] ? u[i] : y[i]; \
          break;                            \
        default:                            \
          y[i] = u[i] < y[i] ? u[i] : y[i]; \
      }                                     \
    }                                       \
    break;                                  \
  }

/* Signed integers are added and multiplied as unsigned ones, which wrap around. */
#define COMBINE_SIGNED(type, wide)                \
  {                                               \
    type *y = (type *)to;                         \
    const type *u = (const type *)from;           \
    for (int64_t i = 0; i < count; ++i) {         \
      switch (mode) {                             \
        case ADD:                                 \
          y[i] = (type)((wide)y[i] + (wide)u[i]); \
          break;                                  \
        case MULTIPLY:                            \
          y[i] = (type)((wide)y[i] * (wide)u[i]); \
          break;                                  \
        case MAXIMUM:                             \
          y[i] = u[i] > y[i] ? u[i] : y[i];       \
          break;                                  \
        default:                                  \
          y[i] = u[i] < y[i] ? u[i] : y[i];       \
      }                                           \
    }                                             \
    break;                                        \
  }

static void combine(const scatter_derived *numbers, void *to, const void *from, int64_t count) {
  const int32_t mode = numbers->mode;
  if (mode == REPLACE) {
    memcpy(to, from, (size_t)(count * numbers->size));
    return;
  }
  switch (numbers->type) {
    case MSLITE_FLOAT32:
      COMBINE_LOOP(float)
    case MSLITE_FLOAT64:
      COMBINE_LOOP(double)
    case MSLITE_INT32:
      COMBINE_SIGNED(int32_t, uint32_t)
    case MSLITE_INT64:
      COMBINE_SIGNED(int64_t, uint64_t)
    case MSLITE_INT8:
      COMBINE_SIGNED(int8_t, uint32_t)
    case MSLITE_UINT8:
      COMBINE_SIGNED(uint8_t, uint32_t)
    default:
      break;
  }
}

static int32_t scatter_support(const mslite_node *node) {
  const mslite_tensor *y = node->outputs[0];
  if (node->input_count < 3 || mslite_type_size(y->type) == 0) return 0;
  const bool from_zero = node->op == MSLITE_OP_ScatterNd;
  const mslite_tensor *indices = node->inputs[from_zero ? 0 : 1];
  const mslite_tensor *updates = node->inputs[from_zero ? 1 : 2];
  if (indices->type != MSLITE_INT32 && indices->type != MSLITE_INT64) return 0;
  if (updates->type != y->type || (!from_zero && node->inputs[0]->type != y->type)) return 0;
  const bool places = node->op == MSLITE_OP_ScatterNdUpdate || node->op == MSLITE_OP_ScatterElements;
  return places || y->type == MSLITE_FLOAT32 || y->type == MSLITE_FLOAT64 || y->type == MSLITE_INT32 ||
         y->type == MSLITE_INT64 || y->type == MSLITE_INT8 || y->type == MSLITE_UINT8;
}

static bool read_mode(const char *name, int32_t *mode) {
  static const char *const names[] = {"none", "add", "mul", "max", "min"};
  *mode = REPLACE;
  for (int32_t i = 0; name != NULL && i < 5; ++i) {
    if (strcmp(name, names[i]) == 0) {
      *mode = i;
      return true;
    }
  }
  return name == NULL;
}

static mslite_status prepare_scatter(const mslite_node *node, scatter_derived *numbers, mslite_schedule *schedule) {
  const mslite_tensor *y = node->outputs[0];
  const bool from_zero = node->op == MSLITE_OP_ScatterNd;
  numbers->type = y->type;
  numbers->size = mslite_type_size(y->type);
  numbers->data = from_zero ? -1 : 0;
  numbers->indices = from_zero ? 0 : 1;
  numbers->updates = from_zero ? 1 : 2;
  numbers->index_type = node->inputs[numbers->indices]->type;
  numbers->bytes = mslite_element_count(y) * numbers->size;
  numbers->rank = y->rank;
  mslite_row_major(y->dims, y->rank, numbers->strides);
  for (int32_t i = 0; i < y->rank; ++i) numbers->dims[i] = y->dims[i];
  schedule->phase_count = 2;
  schedule->part_count[0] = mslite_byte_parts(numbers->bytes);
  schedule->part_count[1] = 1;
  return MSLITE_OK;
}

static mslite_status tuples_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  scatter_derived *numbers = derived;
  memset(numbers, 0, sizeof *numbers);
  if (node->op == MSLITE_OP_ScatterNd || node->op == MSLITE_OP_TensorScatterAdd) {
    numbers->mode = ADD;
  } else if (node->op == MSLITE_OP_ScatterReduceNd &&
             !read_mode(((const mslite_ScatterReduceNd *)node->params)->reduction, &numbers->mode)) {
    return MSLITE_ERROR_ATTRIBUTE;
  }
  prepare_scatter(node, numbers, schedule);
  const mslite_tensor *indices = node->inputs[numbers->indices];
  if (indices->rank < 1 || indices->dims[indices->rank - 1] > numbers->rank) return MSLITE_ERROR_SHAPE;
  numbers->axis = -1;
  numbers->depth = (int32_t)indices->dims[indices->rank - 1];
  numbers->tuples = numbers->row = 1;
  for (int32_t i = 0; i < indices->rank - 1; ++i) numbers->tuples *= indices->dims[i];
  for (int32_t i = numbers->depth; i < numbers->rank; ++i) numbers->row *= numbers->dims[i];
  if (mslite_element_count(node->inputs[numbers->updates]) != numbers->tuples * numbers->row) return MSLITE_ERROR_SHAPE;
  return MSLITE_OK;
}

static mslite_status elements_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  scatter_derived *numbers = derived;
  memset(numbers, 0, sizeof *numbers);
  int64_t axis;
  if (node->op == MSLITE_OP_ScatterReduceElements) {
    const mslite_ScatterReduceElements *attributes = node->params;
    axis = attributes->axis;
    if (!read_mode(attributes->reduction, &numbers->mode)) return MSLITE_ERROR_ATTRIBUTE;
  } else {
    axis = ((const mslite_ScatterElements *)node->params)->axis;
  }
  prepare_scatter(node, numbers, schedule);
  const mslite_tensor *indices = node->inputs[1];
  numbers->axis = mslite_normalize_axis(axis, numbers->rank);
  if (numbers->axis < 0) return MSLITE_ERROR_ATTRIBUTE;
  numbers->tuples = mslite_element_count(indices);
  if (indices->rank != numbers->rank || mslite_element_count(node->inputs[2]) != numbers->tuples)
    return MSLITE_ERROR_SHAPE;
  numbers->row = 1;
  for (int32_t i = 0; i < numbers->rank; ++i) {
    numbers->update_dims[i] = indices->dims[i];
    if (i != numbers->axis && indices->dims[i] > numbers->dims[i]) return MSLITE_ERROR_SHAPE;
  }
  return MSLITE_OK;
}

/* Returns `index` counted from the front; -1 if it is out of range, which is reported. */
static int64_t checked_index(const mslite_run *run, const scatter_derived *numbers, int64_t place, int32_t axis) {
  const int64_t given = mslite_integer_at(run->inputs[numbers->indices], numbers->index_type, place);
  const int64_t size = numbers->dims[axis];
  const int64_t index = given < 0 ? given + size : given;
  if (index >= 0 && index < size) return index;
  mslite_report_value(run, numbers->indices, place, given, -size, size);
  return -1;
}

/* Returns the element of the output where update `tuple` begins, or -1. */
static int64_t target(const mslite_run *run, const scatter_derived *numbers, int64_t tuple) {
  int64_t at = 0;
  if (numbers->axis >= 0) {
    int64_t rest = tuple;
    for (int32_t i = numbers->rank - 1; i >= 0; --i) {
      if (i != numbers->axis) at += rest % numbers->update_dims[i] * numbers->strides[i];
      rest /= numbers->update_dims[i];
    }
    const int64_t index = checked_index(run, numbers, tuple, numbers->axis);
    return index < 0 ? -1 : at + index * numbers->strides[numbers->axis];
  }
  for (int32_t i = 0; i < numbers->depth; ++i) {
    const int64_t index = checked_index(run, numbers, tuple * numbers->depth + i, i);
    if (index < 0) return -1;
    at += index * numbers->strides[i];
  }
  return at;
}

static void scatter_run(const mslite_run *run, int32_t phase, int32_t part) {
  const scatter_derived *numbers = run->derived;
  char *y = run->outputs[0];
  if (phase == 0) {
    const int64_t begin = (int64_t)part * MSLITE_COPY_PART_BYTES;
    const int64_t left = numbers->bytes - begin;
    const size_t bytes = (size_t)(left < MSLITE_COPY_PART_BYTES ? left : MSLITE_COPY_PART_BYTES);
    if (numbers->data < 0) {
      memset(y + begin, 0, bytes);
    } else if (run->inputs[numbers->data] != run->outputs[0]) {
      memcpy(y + begin, (const char *)run->inputs[numbers->data] + begin, bytes);
    }
    return;
  }
  const char *updates = run->inputs[numbers->updates];
  for (int64_t i = 0; i < numbers->tuples; ++i) {
    const int64_t at = target(run, numbers, i);
    if (at >= 0) combine(numbers, y + at * numbers->size, updates + i * numbers->row * numbers->size, numbers->row);
  }
}

static int32_t scatter_in_place(const mslite_node *node) { return node->op == MSLITE_OP_ScatterNd ? -1 : 0; }

#define SCATTER(name, operator, prepare) \
  MSLITE_MOVEMENT_KERNEL(name, operator, scatter_derived, scatter_support, prepare, scatter_run, scatter_in_place)

MSLITE_MOVEMENT_KERNEL(scatter_nd, ScatterNd, scatter_derived, scatter_support, tuples_prepare, scatter_run, NULL)
SCATTER(scatter_nd_update, ScatterNdUpdate, tuples_prepare)
SCATTER(tensor_scatter_add, TensorScatterAdd, tuples_prepare)
SCATTER(scatter_reduce_nd, ScatterReduceNd, tuples_prepare)
SCATTER(scatter_elements, ScatterElements, elements_prepare)
SCATTER(scatter_reduce_elements, ScatterReduceElements, elements_prepare)
