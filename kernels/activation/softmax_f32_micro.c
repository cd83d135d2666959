/* float32 Softmax and LogSoftmax on microcontrollers, along any axis. */
#include "math/simd_math.h"

typedef struct {
  int32_t outer, size, inner; /* `size` is the axis */
} softmax_derived;

static int32_t axis_of(const mslite_node *node) {
  const mslite_tensor *x = node->inputs[0];
  if (node->op == MSLITE_OP_LogSoftmax) {
    return mslite_normalize_axis(((const mslite_LogSoftmax *)node->params)->axis, x->rank);
  }
  const mslite_longs axes = ((const mslite_Softmax *)node->params)->axis;
  return mslite_normalize_axis(axes.count == 0 ? -1 : axes.at[0], x->rank);
}

static int32_t softmax_support(const mslite_node *node) {
  const mslite_tensor *x = node->inputs[0];
  return x->type == MSLITE_FLOAT32 && axis_of(node) >= 0 && mslite_element_count(x) <= INT32_MAX / 16 ? 3 : 0;
}

static mslite_status softmax_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  softmax_derived *own = derived;
  const mslite_tensor *x = node->inputs[0];
  const int32_t axis = axis_of(node);
  int64_t outer = 1, inner = 1;
  for (int32_t i = 0; i < axis; ++i) outer *= x->dims[i];
  for (int32_t i = axis + 1; i < x->rank; ++i) inner *= x->dims[i];
  own->outer = (int32_t)outer;
  own->size = (int32_t)x->dims[axis];
  own->inner = (int32_t)inner;
  schedule->phase_count = 1;
  schedule->part_count[0] = mslite_element_count(x) > 0;
  return MSLITE_OK;
}

/* Finds the largest value and returns the sum of exponentials, which are stored in y if it is not NULL. */
static float sum_of(const softmax_derived *own, const float *x, float *y, float *largest) {
  const int32_t step = own->inner;
  const float *at = x;
  float best = -INFINITY, sum = 0.0F, part = 0.0F;
  for (int32_t i = own->size; i > 0; --i, at += step) best = *at < best ? best : *at;
  if (best == -INFINITY) best = 0.0F;
  for (int32_t i = own->size; i > 0; --i, x += step) {
    const float e = math_exp(*x - best);
    if (y != NULL) {
      *y = e;
      y += step;
    }
    part += e;
    if ((i & 31) == 1) { /* partial sums keep the sum of many terms accurate */
      sum += part;
      part = 0.0F;
    }
  }
  *largest = best;
  return sum + part;
}

static void softmax_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const softmax_derived *own = run->derived;
  const float *x = run->inputs[0];
  float *y = run->outputs[0];
  const int32_t over = (own->size - 1) * own->inner;
  for (int32_t i = own->outer; i > 0; --i, x += over, y += over) {
    for (int32_t j = own->inner; j > 0; --j, ++x, ++y) {
      float largest;
      const float factor = 1.0F / sum_of(own, x, y, &largest);
      float *at = y;
      for (int32_t k = own->size; k > 0; --k, at += own->inner) *at *= factor;
    }
  }
}

static void log_softmax_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  (void)part;
  const softmax_derived *own = run->derived;
  const float *x = run->inputs[0];
  float *y = run->outputs[0];
  const int32_t over = (own->size - 1) * own->inner;
  for (int32_t i = own->outer; i > 0; --i, x += over, y += over) {
    for (int32_t j = own->inner; j > 0; --j, ++x, ++y) {
      float largest;
      const float subtrahend = math_log(sum_of(own, x, NULL, &largest));
      for (int32_t k = 0; k < own->size * own->inner; k += own->inner) y[k] = (x[k] - largest) - subtrahend;
    }
  }
}

static int32_t softmax_in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

#define SOFTMAX(function, operator_, way)                           \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function) = { \
      .name = MSLITE_ISA_STRING(function),                          \
      .op = MSLITE_OP_##operator_,                                  \
      .isa = MSLITE_THIS_ISA,                                       \
      .derived_size = sizeof(softmax_derived),                      \
      .support = softmax_support,                                   \
      .prepare = softmax_prepare,                                   \
      .run = way##_run,                                             \
      .in_place = softmax_in_place,                                 \
  };

SOFTMAX(softmax_f32, Softmax, softmax)
SOFTMAX(log_softmax_f32, LogSoftmax, log_softmax)
