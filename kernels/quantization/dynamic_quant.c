/* DynamicQuant: quantizes to int8 with the scale and zero point of the values themselves, for the whole tensor or
 * for each index of the kept axes. The result is the integers, or (dst_type float32) the dequantized values, which
 * matmuls with dequantized weights read. For the arithmetic see quantization/dynamic_range.h.
 *
 * Further outputs are the scales and the zero points (int8), in the order of the kept axes. With them, a float32
 * result is the integers minus their zero point, without the scale. */
#include <string.h>

#include "movement.h"
#include "quantization/dynamic_range.h"

enum { PART_ELEMENTS = 16384 };

/* Some of the axes; adjacent ones are merged. */
typedef struct {
  int32_t count;
  int64_t dims[MSLITE_MAX_RANK];
  int64_t strides[MSLITE_MAX_RANK];
} axis_list;

typedef struct {
  int64_t groups, groups_per_part;
  int64_t rows, columns, step; /* a group is `rows` rows of `columns` elements, `step` apart */
  axis_list kept, reduced;     /* `reduced` does not include the columns */
  bool symmetric, real, has_ranges;
} quant_derived;

static int32_t quant_support(const mslite_node *node) {
  const int32_t target = node->outputs[0]->type;
  if (node->output_count != 1 && node->output_count != 3) return 0;
  return node->inputs[0]->type == MSLITE_FLOAT32 && (target == MSLITE_INT8 || target == MSLITE_FLOAT32);
}

/* Bit k: axis k has its own scales. */
static bool kept_axes(const mslite_DynamicQuant *params, int32_t rank, uint32_t *axes) {
  *axes = 0;
  if (!params->activation_channel) return true;
  for (int64_t i = 0; i < (params->prefer_axes.count > 0 ? params->prefer_axes.count : 1); ++i) {
    const int64_t axis = params->prefer_axes.count > 0 ? params->prefer_axes.at[i] : params->prefer_axis;
    const int32_t normal = mslite_normalize_axis(axis, rank);
    if (normal < 0) return false;
    *axes |= 1U << normal;
  }
  return true;
}

static mslite_status quant_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0];
  const mslite_DynamicQuant *params = node->params;
  quant_derived *numbers = derived;
  memset(numbers, 0, sizeof *numbers);
  uint32_t kept;
  if (!kept_axes(params, x->rank, &kept)) return MSLITE_ERROR_ATTRIBUTE;
  numbers->symmetric = params->symmetric;
  numbers->real = node->outputs[0]->type == MSLITE_FLOAT32;
  numbers->has_ranges = node->output_count == 3;
  numbers->groups = numbers->rows = numbers->columns = numbers->step = 1;
  int64_t stride = mslite_element_count(x);
  if (stride == 0) numbers->groups = 0;
  const axis_list *previous = NULL;
  for (int32_t i = 0; i < x->rank && stride > 0; ++i) {
    stride /= x->dims[i];
    axis_list *list = (kept >> i & 1U) != 0 ? &numbers->kept : &numbers->reduced;
    if (list != previous) list->dims[list->count++] = 1;
    previous = list;
    list->dims[list->count - 1] *= x->dims[i];
    list->strides[list->count - 1] = stride;
  }
  for (int32_t i = 0; i < numbers->kept.count; ++i) numbers->groups *= numbers->kept.dims[i];
  if (numbers->reduced.count > 0) {
    const int32_t last = --numbers->reduced.count;
    numbers->columns = numbers->reduced.dims[last];
    numbers->step = numbers->reduced.strides[last];
  }
  for (int32_t i = 0; i < numbers->reduced.count; ++i) numbers->rows *= numbers->reduced.dims[i];
  numbers->groups_per_part = PART_ELEMENTS / (numbers->rows * numbers->columns);
  if (numbers->groups_per_part < 1) numbers->groups_per_part = 1;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->groups + numbers->groups_per_part - 1) / numbers->groups_per_part);
  return MSLITE_OK;
}

/* Returns the offset of element `index` of the list's axes. */
static int64_t offset_of(const axis_list *list, int64_t index) {
  int64_t offset = 0;
  for (int32_t i = list->count - 1; i >= 0; --i) {
    offset += index % list->dims[i] * list->strides[i];
    index /= list->dims[i];
  }
  return offset;
}

static mslite_dynamic_range range_of(const quant_derived *numbers, const float *x) {
  float low = 0.0F, high = 0.0F;
  for (int64_t row = 0; row < numbers->rows; ++row) {
    const float *values = x + offset_of(&numbers->reduced, row);
    for (int64_t i = 0; i < numbers->columns; ++i) {
      const float v = values[i * numbers->step];
      low = v < low ? v : low;
      high = v > high ? v : high;
    }
  }
  return mslite_dynamic_range_of(low, high, numbers->symmetric);
}

static void quant_group(const quant_derived *numbers, const mslite_run *run, int64_t group) {
  const float *x = run->inputs[0];
  const int64_t base = offset_of(&numbers->kept, group);
  const mslite_dynamic_range range = range_of(numbers, x + base);
  const float scale = numbers->has_ranges ? 1.0F : range.scale;
  if (numbers->has_ranges) {
    ((float *)run->outputs[1])[group] = range.scale;
    ((int8_t *)run->outputs[2])[group] = (int8_t)range.zero;
  }
  for (int64_t row = 0; row < numbers->rows; ++row) {
    int64_t at = base + offset_of(&numbers->reduced, row);
    for (int64_t i = 0; i < numbers->columns; ++i, at += numbers->step) {
      const int32_t q = mslite_dynamic_integer(&range, x[at]);
      if (numbers->real) {
        ((float *)run->outputs[0])[at] = scale * (float)(q - range.zero);
      } else {
        ((int8_t *)run->outputs[0])[at] = (int8_t)q;
      }
    }
  }
}

static void quant_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const quant_derived *numbers = run->derived;
  const int64_t begin = (int64_t)part * numbers->groups_per_part;
  const int64_t left = numbers->groups - begin;
  const int64_t end = begin + (left < numbers->groups_per_part ? left : numbers->groups_per_part);
  for (int64_t group = begin; group < end; ++group) quant_group(numbers, run, group);
}

MSLITE_MOVEMENT_KERNEL(dynamic_quant, DynamicQuant, quant_derived, quant_support, quant_prepare, quant_run, NULL)
