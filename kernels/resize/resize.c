/* Resize and ResizeND. Every resized dimension has a table of taps (source index and weight per output index); an
 * output element is the sum over the taps of all dimensions. */
#include <string.h>

#include "math/whole.h"
#include "movement.h"
#include "resize/taps.h"

enum { PART_ELEMENTS = 4096 };

typedef struct {
  mslite_resize_plan plan;
  int32_t rank; /* dimensions up to the last resized one, which are iterated over */
  int32_t type;
  int32_t size;   /* bytes per element */
  int32_t copies; /* every output element is a copy of one input element */
  int64_t inner;  /* elements of the other, inner dimensions */
  int64_t rows, rows_per_part;
  int64_t in[MSLITE_MAX_RANK];
  int64_t out[MSLITE_MAX_RANK];
  int64_t stride[MSLITE_MAX_RANK];    /* of the input, in elements */
  int32_t taps[MSLITE_MAX_RANK];      /* 0: this dimension is not resized */
  int64_t table[MSLITE_MAX_RANK];     /* offset of its table in the shared workspace, in 4-byte words */
  bool computed_scales, computed_roi; /* read at run time, one per entry of `axes` (a region: two) */
  int32_t axis_count;
  int32_t axes[MSLITE_MAX_RANK];
} resize_derived;

/* A table: per output index the number of taps (0: extrapolated), then `taps` indices and `taps` weights each. */
typedef struct {
  int32_t *count;
  int32_t *index;
  float *weight;
} tap_table;

static tap_table table_of(const resize_derived *numbers, void *shared, int32_t axis) {
  int32_t *words = (int32_t *)shared + numbers->table[axis];
  const int64_t cells = numbers->out[axis] * numbers->taps[axis];
  tap_table table = {words, words + numbers->out[axis], (float *)(words + numbers->out[axis] + cells)};
  return table;
}

static void fill_table(const resize_derived *numbers, void *shared, int32_t axis) {
  const tap_table table = table_of(numbers, shared, axis);
  const int32_t taps = numbers->taps[axis];
  for (int64_t at = 0; at < numbers->out[axis]; ++at) {
    table.count[at] = mslite_resize_taps_at(&numbers->plan, axis, numbers->in[axis], numbers->out[axis], at, taps,
                                            table.index + at * taps, table.weight + at * taps);
  }
}

static mslite_status prepare_tables(const mslite_node *node, resize_derived *numbers, mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0];
  const mslite_tensor *y = node->outputs[0];
  int64_t strides[MSLITE_MAX_RANK];
  int64_t words = 0;
  numbers->type = x->type;
  numbers->size = mslite_type_size(x->type);
  numbers->copies = numbers->plan.method == MSLITE_RESIZE_METHOD_NEAREST;
  numbers->rank = 0;
  numbers->inner = numbers->rows = 1;
  mslite_row_major(x->dims, x->rank, strides);
  for (int32_t i = 0; i < x->rank; ++i) {
    const bool crops = numbers->plan.roi_begin[i] != 0 || numbers->plan.roi_end[i] != 1;
    const bool scaled = numbers->plan.scale[i] > 0 && numbers->plan.scale[i] != 1;
    const bool resized =
        y->dims[i] != x->dims[i] || crops || scaled || numbers->computed_scales || numbers->computed_roi;
    numbers->in[i] = x->dims[i];
    numbers->out[i] = y->dims[i];
    numbers->stride[i] = strides[i];
    numbers->taps[i] = 0;
    if (!resized) continue;
    if (x->dims[i] == 0 && y->dims[i] > 0) return MSLITE_ERROR_SHAPE;
    if (x->dims[i] > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
    numbers->rank = i + 1;
    numbers->taps[i] = mslite_resize_taps(
        &numbers->plan, y->dims[i] == 0 ? 1 : mslite_resize_scale(&numbers->plan, i, x->dims[i], y->dims[i]));
    if (numbers->taps[i] > MSLITE_MAX_TAPS) return MSLITE_ERROR_UNSUPPORTED;
    numbers->table[i] = words;
    words += y->dims[i] * (1 + 2 * (int64_t)numbers->taps[i]);
  }
  for (int32_t i = 0; i < x->rank; ++i) {
    if (i < numbers->rank) {
      numbers->rows *= y->dims[i];
    } else {
      numbers->inner *= y->dims[i];
    }
  }
  if (numbers->inner == 0) numbers->rows = 0;
  numbers->rows_per_part = numbers->inner == 0 || numbers->inner > PART_ELEMENTS ? 1 : PART_ELEMENTS / numbers->inner;
  schedule->phase_count = 2;
  schedule->part_count[0] = 1;
  schedule->part_count[1] = (int32_t)((numbers->rows + numbers->rows_per_part - 1) / numbers->rows_per_part);
  schedule->shared_bytes = words * (int64_t)sizeof(int32_t);
  return MSLITE_OK;
}

