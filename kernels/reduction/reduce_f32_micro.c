/* Sums, means, minima and maxima of floats over adjacent dimensions, on microcontrollers. */
#include <math.h>

#include "reduction/reduce_micro.h"

typedef struct {
  micro_reduction shape;
  float factor; /* of the result */
} reduce_derived;

static int32_t supports(const mslite_node *node, int32_t mode, int32_t other) {
  const mslite_ReduceFusion *fusion = node->params;
  micro_reduction shape;
  if (node->inputs[0]->type != MSLITE_FLOAT32 || (fusion->mode != mode && fusion->mode != other)) return 0;
  return micro_reduction_of(node, &shape) ? 3 : 0;
}

static int32_t sum_support(const mslite_node *node) {
  return supports(node, MSLITE_REDUCE_MODE_REDUCE_SUM, MSLITE_REDUCE_MODE_REDUCE_MEAN);
}
static int32_t maximum_support(const mslite_node *node) {
  return supports(node, MSLITE_REDUCE_MODE_REDUCE_MAX, MSLITE_REDUCE_MODE_REDUCE_MAX);
}
static int32_t minimum_support(const mslite_node *node) {
  return supports(node, MSLITE_REDUCE_MODE_REDUCE_MIN, MSLITE_REDUCE_MODE_REDUCE_MIN);
}

static mslite_status reduce_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  reduce_derived *own = derived;
  const mslite_ReduceFusion *fusion = node->params;
  if (!micro_reduction_of(node, &own->shape)) return MSLITE_ERROR_UNSUPPORTED;
  own->factor = 1.0F;
  /* Only Caffe models have a coefficient; other files contain 0. */
  if (fusion->reduce_to_end && fabsf(fusion->coeff) > 1e-5F) own->factor = fusion->coeff;
  if (fusion->mode == MSLITE_REDUCE_MODE_REDUCE_MEAN) own->factor /= (float)own->shape.reduced;
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

/* Partial sums keep the sum of many terms accurate. */
MICRO_INLINE float sum_of(const float *x, int32_t count, int32_t step) {
  float sum = 0.0F, part = 0.0F;
  for (; count > 0; --count, x += step) {
    part += *x;
    if ((count & 31) == 1) {
      sum += part;
      part = 0.0F;
    }
  }
  return sum;
}

/* NaN stays NaN. */
MICRO_INLINE float maximum_of(const float *x, int32_t count, int32_t step) {
  float best = *x;
  for (; count > 0; --count, x += step) best = *x > best || *x != *x ? *x : best;
  return best;
}

MICRO_INLINE float minimum_of(const float *x, int32_t count, int32_t step) {
  float best = *x;
  for (; count > 0; --count, x += step) best = *x < best || *x != *x ? *x : best;
  return best;
}

#define REDUCE(name)                                                             \
  static void name##_run(const mslite_run *run, int32_t phase, int32_t part) {   \
    (void)phase;                                                                 \
    (void)part;                                                                  \
    const reduce_derived *own = run->derived;                                    \
    const int32_t reduced = own->shape.reduced, inner = own->shape.inner;        \
    const float *x = run->inputs[0];                                             \
    float *y = run->outputs[0];                                                  \
    for (int32_t i = own->shape.outer; i > 0; --i, x += (reduced - 1) * inner) { \
      for (int32_t j = inner; j > 0; --j, ++x) {                                 \
        *y++ = name##_of(x, reduced, inner) * own->factor;                       \
      }                                                                          \
    }                                                                            \
  }

REDUCE(sum)
REDUCE(maximum)
REDUCE(minimum)

#define KERNEL_OF(kernel, way)                                    \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##kernel) = { \
      .name = MSLITE_ISA_STRING(kernel),                          \
      .op = MSLITE_OP_ReduceFusion,                               \
      .isa = MSLITE_THIS_ISA,                                     \
      .derived_size = sizeof(reduce_derived),                     \
      .support = way##_support,                                   \
      .prepare = reduce_prepare,                                  \
      .run = way##_run,                                           \
  };

KERNEL_OF(reduce_sum_f32, sum)
KERNEL_OF(reduce_maximum_f32, maximum)
KERNEL_OF(reduce_minimum_f32, minimum)
