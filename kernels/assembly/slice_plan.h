/* The ranges that SliceFusion, StridedSlice and Crop copy from each dimension; shared by shape rules and kernels. */
#ifndef MSLITE_SLICE_PLAN_H
#define MSLITE_SLICE_PLAN_H

#include "known_values.h"

/* One entry per dimension of the input. An unknown begin or size is a symbol. */
typedef struct {
  int64_t begin[MSLITE_MAX_RANK];
  int64_t stride[MSLITE_MAX_RANK];
  int64_t size[MSLITE_MAX_RANK];
  int32_t entry[MSLITE_MAX_RANK]; /* index of the entry of the begin tensor that gives begin, or -1 */
  int32_t output_rank;
  int32_t output_source[MSLITE_MAX_RANK]; /* the input dimension of output dimension i, or -1 for a new one */
} mslite_slice_plan;

/* Fills `plan` for an input of known rank. */
mslite_status mslite_plan_slice(mslite_shape_context *context, const mslite_SliceFusion *attributes,
                                const mslite_tensor *const *inputs, int32_t input_count, mslite_slice_plan *plan);
mslite_status mslite_plan_strided_slice(mslite_shape_context *context, const mslite_StridedSlice *attributes,
                                        const mslite_tensor *const *inputs, int32_t input_count,
                                        mslite_slice_plan *plan);
mslite_status mslite_plan_crop(mslite_shape_context *context, const mslite_Crop *attributes,
                               const mslite_tensor *const *inputs, int32_t input_count, mslite_slice_plan *plan);

#endif