static mslite_status resize_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  mslite_shape_context context = {.next_symbol = MSLITE_SYMBOL_LIMIT};
  resize_derived *numbers = derived;
  memset(numbers, 0, sizeof *numbers);
  const mslite_status status =
      mslite_plan_resize(&context, node->params, node->inputs, node->input_count, &numbers->plan);
  return status == MSLITE_OK ? prepare_tables(node, numbers, schedule) : status;
}

/* Finds the scales and regions that are read at run time. Returns false if there are too few. */
static bool prepare_computed(const mslite_node *node, resize_derived *numbers) {
  const mslite_ResizeND *attributes = node->params;
  const mslite_tensor *target = node->inputs[1];
  const int32_t rank = node->inputs[0]->rank;
  numbers->computed_scales = target->type == MSLITE_FLOAT32 && target->data == NULL;
  numbers->computed_roi = numbers->plan.coordinates == RESIZE_TF_CROP_AND_RESIZE && node->inputs[2]->data == NULL;
  numbers->axis_count = attributes->axes.count > 0 ? attributes->axes.count : rank;
  for (int32_t i = 0; i < numbers->axis_count; ++i) {
    numbers->axes[i] = mslite_normalize_axis(attributes->axes.count > 0 ? attributes->axes.at[i] : i, rank);
  }
  if (numbers->computed_scales && mslite_element_count(target) != numbers->axis_count) return false;
  if (!numbers->computed_roi) return true;
  return node->inputs[2]->type == MSLITE_FLOAT32 && mslite_element_count(node->inputs[2]) == 2 * numbers->axis_count;
}

static mslite_status resize_nd_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  mslite_shape_context context = {.next_symbol = MSLITE_SYMBOL_LIMIT};
  resize_derived *numbers = derived;
  memset(numbers, 0, sizeof *numbers);
  const mslite_status status =
      mslite_plan_resize_nd(&context, node->params, node->inputs, node->input_count, &numbers->plan);
  if (status != MSLITE_OK) return status;
  for (int32_t i = 0; i < node->inputs[0]->rank; ++i) { /* ONNX divides by the scale, even if sizes are given */
    const int64_t in = node->inputs[0]->dims[i];
    if (numbers->plan.scale[i] == 0 && in > 0) numbers->plan.scale[i] = (float)node->outputs[0]->dims[i] / (float)in;
  }
  return prepare_computed(node, numbers) ? prepare_tables(node, numbers, schedule) : MSLITE_ERROR_SHAPE;
}

static int32_t resize_support(const mslite_node *node) {
  const int32_t method = ((const mslite_Resize *)node->params)->method;
  if (!mslite_copies_elements(node) || mslite_type_size(node->inputs[0]->type) > 8) return 0;
  return method == MSLITE_RESIZE_METHOD_NEAREST || node->inputs[0]->type == MSLITE_FLOAT32;
}

static int32_t resize_nd_support(const mslite_node *node) {
  const mslite_ResizeND *attributes = node->params;
  if (!mslite_copies_elements(node) || mslite_type_size(node->inputs[0]->type) > 8) return 0;
  return attributes->method == MSLITE_RESIZE_METHOD_NEAREST || node->inputs[0]->type == MSLITE_FLOAT32;
}

static void fill_row(const resize_derived *numbers, void *to) {
  const float value = numbers->plan.extrapolation_value;
  const int64_t whole = mslite_truncate(value);
  const double wide = (double)value;
  const void *element = &whole; /* little-endian: a shorter integer is in the low bytes */
  if (numbers->type == MSLITE_FLOAT32) element = &value;
  if (numbers->type == MSLITE_FLOAT64) element = &wide;
  for (int64_t i = 0; i < numbers->inner; ++i) memcpy((char *)to + i * numbers->size, element, (size_t)numbers->size);
}

