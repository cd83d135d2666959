/* Resize and ResizeND of quantized integers (int8, also for unsigned source models, and int16), in integer
 * arithmetic; weights have 10 fractional bits per resized dimension.
 *
 * Arithmetic of the linear Resize: TensorFlow Lite's reference kernels, which scale coordinates by steps of 1/1024
 * and round half away from zero; on unsigned integers they compute in float32 and truncate. */
#include <string.h>

#include "movement.h"
#include "quantized.h"
#include "resize/resize_int8.h"

enum { BLOCK = 64, PART_ELEMENTS = 2048 };

static mslite_status prepare_rows(const mslite_node *node, mslite_resize_int8 *numbers, mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0], *y = node->outputs[0];
  const bool is_pair = numbers->arithmetic == MSLITE_RESIZE_STEPS || numbers->arithmetic == MSLITE_RESIZE_FLOATS;
  const int32_t tap_count = is_pair ? 2 : mslite_resize_taps(&numbers->plan, 1.0f);
  int64_t words = 0, sources = 1;
  int32_t resized = 0;
  mslite_row_major(x->dims, x->rank, numbers->stride);
  numbers->inner = numbers->rows = 1;
  for (int32_t i = 0; i < x->rank; ++i) {
    numbers->in[i] = x->dims[i];
    numbers->out[i] = y->dims[i];
    if (x->dims[i] > INT32_MAX || (x->dims[i] == 0 && y->dims[i] > 0)) return MSLITE_ERROR_SHAPE;
    const bool scaled = numbers->plan.scale[i] > 0 && numbers->plan.scale[i] != 1;
    if (is_pair ? i != 1 && i != 2 : y->dims[i] == x->dims[i] && !scaled) continue;
    numbers->rank = i + 1;
    numbers->taps[i] = tap_count;
    numbers->table[i] = words;
    words += y->dims[i] * 2 * tap_count;
    sources *= tap_count;
    ++resized;
  }
  if (sources > MSLITE_RESIZE_SOURCES) return MSLITE_ERROR_UNSUPPORTED;
  numbers->shift = MSLITE_RESIZE_ONE_BITS * resized;
  numbers->is_wide = numbers->type == MSLITE_INT16 || resized > 2;
  for (int32_t i = 0; i < x->rank; ++i) *(i < numbers->rank ? &numbers->rows : &numbers->inner) *= y->dims[i];
  if (numbers->inner == 0) numbers->rows = 0;
  numbers->rows_per_part = numbers->inner == 0 || numbers->inner > PART_ELEMENTS ? 1 : PART_ELEMENTS / numbers->inner;
  const int64_t parts = (numbers->rows + numbers->rows_per_part - 1) / numbers->rows_per_part;
  if (parts > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 2;
  schedule->part_count[0] = 1;
  schedule->part_count[1] = (int32_t)parts;
  schedule->shared_bytes = words * (int64_t)sizeof(int32_t);
  return MSLITE_OK;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  mslite_shape_context context = {.next_symbol = MSLITE_SYMBOL_LIMIT};
  mslite_resize_int8 *numbers = derived;
  memset(numbers, 0, sizeof *numbers);
  const bool is_image = node->op == MSLITE_OP_Resize;
  const mslite_status status =
      is_image ? mslite_plan_resize(&context, node->params, node->inputs, node->input_count, &numbers->plan)
               : mslite_plan_resize_nd(&context, node->params, node->inputs, node->input_count, &numbers->plan);
  if (status != MSLITE_OK) return status;
  const mslite_tensor *x = node->inputs[0], *y = node->outputs[0];
  for (int32_t i = 0; i < x->rank && !is_image; ++i) { /* ONNX divides by the scale, even if sizes are given */
    if (numbers->plan.scale[i] == 0 && x->dims[i] > 0) numbers->plan.scale[i] = (float)y->dims[i] / (float)x->dims[i];
  }
  numbers->type = x->type;
  numbers->is_rescaled = !mslite_same_quant(x, y);
  numbers->from_zero = x->quant->zero_point;
  numbers->to_zero = y->quant->zero_point;
  numbers->factor = mslite_make_multiplier(x->quant->scale / y->quant->scale);
  mslite_quantized_limits(x->type, MSLITE_ACTIVATION_TYPE_NO_ACTIVATION, y->quant, &numbers->low, &numbers->high);
  const bool is_unsigned = x->type == MSLITE_INT8 && x->quant->source_type == MSLITE_UINT8 && !x->quant->rounds_even;
  if (numbers->plan.method == MSLITE_RESIZE_METHOD_NEAREST) {
    numbers->arithmetic = MSLITE_RESIZE_COPY;
  } else if (is_image && numbers->plan.method == MSLITE_RESIZE_METHOD_LINEAR) {
    numbers->arithmetic = is_unsigned ? MSLITE_RESIZE_FLOATS : MSLITE_RESIZE_STEPS;
  } else {
    numbers->arithmetic = MSLITE_RESIZE_TABLE;
  }
  return prepare_rows(node, numbers, schedule);
}

