/* How Resize and ResizeND change each dimension; shared by shape rules and kernels. */
#ifndef MSLITE_RESIZE_PLAN_H
#define MSLITE_RESIZE_PLAN_H

#include "known_values.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  RESIZE_ASYMMETRIC,
  RESIZE_ALIGN_CORNERS,
  RESIZE_HALF_PIXEL,
  RESIZE_PYTORCH_HALF_PIXEL,
  RESIZE_HALF_PIXEL_SYMMETRIC,
  RESIZE_TF_HALF_PIXEL_FOR_NN,
  RESIZE_TF_CROP_AND_RESIZE
} mslite_resize_coordinates;

/* One entry per dimension of the input. */
typedef struct {
  int32_t method;      /* MSLITE_RESIZE_METHOD_* */
  int32_t coordinates; /* mslite_resize_coordinates */
  int32_t nearest;     /* MSLITE_NEAREST_MODE_*: ROUND_HALF_DOWN, ROUND_HALF_UP, FLOOR, CEIL */
  int32_t antialias;
  int32_t exclude_outside;
  float cubic_coeff;
  float extrapolation_value;
  int64_t out[MSLITE_MAX_RANK]; /* sizes, or symbols */
  float scale[MSLITE_MAX_RANK]; /* output / input; 0: the quotient of the sizes */
  float roi_begin[MSLITE_MAX_RANK];
  float roi_end[MSLITE_MAX_RANK];
} mslite_resize_plan;

/* Fills `plan` for an input of known rank; unknown sizes become symbols. Resize expects NHWC. */
mslite_status mslite_plan_resize(mslite_shape_context *context, const mslite_Resize *attributes,
                                 const mslite_tensor *const *inputs, int32_t input_count, mslite_resize_plan *plan);
mslite_status mslite_plan_resize_nd(mslite_shape_context *context, const mslite_ResizeND *attributes,
                                    const mslite_tensor *const *inputs, int32_t input_count, mslite_resize_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
