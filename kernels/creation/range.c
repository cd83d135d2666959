/* Range, LinSpace and RaggedRange. */
#include <math.h>
#include <string.h>

#include "kernel.h"

/* ---- Range: element i is start + i * delta; floats are rounded once ---- */

typedef struct {
  int64_t start; /* from the attributes if there are no inputs */
  int64_t limit;
  int64_t delta;
  int64_t count; /* the planned length; if the inputs are not constant, the result of `count` */
  int32_t type;
  int32_t from_inputs;
} range_derived;

static int32_t range_support(const mslite_node *node) {
  const int32_t type = node->outputs[0]->type;
  for (int32_t k = 0; node->input_count >= 3 && k < 3; ++k)
    if (node->inputs[k]->type != type || mslite_element_count(node->inputs[k]) != 1) return 0;
  return type == MSLITE_INT32 || type == MSLITE_INT64 || type == MSLITE_FLOAT32 || type == MSLITE_FLOAT64;
}

static mslite_status range_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_Range *range = node->params;
  range_derived *numbers = derived;
  numbers->start = range->start;
  numbers->limit = range->limit;
  numbers->delta = range->delta;
  numbers->type = node->outputs[0]->type;
  numbers->from_inputs = node->input_count >= 3;
  numbers->count = node->outputs[0]->dims[0];
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

static double float_at(const void *data, int32_t type) {
  return type == MSLITE_FLOAT32 ? (double)*(const float *)data : *(const double *)data;
}

static int64_t integer_at(const void *data, int32_t type) {
  return type == MSLITE_INT32 ? *(const int32_t *)data : *(const int64_t *)data;
}

static mslite_status length_of_integers(int64_t start, int64_t limit, int64_t delta, int64_t *length) {
  const int64_t bound = (int64_t)1 << 62;
  *length = 0;
  if (delta == 0 || start > bound || start < -bound || limit > bound || limit < -bound || delta == INT64_MIN)
    return MSLITE_ERROR_VALUE;
  const int64_t distance = delta > 0 ? limit - start : start - limit, step = delta > 0 ? delta : -delta;
  if (distance > 0) *length = (distance - 1) / step + 1;
  return MSLITE_OK;
}

static mslite_status length_of_floats(double start, double limit, double delta, int64_t *length) {
  const double steps = ceil((limit - start) / delta);
  *length = 0;
  if (!(steps < 1e15)) return MSLITE_ERROR_VALUE;
  if (steps > 0) *length = (int64_t)steps;
  return MSLITE_OK;
}

static mslite_status range_count(const mslite_run *run, int64_t dims[][MSLITE_MAX_RANK]) {
  const range_derived *numbers = run->derived;
  const int32_t type = numbers->type;
  if (!numbers->from_inputs) return length_of_integers(numbers->start, numbers->limit, numbers->delta, &dims[0][0]);
  if (type == MSLITE_FLOAT32 || type == MSLITE_FLOAT64)
    return length_of_floats(float_at(run->inputs[0], type), float_at(run->inputs[1], type),
                            float_at(run->inputs[2], type), &dims[0][0]);
  return length_of_integers(integer_at(run->inputs[0], type), integer_at(run->inputs[1], type),
                            integer_at(run->inputs[2], type), &dims[0][0]);
}

static void range_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const range_derived *numbers = run->derived;
  const int32_t type = numbers->type;
  int64_t shape[MSLITE_MAX_OPERANDS][MSLITE_MAX_RANK] = {{0}};
  if (range_count(run, shape) != MSLITE_OK) return;
  int64_t count = shape[0][0];
  if (numbers->count >= 0 && numbers->count < count) count = numbers->count;
  if (type == MSLITE_FLOAT32 || type == MSLITE_FLOAT64) {
    const double start = numbers->from_inputs ? float_at(run->inputs[0], type) : (double)numbers->start;
    const double delta = numbers->from_inputs ? float_at(run->inputs[2], type) : (double)numbers->delta;
    for (int64_t i = 0; i < count; ++i) {
      const double value = start + (double)i * delta;
      if (type == MSLITE_FLOAT32)
        ((float *)run->outputs[0])[i] = (float)value;
      else
        ((double *)run->outputs[0])[i] = value;
    }
    return;
  }
  const int64_t start = numbers->from_inputs ? integer_at(run->inputs[0], type) : numbers->start;
  const int64_t delta = numbers->from_inputs ? integer_at(run->inputs[2], type) : numbers->delta;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t value = (uint64_t)start + (uint64_t)i * (uint64_t)delta;
    if (type == MSLITE_INT32)
      ((int32_t *)run->outputs[0])[i] = (int32_t)(uint32_t)value;
    else
      ((int64_t *)run->outputs[0])[i] = (int64_t)value;
  }
}

const mslite_kernel mslite_kernel_range = {
    .name = "range_scalar",
    .op = MSLITE_OP_Range,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(range_derived),
    .support = range_support,
    .prepare = range_prepare,
    .run = range_run,
    .count = range_count,
};