/* Adds the weighted source rows of dimension `axis` and inner ones; `first` is whether `to` is still empty. */
static void add_taps(const resize_derived *numbers, void *shared, const int64_t *at, int32_t axis, float weight,
                     const float *from, float *to, bool *first) {
  while (axis < numbers->rank && numbers->taps[axis] == 0) {
    from += at[axis] * numbers->stride[axis];
    ++axis;
  }
  if (axis < numbers->rank) {
    const tap_table table = table_of(numbers, shared, axis);
    const int64_t begin = at[axis] * numbers->taps[axis];
    for (int64_t i = begin; i < begin + numbers->taps[axis]; ++i) {
      if (table.weight[i] == 0) continue;
      add_taps(numbers, shared, at, axis + 1, weight * table.weight[i], from + table.index[i] * numbers->stride[axis],
               to, first);
    }
    return;
  }
  if (*first) {
    for (int64_t i = 0; i < numbers->inner; ++i) to[i] = weight * from[i];
  } else {
    for (int64_t i = 0; i < numbers->inner; ++i) to[i] += weight * from[i];
  }
  *first = false;
}

static void resize_row(const resize_derived *numbers, void *shared, const int64_t *at, const void *from, void *to) {
  int64_t source = 0;
  for (int32_t i = 0; i < numbers->rank; ++i) {
    if (numbers->taps[i] == 0) {
      source += at[i] * numbers->stride[i];
      continue;
    }
    const tap_table table = table_of(numbers, shared, i);
    if (table.count[at[i]] == 0) {
      fill_row(numbers, to);
      return;
    }
    if (numbers->copies) source += table.index[at[i]] * numbers->stride[i];
  }
  if (numbers->copies) {
    memcpy(to, (const char *)from + source * numbers->size, (size_t)(numbers->inner * numbers->size));
    return;
  }
  bool first = true;
  add_taps(numbers, shared, at, 0, 1, from, to, &first);
  if (first) memset(to, 0, (size_t)numbers->inner * sizeof(float));
}

/* Reads scales and regions that are not constant. */
static void read_computed(const mslite_run *run, resize_derived *numbers) {
  for (int32_t i = 0; i < numbers->axis_count; ++i) {
    const int32_t axis = numbers->axes[i];
    if (numbers->computed_scales) {
      const float scale = ((const float *)run->inputs[1])[i];
      if (scale > 0) numbers->plan.scale[axis] = scale;
    }
    if (numbers->computed_roi) {
      numbers->plan.roi_begin[axis] = ((const float *)run->inputs[2])[i];
      numbers->plan.roi_end[axis] = ((const float *)run->inputs[2])[numbers->axis_count + i];
    }
  }
}

static void resize_run(const mslite_run *run, int32_t phase, int32_t part) {
  const resize_derived *numbers = run->derived;
  if (phase == 0) {
    resize_derived now = *numbers;
    read_computed(run, &now);
    for (int32_t i = 0; i < numbers->rank; ++i) {
      if (numbers->taps[i] > 0) fill_table(&now, run->shared, i);
    }
    return;
  }
  int64_t row = part * numbers->rows_per_part;
  const int64_t end = numbers->rows - row < numbers->rows_per_part ? numbers->rows : row + numbers->rows_per_part;
  int64_t at[MSLITE_MAX_RANK] = {0};
  int64_t rest = row;
  for (int32_t i = numbers->rank - 1; i >= 0; --i) {
    at[i] = rest % numbers->out[i];
    rest /= numbers->out[i];
  }
  for (; row < end; ++row) {
    resize_row(numbers, run->shared, at, run->inputs[0],
               (char *)run->outputs[0] + row * numbers->inner * numbers->size);
    for (int32_t i = numbers->rank - 1; i >= 0 && ++at[i] == numbers->out[i]; --i) at[i] = 0;
  }
}

MSLITE_MOVEMENT_KERNEL(resize, Resize, resize_derived, resize_support, resize_prepare, resize_run, NULL)
MSLITE_MOVEMENT_KERNEL(resize_nd, ResizeND, resize_derived, resize_nd_support, resize_nd_prepare, resize_run, NULL)
