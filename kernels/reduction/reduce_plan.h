/* The dimensions of a reduction: kept and reduced ones, merged if adjacent ones are of the same kind. */
#ifndef MSLITE_REDUCE_PLAN_H
#define MSLITE_REDUCE_PLAN_H

#include "kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The output is [outer, inner], where `inner` are adjacent elements of x that are all kept (1 if the last dimension
 * is reduced). Each output element is computed from `reduced` elements of x: `runs` runs of `length` elements,
 * `length_stride` apart. */
typedef struct {
  int64_t outer;
  int64_t inner;
  int64_t reduced;
  int64_t runs;
  int64_t length;
  int64_t length_stride;
  int32_t kept_rank; /* dimensions of `outer` */
  int32_t run_rank;  /* dimensions of `runs` */
  int64_t kept_dims[MSLITE_MAX_RANK];
  int64_t kept_strides[MSLITE_MAX_RANK];
  int64_t run_dims[MSLITE_MAX_RANK];
  int64_t run_strides[MSLITE_MAX_RANK];
} mslite_reduce_plan;

/* Returns false if `axes` (NULL: all) is not a constant integer tensor of valid axes. `to_end`: also all axes after
 * the first. */
bool mslite_plan_reduce(const mslite_tensor *x, const mslite_tensor *axes, bool to_end, mslite_reduce_plan *plan);

/* Return the offset in x of kept block `outer`, and of run `run` within it. */
int64_t mslite_reduce_kept_offset(const mslite_reduce_plan *plan, int64_t outer);
int64_t mslite_reduce_run_offset(const mslite_reduce_plan *plan, int64_t run);

#ifdef __cplusplus
}
#endif

#endif