/* ---- LinSpace: `num` values from start to stop, both included ---- */

typedef struct {
  int64_t count;
  int32_t count_is_wide;
} lin_space_derived;

static int32_t lin_space_support(const mslite_node *node) {
  const int32_t type = node->inputs[2]->type;
  for (int32_t k = 0; k < 3; ++k)
    if (mslite_element_count(node->inputs[k]) != 1) return 0;
  return node->inputs[0]->type == MSLITE_FLOAT32 && node->inputs[1]->type == MSLITE_FLOAT32 &&
         (type == MSLITE_INT32 || type == MSLITE_INT64);
}

static mslite_status lin_space_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  lin_space_derived *numbers = derived;
  numbers->count = node->outputs[0]->dims[0];
  numbers->count_is_wide = node->inputs[2]->type == MSLITE_INT64;
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

static mslite_status lin_space_count(const mslite_run *run, int64_t dims[][MSLITE_MAX_RANK]) {
  const lin_space_derived *numbers = run->derived;
  dims[0][0] = integer_at(run->inputs[2], numbers->count_is_wide ? MSLITE_INT64 : MSLITE_INT32);
  return dims[0][0] < 0 ? MSLITE_ERROR_VALUE : MSLITE_OK;
}

static void lin_space_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  int64_t shape[1][MSLITE_MAX_RANK] = {{0}};
  if (lin_space_count(run, shape) != MSLITE_OK) return;
  const double start = (double)*(const float *)run->inputs[0], stop = (double)*(const float *)run->inputs[1];
  const int64_t count = shape[0][0];
  for (int64_t i = 0; i < count; ++i)
    ((float *)run->outputs[0])[i] =
        (float)(count == 1 ? start : start + (stop - start) * ((double)i / (double)(count - 1)));
}

const mslite_kernel mslite_kernel_lin_space = {
    .name = "lin_space_scalar",
    .op = MSLITE_OP_LinSpace,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(lin_space_derived),
    .support = lin_space_support,
    .prepare = lin_space_prepare,
    .run = lin_space_run,
    .count = lin_space_count,
};

/* ---- RaggedRange: one range per row; row r begins at splits[r] in values ---- */

typedef struct {
  int64_t rows;
  int64_t steps[3]; /* 0 if all rows have the same value */
} ragged_derived;

static int32_t ragged_support(const mslite_node *node) {
  for (int32_t k = 0; k < 3; ++k)
    if (node->inputs[k]->type != MSLITE_INT32 || node->inputs[k]->rank > 1) return 0;
  return node->output_count == 2;
}

static mslite_status ragged_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  ragged_derived *numbers = derived;
  numbers->rows = 1;
  for (int32_t k = 0; k < 3; ++k)
    if (node->inputs[k]->rank == 1 && node->inputs[k]->dims[0] != 1) numbers->rows = node->inputs[k]->dims[0];
  for (int32_t k = 0; k < 3; ++k) {
    const int64_t count = mslite_element_count(node->inputs[k]);
    if (count != 1 && count != numbers->rows) return MSLITE_ERROR_SHAPE;
    numbers->steps[k] = count != 1;
  }
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

static int32_t ragged_at(const mslite_run *run, int32_t k, int64_t row) {
  const ragged_derived *numbers = run->derived;
  return ((const int32_t *)run->inputs[k])[row * numbers->steps[k]];
}

static mslite_status ragged_count(const mslite_run *run, int64_t dims[][MSLITE_MAX_RANK]) {
  const ragged_derived *numbers = run->derived;
  dims[0][0] = numbers->rows + 1;
  dims[1][0] = 0;
  for (int64_t row = 0; row < numbers->rows; ++row) {
    int64_t length;
    const mslite_status status =
        length_of_integers(ragged_at(run, 0, row), ragged_at(run, 1, row), ragged_at(run, 2, row), &length);
    if (status != MSLITE_OK) return status;
    dims[1][0] += length;
  }
  return dims[1][0] > INT32_MAX ? MSLITE_ERROR_VALUE : MSLITE_OK;
}

static void ragged_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const ragged_derived *numbers = run->derived;
  int32_t *splits = run->outputs[0], *values = run->outputs[1];
  int32_t done = 0;
  splits[0] = 0;
  for (int64_t row = 0; row < numbers->rows; ++row) {
    int64_t length;
    const int32_t start = ragged_at(run, 0, row), delta = ragged_at(run, 2, row);
    length_of_integers(start, ragged_at(run, 1, row), delta, &length);
    for (int64_t i = 0; i < length; ++i) values[done++] = (int32_t)(start + i * delta);
    splits[row + 1] = done;
  }
}

const mslite_kernel mslite_kernel_ragged_range = {
    .name = "ragged_range_scalar",
    .op = MSLITE_OP_RaggedRange,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(ragged_derived),
    .support = ragged_support,
    .prepare = ragged_prepare,
    .run = ragged_run,
    .count = ragged_count,
};
