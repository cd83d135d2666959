/* Reductions over adjacent dimensions, for microcontrollers. */
#ifndef MSLITE_REDUCE_MICRO_H
#define MSLITE_REDUCE_MICRO_H

#include "reduction/reduce_plan.h"
#include "simd/micro.h"

typedef struct {
  int32_t outer, reduced, inner; /* x is [outer, reduced, inner], y [outer, inner] */
} micro_reduction;

/* Returns false if the reduced dimensions are not adjacent, or there are none. */
static inline __attribute__((unused)) bool micro_reduction_of(const mslite_node *node, micro_reduction *shape) {
  const mslite_tensor *x = node->inputs[0], *axes = node->input_count > 1 ? node->inputs[1] : NULL;
  mslite_reduce_plan plan;
  if (!mslite_plan_reduce(x, axes, ((const mslite_ReduceFusion *)node->params)->reduce_to_end, &plan)) return false;
  if (plan.runs != 1 || plan.kept_rank > 1 || mslite_element_count(x) > INT32_MAX / 16) return false;
  if (mslite_element_count(x) < 1 || (plan.reduced > 1 && plan.length_stride != plan.inner)) return false;
  if (plan.kept_rank == 1 && plan.kept_strides[0] != plan.length * plan.inner) return false;
  shape->outer = (int32_t)plan.outer;
  shape->reduced = (int32_t)plan.reduced;
  shape->inner = (int32_t)plan.inner;
  return true;
}

#endif