/* The source elements of one row of outputs: offsets in elements, and the products of their weights. */
typedef struct {
  int32_t count;
  int64_t offset[MSLITE_RESIZE_SOURCES];
  int64_t weight[MSLITE_RESIZE_SOURCES];
} source_list;

static void list_sources(const mslite_resize_int8 *numbers, void *shared, const int64_t *at, source_list *list) {
  list->count = 1;
  list->offset[0] = 0;
  list->weight[0] = 1;
  for (int32_t axis = 0; axis < numbers->rank; ++axis) {
    const int32_t taps = numbers->taps[axis], known = list->count;
    if (taps == 0) {
      for (int32_t k = 0; k < known; ++k) list->offset[k] += at[axis] * numbers->stride[axis];
      continue;
    }
    const int32_t *index = mslite_resize_indices(numbers, shared, axis, at[axis]);
    for (int32_t i = taps - 1; i >= 0; --i) {
      for (int32_t k = 0; k < known; ++k) {
        list->offset[i * known + k] = list->offset[k] + index[i] * numbers->stride[axis];
        list->weight[i * known + k] = list->weight[k] * index[taps + i];
      }
    }
    list->count = known * taps;
  }
}

static int32_t finished(const mslite_resize_int8 *numbers, int64_t sum) {
  const int64_t one = (int64_t)1 << numbers->shift;
  int32_t value = (int32_t)((sum > 0 ? sum + one / 2 : sum - one / 2) / one);
  if (numbers->is_rescaled) value = mslite_rescale(value - numbers->from_zero, numbers->factor) + numbers->to_zero;
  return mslite_clamp(value, numbers->low, numbers->high);
}

/* Computes one row of weighted sums. */
#define SUM_ROW(name, type, sum_type)                                                                        \
  static void name(const mslite_resize_int8 *numbers, const source_list *list, const void *from, void *to) { \
    sum_type sums[BLOCK];                                                                                    \
    for (int64_t begin = 0; begin < numbers->inner; begin += BLOCK) {                                        \
      const int64_t count = numbers->inner - begin < BLOCK ? numbers->inner - begin : BLOCK;                 \
      for (int64_t c = 0; c < count; ++c) sums[c] = 0;                                                       \
      for (int32_t k = 0; k < list->count; ++k) {                                                            \
        const type *x = (const type *)from + list->offset[k] + begin;                                        \
        const sum_type weight = (sum_type)list->weight[k];                                                   \
        for (int64_t c = 0; c < count; ++c) sums[c] += weight * x[c];                                        \
      }                                                                                                      \
      for (int64_t c = 0; c < count; ++c) ((type *)to)[begin + c] = (type)finished(numbers, sums[c]);        \
    }                                                                                                        \
  }

SUM_ROW(sum_row_i8, int8_t, int32_t)
SUM_ROW(sum_row_i8_wide, int8_t, int64_t)
SUM_ROW(sum_row_i16, int16_t, int64_t)

static float weight_at(const int32_t *bits) {
  float weight;
  memcpy(&weight, bits, sizeof weight);
  return weight;
}

