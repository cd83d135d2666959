/* Reductions of quantized integers: shared by the kernels of all instruction sets. */
#ifndef MSLITE_REDUCE_INT8_H
#define MSLITE_REDUCE_INT8_H

#include "math/fixed_point.h"
#include "reduction/reduce_plan.h"

enum { MSLITE_REDUCE_BLOCK = 64 /* adjacent outputs that are computed together */ };

typedef struct {
  mslite_reduce_plan plan;
  int64_t blocks;          /* blocks of outputs, per `outer` */
  int64_t items, per_part; /* all blocks, and those of one part */
  int32_t type, mode;
  int32_t low, high;
  int32_t from_zero; /* added to a result before it is rescaled, to remove the zero points */
  int32_t to_zero;
  int32_t empty; /* the result for no elements */
  bool is_rescaled;
  mslite_multiplier factor;
} mslite_stored_reduce;

int32_t mslite_stored_reduce_support(const mslite_node *node);
mslite_status mslite_stored_reduce_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule);

/* Returns the quantized result for a sum, minimum or maximum. */
static inline int32_t mslite_stored_reduced(const mslite_stored_reduce *numbers, int32_t value) {
  if (numbers->is_rescaled) {
    value =
        mslite_rescale((int32_t)((uint32_t)value - (uint32_t)numbers->from_zero), numbers->factor) + numbers->to_zero;
  }
  return mslite_clamp(value, numbers->low, numbers->high);
}

#endif
