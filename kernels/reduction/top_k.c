/* TopKFusion, ArgMaxFusion and ArgMinFusion: the first k elements in order along an axis; of equal ones the earlier.
 * TopK treats NaN as the largest number; ArgMax and ArgMin order it before all numbers. */
#include <string.h>

#include "movement.h"
#include "quantized.h"
#include "reduction/order.h"

typedef struct {
  mslite_axis_view view;
  int64_t k;
  int64_t per_part; /* columns */
  int32_t type;
  int32_t size; /* bytes per element */
  int32_t largest;
  int32_t nan_first;
  int32_t index_output; /* -1: none */
  int32_t value_output;
} top_k_derived;

enum { PART_WORK = 16384 };

static int64_t axis_of(const mslite_node *node) {
  switch (node->op) {
    case MSLITE_OP_TopKFusion:
      return ((const mslite_TopKFusion *)node->params)->axis;
    case MSLITE_OP_ArgMaxFusion:
      return ((const mslite_ArgMaxFusion *)node->params)->axis;
    default:
      return ((const mslite_ArgMinFusion *)node->params)->axis;
  }
}

static int32_t support(const mslite_node *node) {
  return mslite_is_ordered(node->inputs[0]->type) && mslite_normalize_axis(axis_of(node), node->inputs[0]->rank) >= 0;
}

/* As support, for quantized integers, which have the order of their real values; the shape may be unknown. */
static int32_t stored_support(const mslite_node *node) {
  const mslite_tensor *x = node->inputs[0];
  if ((x->type != MSLITE_INT8 && x->type != MSLITE_INT16) || !mslite_is_quantized(x, x->type)) return 0;
  for (int32_t i = 0; i < node->output_count; ++i) {
    const int32_t type = node->outputs[i]->type; /* 0: not known yet */
    const bool is_index = type == MSLITE_INT32 || type == MSLITE_INT64 || type == 0;
    if (type == x->type ? !mslite_same_quant(x, node->outputs[i]) : !is_index) return 0;
  }
  return 1;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  top_k_derived *numbers = derived;
  const mslite_tensor *x = node->inputs[0];
  const int32_t axis = mslite_normalize_axis(axis_of(node), x->rank);
  if (axis < 0) return MSLITE_ERROR_ATTRIBUTE;
  numbers->view = mslite_view_axis(x, axis);
  numbers->type = x->type;
  numbers->size = mslite_type_size(x->type);
  numbers->index_output = numbers->value_output = -1;
  if (node->op == MSLITE_OP_TopKFusion) {
    numbers->k = node->outputs[0]->dims[axis];
    numbers->largest = ((const mslite_TopKFusion *)node->params)->largest >= 0;
    numbers->nan_first = numbers->largest;
    numbers->value_output = 0;
    if (node->output_count > 1) numbers->index_output = 1;
  } else {
    const bool max = node->op == MSLITE_OP_ArgMaxFusion;
    const int64_t k =
        max ? ((const mslite_ArgMaxFusion *)node->params)->top_k : ((const mslite_ArgMinFusion *)node->params)->top_k;
    const bool values = max ? ((const mslite_ArgMaxFusion *)node->params)->out_max_value
                            : ((const mslite_ArgMinFusion *)node->params)->out_max_value;
    numbers->k = k < 1 ? 1 : k;
    numbers->largest = max;
    numbers->nan_first = 1;
    if (node->output_count > 1) {
      numbers->index_output = 0;
      numbers->value_output = 1;
    } else if (values) {
      numbers->value_output = 0;
    } else {
      numbers->index_output = 0;
    }
  }
  if (numbers->k > numbers->view.size || numbers->view.size > INT32_MAX) return MSLITE_ERROR_SHAPE;
  numbers->per_part = numbers->view.size < PART_WORK ? PART_WORK / (numbers->view.size + 1) + 1 : 1;
  const int64_t columns = numbers->view.outer * numbers->view.inner;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((columns + numbers->per_part - 1) / numbers->per_part);
  schedule->scratch_bytes = numbers->k * (int64_t)sizeof(int32_t);
  return MSLITE_OK;
}

