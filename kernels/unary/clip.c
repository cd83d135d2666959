/* Clip: clamps to [min, max], which are scalar inputs (1 and 2) or, for float32, attributes. */
#include <math.h>
#include <string.h>

#include "kernel.h"

enum { PART_ELEMENTS = 16384 };

typedef struct {
  int64_t count;
  int32_t type;
  int32_t has_min; /* whether the bound is an input */
  int32_t has_max;
  float low; /* the attributes, for bounds that are not inputs */
  float high;
} clip_derived;

static bool is_there(const mslite_node *node, int32_t k) { return k < node->input_count && node->inputs[k] != NULL; }

static int32_t support(const mslite_node *node) {
  const int32_t type = node->inputs[0]->type;
  for (int32_t k = 1; k < 3; ++k)
    if (is_there(node, k) && (node->inputs[k]->type != type || mslite_element_count(node->inputs[k]) != 1)) return 0;
  switch (type) {
    case MSLITE_FLOAT32:
      return 1;
    case MSLITE_FLOAT64:
    case MSLITE_INT8:
    case MSLITE_UINT8:
    case MSLITE_INT32:
    case MSLITE_INT64:
      return is_there(node, 1) || is_there(node, 2);
    default:
      return 0;
  }
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_Clip *clip = node->params;
  clip_derived *numbers = derived;
  numbers->count = mslite_element_count(node->outputs[0]);
  numbers->type = node->inputs[0]->type;
  numbers->has_min = is_there(node, 1);
  numbers->has_max = is_there(node, 2);
  /* If one bound is an input, the other is infinite unless it is an input, too. */
  const bool attributes = !numbers->has_min && !numbers->has_max;
  numbers->low = attributes ? clip->min : -INFINITY;
  numbers->high = attributes ? clip->max : INFINITY;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  return MSLITE_OK;
}

/* If min is above max, the result is max. */
#define CLIP(type, lowest, highest)                                                 \
  {                                                                                 \
    const type low = numbers->has_min ? *(const type *)run->inputs[1] : (lowest);   \
    const type high = numbers->has_max ? *(const type *)run->inputs[2] : (highest); \
    const type *x = run->inputs[0];                                                 \
    type *y = run->outputs[0];                                                      \
    for (int64_t i = begin; i < end; ++i) {                                         \
      const type at_least = x[i] < low ? low : x[i];                                \
      y[i] = high < at_least ? high : at_least;                                     \
    }                                                                               \
  }                                                                                 \
  break

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const clip_derived *numbers = run->derived;
  const int64_t begin = (int64_t)part * PART_ELEMENTS;
  const int64_t end = numbers->count - begin < PART_ELEMENTS ? numbers->count : begin + PART_ELEMENTS;
  switch (numbers->type) {
    case MSLITE_FLOAT32:
      CLIP(float, numbers->low, numbers->high);
    case MSLITE_FLOAT64:
      CLIP(double, (double)-INFINITY, (double)INFINITY);
    case MSLITE_INT8:
      CLIP(int8_t, INT8_MIN, INT8_MAX);
    case MSLITE_UINT8:
      CLIP(uint8_t, 0, UINT8_MAX);
    case MSLITE_INT32:
      CLIP(int32_t, INT32_MIN, INT32_MAX);
    default:
      CLIP(int64_t, INT64_MIN, INT64_MAX);
  }
}

static int32_t in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

const mslite_kernel mslite_kernel_clip = {
    .name = "clip_scalar",
    .op = MSLITE_OP_Clip,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(clip_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
    .in_place = in_place,
};
