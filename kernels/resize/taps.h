/* The source elements of a resized dimension. */
#ifndef MSLITE_RESIZE_TAPS_H
#define MSLITE_RESIZE_TAPS_H

#include "resize/resize_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MSLITE_MAX_TAPS = 4096 };

/* Returns output size / input size of one dimension, in float32. */
float mslite_resize_scale(const mslite_resize_plan *plan, int32_t axis, int64_t in, int64_t out);

/* Returns the number of source elements per output element of a dimension; too many if above MSLITE_MAX_TAPS. */
int32_t mslite_resize_taps(const mslite_resize_plan *plan, float scale);

/* Finds indices and weights of the `taps` source elements of output `at`. Returns the number that is used: `taps`,
 * or 0 for an element that is extrapolated. */
int32_t mslite_resize_taps_at(const mslite_resize_plan *plan, int32_t axis, int64_t in, int64_t out, int64_t at,
                              int32_t taps, int32_t *index, float *weight);

#ifdef __cplusplus
}
#endif

#endif