/* One column of x: element i is at `base + i * step`. */
typedef struct {
  const void *x;
  int64_t base;
  int64_t step;
  int32_t type;
  bool largest;
  bool nan_first;
} column;

/* A total order: equal elements by index. */
static bool before(const column *of, int32_t a, int32_t b) {
  const int64_t at_a = of->base + a * of->step, at_b = of->base + b * of->step;
  if (mslite_comes_before(of->type, of->x, at_a, at_b, of->largest, of->nan_first)) return true;
  if (mslite_comes_before(of->type, of->x, at_b, at_a, of->largest, of->nan_first)) return false;
  return a < b;
}

/* Moves heap[at] down until no child is ordered after it, so that the root is the last of the kept elements. */
static void sift(const column *of, int32_t *heap, int64_t count, int64_t at) {
  for (int64_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && before(of, heap[child], heap[child + 1])) ++child;
    if (!before(of, heap[at], heap[child])) return;
    const int32_t moved = heap[at];
    heap[at] = heap[child];
    heap[child] = moved;
  }
}

/* Selects the first k of n elements, in order. */
static void select_first(const column *of, int64_t n, int64_t k, int32_t *kept) {
  for (int64_t i = 0; i < k; ++i) kept[i] = (int32_t)i;
  for (int64_t i = k / 2 - 1; i >= 0; --i) sift(of, kept, k, i);
  for (int64_t i = k; i < n && k > 0; ++i) {
    if (!before(of, (int32_t)i, kept[0])) continue;
    kept[0] = (int32_t)i;
    sift(of, kept, k, 0);
  }
  for (int64_t count = k - 1; count > 0; --count) {
    const int32_t last = kept[0];
    kept[0] = kept[count];
    kept[count] = last;
    sift(of, kept, count, 0);
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const top_k_derived *numbers = run->derived;
  const mslite_axis_view view = numbers->view;
  const int64_t columns = view.outer * view.inner, begin = part * numbers->per_part, k = numbers->k;
  const int64_t end = columns - begin < numbers->per_part ? columns : begin + numbers->per_part;
  int32_t *kept = run->scratch;
  for (int64_t c = begin; c < end; ++c) {
    const int64_t outer = c / view.inner, inner = c % view.inner;
    const column of = {run->inputs[0],
                       outer * view.size * view.inner + inner,
                       view.inner,
                       numbers->type,
                       numbers->largest != 0,
                       numbers->nan_first != 0};
    select_first(&of, view.size, k, kept);
    for (int64_t i = 0; i < k; ++i) {
      const int64_t to = (outer * k + i) * view.inner + inner;
      if (numbers->index_output >= 0) ((int32_t *)run->outputs[numbers->index_output])[to] = kept[i];
      if (numbers->value_output >= 0)
        memcpy((char *)run->outputs[numbers->value_output] + to * numbers->size,
               (const char *)run->inputs[0] + (of.base + kept[i] * of.step) * numbers->size, (size_t)numbers->size);
    }
  }
}

#define TOP_K(function, operator, support_, quantized_) \
  const mslite_kernel mslite_kernel_##function = {      \
      .name = #function "_scalar",                      \
      .op = MSLITE_OP_##operator,                       \
      .isa = MSLITE_ISA_SCALAR,                         \
      .derived_size = sizeof(top_k_derived),            \
      .support = support_,                              \
      .prepare = prepare,                               \
      .run = run_part,                                  \
      .quantized = quantized_,                          \
  };

TOP_K(top_k, TopKFusion, support, 0)
TOP_K(arg_max, ArgMaxFusion, support, 0)
TOP_K(arg_min, ArgMinFusion, support, 0)
TOP_K(top_k_int8, TopKFusion, stored_support, 1)
TOP_K(arg_max_int8, ArgMaxFusion, stored_support, 1)
TOP_K(arg_min_int8, ArgMinFusion, stored_support, 1)
