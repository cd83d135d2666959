/* Sums, means, minima and maxima of quantized int8 over adjacent dimensions, on microcontrollers. Same arithmetic as
 * reduction/reduce_int8.c. */
#include "reduction/reduce_int8.h"
#include "reduction/reduce_micro.h"

typedef struct {
  micro_reduction shape;
  mslite_multiplier factor;
  int32_t from_zero, to_zero;
  int8_t low, high, is_rescaled;
} reduce_derived;

static bool is_known(const mslite_tensor *tensor) {
  for (int32_t i = 0; i < tensor->rank; ++i) {
    if (mslite_is_symbol(tensor->dims[i])) return false;
  }
  return tensor->rank >= 0;
}

static int32_t mode_of(const mslite_node *node) { return ((const mslite_ReduceFusion *)node->params)->mode; }

static bool supports(const mslite_node *node) {
  micro_reduction shape;
  if (node->inputs[0]->type != MSLITE_INT8 || mslite_stored_reduce_support(node) == 0) return false;
  return !is_known(node->inputs[0]) || micro_reduction_of(node, &shape);
}

static int32_t sum_support(const mslite_node *node) {
  const int32_t mode = mode_of(node);
  return (mode == MSLITE_REDUCE_MODE_REDUCE_MEAN || mode == MSLITE_REDUCE_MODE_REDUCE_SUM) && supports(node) ? 2 : 0;
}

static int32_t maximum_support(const mslite_node *node) {
  return mode_of(node) == MSLITE_REDUCE_MODE_REDUCE_MAX && supports(node) ? 2 : 0;
}

static int32_t minimum_support(const mslite_node *node) {
  return mode_of(node) == MSLITE_REDUCE_MODE_REDUCE_MIN && supports(node) ? 2 : 0;
}

static mslite_status reduce_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  reduce_derived *own = derived;
  mslite_stored_reduce numbers;
  const mslite_status status = mslite_stored_reduce_prepare(node, &numbers, schedule);
  if (status != MSLITE_OK) return status;
  memset(own, 0, sizeof *own);
  if (!micro_reduction_of(node, &own->shape)) return MSLITE_ERROR_UNSUPPORTED;
  own->factor = numbers.factor;
  own->from_zero = numbers.from_zero;
  own->to_zero = numbers.to_zero;
  own->low = (int8_t)numbers.low;
  own->high = (int8_t)numbers.high;
  own->is_rescaled = numbers.is_rescaled;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

MICRO_SHARED int8_t stored(const reduce_derived *own, int32_t value) {
  if (own->is_rescaled) value = mslite_rescale(micro_subtract(value, own->from_zero), own->factor) + own->to_zero;
  return (int8_t)mslite_clamp(value, own->low, own->high);
}

#define REDUCE(name, start, step)                                              \
  static void name##_run(const mslite_run *run, int32_t phase, int32_t part) { \
    (void)phase;                                                               \
    (void)part;                                                                \
    const reduce_derived *own = run->derived;                                  \
    const int32_t inner = own->shape.inner;                                    \
    const int8_t *x = run->inputs[0];                                          \
    int8_t *y = run->outputs[0];                                               \
    for (int32_t i = own->shape.outer; i > 0; --i) {                           \
      for (int32_t j = inner; j > 0; --j, ++x) {                               \
        const int8_t *at = x;                                                  \
        int32_t value = start;                                                 \
        for (int32_t k = own->shape.reduced; k > 0; --k, at += inner) step;    \
        *y++ = stored(own, value);                                             \
      }                                                                        \
      x += (own->shape.reduced - 1) * inner;                                   \
    }                                                                          \
  }

REDUCE(sum, 0, value += *at)
REDUCE(maximum, INT8_MIN, value = *at > value ? *at : value)
REDUCE(minimum, INT8_MAX, value = *at < value ? *at : value)

#define KERNEL_OF(kernel, way)                                    \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##kernel) = { \
      .name = MSLITE_ISA_STRING(kernel),                          \
      .op = MSLITE_OP_ReduceFusion,                               \
      .isa = MSLITE_THIS_ISA,                                     \
      .derived_size = sizeof(reduce_derived),                     \
      .support = way##_support,                                   \
      .prepare = reduce_prepare,                                  \
      .run = way##_run,                                           \
      .quantized = 1,                                             \
  };

KERNEL_OF(reduce_sum_int8, sum)
KERNEL_OF(reduce_maximum_int8, maximum)
KERNEL_OF(reduce_minimum_int8, minimum)
