/* Resize and ResizeND. Every resized dimension gets a table of taps (source index and weight per output index); an
 * output element is the sum over the taps of all dimensions. Coordinates are computed in float, as in the source
 * frameworks. */
#include <math.h>
#include <string.h>

#include "movement.h"
#include "resize/resize_plan.h"

enum { MAX_TAPS = 4096, PART_ELEMENTS = 4096 };

typedef struct {
  mslite_resize_plan plan;
  int32_t rank; /* dimensions that are walked: all up to the last resized one */
  int32_t type;
  int32_t size;   /* of an element, in bytes */
  int32_t copies; /* every output element is one input element */
  int64_t inner;  /* elements behind the walked dimensions */
  int64_t rows, rows_per_part;
  int64_t in[MSLITE_MAX_RANK];
  int64_t out[MSLITE_MAX_RANK];
  int64_t stride[MSLITE_MAX_RANK];    /* of the input, in elements */
  int32_t taps[MSLITE_MAX_RANK];      /* 0: this dimension is not resized */
  int64_t table[MSLITE_MAX_RANK];     /* where its table begins in the shared workspace, in 4-byte words */
  bool computed_scales, computed_roi; /* read when running, one per entry of `axes` (a region: two) */
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

static float axis_scale(const mslite_resize_plan *plan, int32_t axis, int64_t in, int64_t out) {
  return plan->scale[axis] > 0 ? plan->scale[axis] : (float)out / (float)in;
}

static float source_coordinate(const mslite_resize_plan *plan, int32_t axis, int64_t in, int64_t out, int64_t at) {
  const float x = (float)at;
  const float scale = axis_scale(plan, axis, in, out);
  const float step = plan->scale[axis] > 0 ? 0 : (float)in / (float)out; /* exact where the sizes are given */
  const float half = step > 0 ? (x + 0.5f) * step : (x + 0.5f) / scale;
  const float span = (float)(in - 1);
  switch (plan->coordinates) {
    case RESIZE_ASYMMETRIC:
      return step > 0 ? x * step : x / scale;
    case RESIZE_ALIGN_CORNERS:
      return out == 1 ? 0 : x * span / (float)(out - 1);
    case RESIZE_PYTORCH_HALF_PIXEL:
      return out > 1 ? half - 0.5f : 0;
    case RESIZE_HALF_PIXEL_SYMMETRIC: {
      const float adjustment = (float)out / (scale * (float)in);
      return (float)in / 2 * (1 - adjustment) + half - 0.5f;
    }
    case RESIZE_TF_HALF_PIXEL_FOR_NN:
      return half;
    case RESIZE_TF_CROP_AND_RESIZE: {
      const float begin = plan->roi_begin[axis];
      const float end = plan->roi_end[axis];
      return out > 1 ? begin * span + x * (end - begin) * span / (float)(out - 1) : 0.5f * (begin + end) * span;
    }
    default:
      return half - 0.5f;
  }
}

static int64_t clamped(int64_t index, int64_t size) { return index < 0 ? 0 : index >= size ? size - 1 : index; }

static int64_t nearest_index(int32_t mode, float x) {
  switch (mode) {
    case MSLITE_NEAREST_MODE_ROUND_HALF_DOWN:
      return (int64_t)ceilf(x - 0.5f);
    case MSLITE_NEAREST_MODE_CEIL:
      return (int64_t)ceilf(x);
    case MSLITE_NEAREST_MODE_ROUND_HALF_UP:
      return (int64_t)floorf(x + 0.5f);
    default:
      return (int64_t)floorf(x);
  }
}

/* R. Keys, Cubic convolution interpolation for digital image processing (1981), with free parameter a. */
static float cubic_weight(float distance, float a) {
  const float x = fabsf(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

static int32_t axis_taps(const mslite_resize_plan *plan, float scale) {
  if (plan->method == MSLITE_RESIZE_METHOD_NEAREST) return 1;
  const int32_t radius = plan->method == MSLITE_RESIZE_METHOD_CUBIC ? 2 : 1;
  if (!plan->antialias || scale >= 1) return 2 * radius;
  const float reach = (float)radius / scale;
  return reach < (float)(MAX_TAPS / 2) ? 2 * (int32_t)ceilf(reach) : MAX_TAPS + 1;
}

static void fill_table(const resize_derived *numbers, void *shared, int32_t axis) {
  const mslite_resize_plan *plan = &numbers->plan;
  const tap_table table = table_of(numbers, shared, axis);
  const int64_t in = numbers->in[axis];
  const int64_t out = numbers->out[axis];
  const int32_t taps = numbers->taps[axis];
  const float scale = axis_scale(plan, axis, in, out);
  const float squeeze = plan->antialias && scale < 1 ? scale : 1;
  for (int64_t at = 0; at < out; ++at) {
    const float x = source_coordinate(plan, axis, in, out, at);
    int32_t *index = table.index + at * taps;
    float *weight = table.weight + at * taps;
    const bool outside = plan->coordinates == RESIZE_TF_CROP_AND_RESIZE && (x < 0 || x > (float)(in - 1));
    table.count[at] = outside ? 0 : taps;
    if (plan->method == MSLITE_RESIZE_METHOD_NEAREST) {
      index[0] = (int32_t)clamped(nearest_index(plan->nearest, x), in);
      weight[0] = 1;
      continue;
    }
    const float base = floorf(x);
    const float ratio = x - base;
    const int64_t first = (int64_t)base - taps / 2 + 1;
    float sum = 0;
    for (int32_t i = 0; i < taps; ++i) {
      const float distance = ((float)(i - taps / 2 + 1) - ratio) * squeeze;
      const float linear = 1 - fabsf(distance);
      weight[i] = plan->method == MSLITE_RESIZE_METHOD_CUBIC ? cubic_weight(distance, plan->cubic_coeff)
                                                             : (linear > 0 ? linear : 0);
      if (plan->exclude_outside && (first + i < 0 || first + i >= in)) weight[i] = 0;
      index[i] = (int32_t)clamped(first + i, in);
      sum += weight[i];
    }
    if ((squeeze < 1 || plan->exclude_outside) && sum != 0) {
      for (int32_t i = 0; i < taps; ++i) weight[i] /= sum;
    }
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
    numbers->taps[i] =
        axis_taps(&numbers->plan, y->dims[i] == 0 ? 1 : axis_scale(&numbers->plan, i, x->dims[i], y->dims[i]));
    if (numbers->taps[i] > MAX_TAPS) return MSLITE_ERROR_UNSUPPORTED;
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

/* Notes which scales and regions are read when running. False when there are not enough of them. */
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
  for (int32_t i = 0; i < node->inputs[0]->rank; ++i) { /* ONNX divides by the scale, also where sizes are given */
    const int64_t in = node->inputs[0]->dims[i];
    if (numbers->plan.scale[i] == 0 && in > 0) numbers->plan.scale[i] = (float)node->outputs[0]->dims[i] / (float)in;
  }
  return prepare_computed(node, numbers) ? prepare_tables(node, numbers, schedule) : MSLITE_ERROR_SHAPE;
}

static int32_t resize_support(const mslite_node *node) {
  const int32_t method = ((const mslite_Resize *)node->params)->method;
  if (!mslite_moves_elements(node) || mslite_type_size(node->inputs[0]->type) > 8) return 0;
  return method == MSLITE_RESIZE_METHOD_NEAREST || node->inputs[0]->type == MSLITE_FLOAT32;
}

static int32_t resize_nd_support(const mslite_node *node) {
  const mslite_ResizeND *attributes = node->params;
  if (!mslite_moves_elements(node) || mslite_type_size(node->inputs[0]->type) > 8) return 0;
  return attributes->method == MSLITE_RESIZE_METHOD_NEAREST || node->inputs[0]->type == MSLITE_FLOAT32;
}

static void fill_row(const resize_derived *numbers, void *to) {
  const float value = numbers->plan.extrapolation_value;
  const int64_t whole = (int64_t)value;
  const double wide = (double)value;
  const void *element = &whole; /* little-endian: the low bytes are the shorter integer */
  if (numbers->type == MSLITE_FLOAT32) element = &value;
  if (numbers->type == MSLITE_FLOAT64) element = &wide;
  for (int64_t i = 0; i < numbers->inner; ++i) memcpy((char *)to + i * numbers->size, element, (size_t)numbers->size);
}

/* Adds the weighted source rows of dimensions `axis` and further in; `first` tells whether `to` is still empty. */
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

/* Scales and regions that the model computes. */
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
