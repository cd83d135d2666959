/* A reduction's dimensions: which are kept and which run away, joined where neighbors share a fate. */
#ifndef MSLITE_REDUCE_PLAN_H
#define MSLITE_REDUCE_PLAN_H

#include "kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The output is [outer, inner]: `inner` adjacent elements of x that are all kept (1 when the last dimension runs away).
 * Each output element takes `reduced` elements of x: `runs` runs of `length` elements, `length_stride` apart. */
typedef struct {
  int64_t outer;
  int64_t inner;
  int64_t reduced;
  int64_t runs;
  int64_t length;
  int64_t length_stride;
  int32_t kept_rank; /* dimensions that make up `outer` */
  int32_t run_rank;  /* dimensions that make up `runs` */
  int64_t kept_dims[MSLITE_MAX_RANK];
  int64_t kept_strides[MSLITE_MAX_RANK];
  int64_t run_dims[MSLITE_MAX_RANK];
  int64_t run_strides[MSLITE_MAX_RANK];
} mslite_reduce_plan;

/* False when `axes` (NULL: all) is not a constant integer tensor of legal axes. `to_end`: all after the first as well.
 */
bool mslite_plan_reduce(const mslite_tensor *x, const mslite_tensor *axes, bool to_end, mslite_reduce_plan *plan);

/* Offset in x of kept block `outer`, and of run `run` within it. */
int64_t mslite_reduce_kept_offset(const mslite_reduce_plan *plan, int64_t outer);
int64_t mslite_reduce_run_offset(const mslite_reduce_plan *plan, int64_t run);

#ifdef __cplusplus
}
#endif

#endif