/* Computes one row of unsigned integers, with the terms in the reference's order and rounding. */
static void float_row(const mslite_resize_int8 *numbers, void *shared, const int64_t *at, const int8_t *from,
                      int8_t *to) {
  const int32_t *rows = mslite_resize_indices(numbers, shared, 1, at[1]),
                *columns = mslite_resize_indices(numbers, shared, 2, at[2]);
  const int8_t *x = from + at[0] * numbers->stride[0];
  for (int64_t c = 0; c < numbers->inner; ++c) {
    float sum = 0;
    for (int32_t k = 0; k < 4; ++k) {
      const int64_t place = rows[k % 2] * numbers->stride[1] + columns[k / 2] * numbers->stride[2] + c;
      sum += (float)(x[place] + 128) * weight_at(&rows[2 + k % 2]) * weight_at(&columns[2 + k / 2]);
    }
    int32_t value = (int32_t)(sum + 0.5f) - 128;
    if (numbers->is_rescaled) value = mslite_rescale(value - numbers->from_zero, numbers->factor) + numbers->to_zero;
    to[c] = (int8_t)mslite_clamp(value, numbers->low, numbers->high);
  }
}

static void resize_row(const mslite_resize_int8 *numbers, void *shared, const int64_t *at, const void *from, char *to) {
  if (numbers->arithmetic == MSLITE_RESIZE_FLOATS) {
    float_row(numbers, shared, at, from, (int8_t *)to);
    return;
  }
  source_list list;
  list_sources(numbers, shared, at, &list);
  if (numbers->arithmetic == MSLITE_RESIZE_COPY && !numbers->is_rescaled) {
    const int64_t size = numbers->type == MSLITE_INT8 ? 1 : 2;
    memcpy(to, (const char *)from + list.offset[0] * size, (size_t)(numbers->inner * size));
  } else if (numbers->type == MSLITE_INT16) {
    sum_row_i16(numbers, &list, from, to);
  } else if (numbers->is_wide) {
    sum_row_i8_wide(numbers, &list, from, to);
  } else {
    sum_row_i8(numbers, &list, from, to);
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  const mslite_resize_int8 *numbers = run->derived;
  if (phase == 0) {
    mslite_fill_resize_tables(numbers, run->shared);
    return;
  }
  int64_t row = part * numbers->rows_per_part;
  const int64_t end = numbers->rows - row < numbers->rows_per_part ? numbers->rows : row + numbers->rows_per_part;
  const int64_t row_bytes = numbers->inner * (numbers->type == MSLITE_INT8 ? 1 : 2);
  int64_t at[MSLITE_MAX_RANK] = {0};
  int64_t rest = row;
  for (int32_t i = numbers->rank - 1; i >= 0; --i) {
    at[i] = rest % numbers->out[i];
    rest /= numbers->out[i];
  }
  for (; row < end; ++row) {
    resize_row(numbers, run->shared, at, run->inputs[0], (char *)run->outputs[0] + row * row_bytes);
    for (int32_t i = numbers->rank - 1; i >= 0 && ++at[i] == numbers->out[i]; --i) at[i] = 0;
  }
}

static bool takes_operands(const mslite_node *node) {
  const int32_t type = node->inputs[0]->type;
  if (type != MSLITE_INT8 && type != MSLITE_INT16) return false;
  return mslite_is_quantized(node->inputs[0], type) && mslite_is_quantized(node->outputs[0], type);
}

static int32_t support(const mslite_node *node) {
  const mslite_Resize *attributes = node->params;
  const int32_t mode = attributes->coordinate_transform_mode;
  if (attributes->method == MSLITE_RESIZE_METHOD_LINEAR && mode > RESIZE_HALF_PIXEL) return 0;
  return takes_operands(node);
}

static int32_t support_nd(const mslite_node *node) {
  const mslite_ResizeND *attributes = node->params;
  const char *mode = attributes->coordinate_transformation_mode;
  if (mode != NULL && strcmp(mode, "tf_crop_and_resize") == 0) return 0;
  return !attributes->antialias && node->inputs[1]->data != NULL && takes_operands(node);
}

MSLITE_QUANTIZED_KERNEL(resize_int8, Resize, mslite_resize_int8, support, prepare, run_part, NULL)
MSLITE_QUANTIZED_KERNEL(resize_nd_int8, ResizeND, mslite_resize_int8, support_nd, prepare, run_part, NULL)
