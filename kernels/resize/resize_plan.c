/* Finds the sizes and scales of Resize and ResizeND. */
#include "resize/resize_plan.h"

#include <math.h>
#include <string.h>

static void plan_same(const mslite_tensor *x, mslite_resize_plan *plan) {
  memset(plan, 0, sizeof *plan);
  for (int32_t i = 0; i < x->rank; ++i) {
    plan->out[i] = x->dims[i];
    plan->roi_end[i] = 1;
  }
}

static bool read_floats(const mslite_tensor *tensor, float *values, int32_t limit, int32_t *count) {
  const int64_t length = mslite_element_count(tensor);
  if (tensor->type != MSLITE_FLOAT32 || tensor->data == NULL || length < 0 || length > limit) return false;
  memcpy(values, tensor->data, (size_t)length * sizeof *values);
  *count = (int32_t)length;
  return true;
}

/* Returns floor(size); -1 if it is not a valid size. */
static int64_t whole_size(float size) {
  const float whole = floorf(size);
  return whole >= 0 && whole < 2147483648.0f ? (int64_t)whole : -1;
}

/* Returns floor(dim * scale), exact if the product is an integer in float32. */
static int64_t scaled_size(mslite_shape_context *context, int64_t dim, float scale) {
  if (scale == 1) return dim;
  if (mslite_is_symbol(dim)) return mslite_new_symbol(context);
  return whole_size((float)dim * scale);
}

static mslite_status set_size(mslite_shape_context *context, int64_t size, int32_t axis, mslite_resize_plan *plan) {
  if (size < 0 && !mslite_is_symbol(size)) {
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "dimension %d would have an invalid size", (int)axis);
  }
  plan->out[axis] = size;
  return MSLITE_OK;
}

/* Returns the index of the height in four sizes or scales: 1 (NHWC) or 2 (NCHW), the one that does not resize the
 * channels. */
static int32_t height_entry(const mslite_tensor *x, const int64_t *sizes, const float *scales) {
  if (scales != NULL) return scales[3] != 1 && scales[1] == 1 ? 2 : 1;
  return sizes[3] != x->dims[3] && sizes[1] == x->dims[3] ? 2 : 1;
}

static mslite_status plan_image(mslite_shape_context *context, const mslite_Resize *attributes,
                                const mslite_tensor *const *inputs, int32_t input_count, mslite_resize_plan *plan) {
  const mslite_tensor *x = inputs[0];
  int64_t sizes[4];
  float scales[4];
  int32_t count;
  int64_t height = attributes->new_height;
  int64_t width = attributes->new_width;
  if (input_count > 1 && mslite_read_entries(inputs[input_count - 1], sizes, 4, &count) && (count == 2 || count == 4)) {
    const int32_t at = count == 2 ? 0 : height_entry(x, sizes, NULL);
    height = sizes[at];
    width = sizes[at + 1];
  } else if (input_count > 1 && read_floats(inputs[input_count - 1], scales, 4, &count) && (count == 2 || count == 4)) {
    const int32_t at = count == 2 ? 0 : height_entry(x, NULL, scales);
    height = scaled_size(context, x->dims[1], scales[at]);
    width = scaled_size(context, x->dims[2], scales[at + 1]);
  } else if (input_count > 1) {
    height = mslite_new_symbol(context);
    width = mslite_new_symbol(context);
  }
  const mslite_status status = set_size(context, height, 1, plan);
  return status == MSLITE_OK ? set_size(context, width, 2, plan) : status;
}

mslite_status mslite_plan_resize(mslite_shape_context *context, const mslite_Resize *attributes,
                                 const mslite_tensor *const *inputs, int32_t input_count, mslite_resize_plan *plan) {
  plan_same(inputs[0], plan);
  plan->method = attributes->method;
  plan->coordinates = attributes->coordinate_transform_mode;
  plan->nearest = attributes->nearest_mode;
  plan->cubic_coeff = attributes->cubic_coeff;
  plan->exclude_outside = attributes->exclude_outside != 0;
  plan->extrapolation_value = attributes->extrapolation_value;
  if (inputs[0]->rank != 4) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "an image of 4 dimensions is needed");
  if (plan->method < MSLITE_RESIZE_METHOD_LINEAR || plan->method > MSLITE_RESIZE_METHOD_CUBIC ||
      plan->coordinates < RESIZE_ASYMMETRIC || plan->coordinates > RESIZE_HALF_PIXEL ||
      plan->nearest < MSLITE_NEAREST_MODE_NORMAL || plan->nearest > MSLITE_NEAREST_MODE_CEIL) {
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "an unknown method or mode");
  }
  if (attributes->preserve_aspect_ratio) {
    return mslite_shape_fail(context, MSLITE_ERROR_UNSUPPORTED, "preserve_aspect_ratio is not supported");
  }
  if (plan->nearest == MSLITE_NEAREST_MODE_NORMAL) {
    /* As TensorFlow: rounded with aligned corners, otherwise down; with half pixels from the pixel's center. */
    plan->nearest =
        plan->coordinates == RESIZE_ALIGN_CORNERS ? MSLITE_NEAREST_MODE_ROUND_HALF_UP : MSLITE_NEAREST_MODE_FLOOR;
    if (plan->method == MSLITE_RESIZE_METHOD_NEAREST && plan->coordinates == RESIZE_HALF_PIXEL) {
      plan->coordinates = RESIZE_TF_HALF_PIXEL_FOR_NN;
    }
  }
  return plan_image(context, attributes, inputs, input_count, plan);
}

static int32_t find_text(const char *text, const char *const *names, int32_t count, int32_t absent) {
  if (text == NULL) return absent;
  for (int32_t i = 0; i < count; ++i) {
    if (strcmp(text, names[i]) == 0) return i;
  }
  return -1;
}

static mslite_status read_modes(mslite_shape_context *context, const mslite_ResizeND *attributes,
                                mslite_resize_plan *plan, int32_t *policy) {
  static const char *const coordinates[] = {"asymmetric",         "align_corners",        "half_pixel",
                                            "pytorch_half_pixel", "half_pixel_symmetric", "tf_half_pixel_for_nn",
                                            "tf_crop_and_resize"};
  static const char *const nearest[] = {"", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  static const char *const policies[] = {"stretch", "not_larger", "not_smaller"};
  plan->method = attributes->method;
  plan->coordinates = find_text(attributes->coordinate_transformation_mode, coordinates, 7, RESIZE_HALF_PIXEL);
  plan->nearest = find_text(attributes->nearest_mode, nearest, 5, MSLITE_NEAREST_MODE_ROUND_HALF_DOWN);
  *policy = find_text(attributes->keep_aspect_ratio_policy, policies, 3, 0);
  plan->antialias = attributes->antialias;
  plan->exclude_outside = attributes->exclude_outside;
  plan->cubic_coeff = attributes->cubic_coeff;
  plan->extrapolation_value = attributes->extrapolation_value;
  if (plan->coordinates < 0 || plan->nearest < 1 || *policy < 0 || plan->method < MSLITE_RESIZE_METHOD_LINEAR ||
      plan->method > MSLITE_RESIZE_METHOD_CUBIC) {
    return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "an unknown method, mode or policy");
  }
  return MSLITE_OK;
}

static mslite_status plan_sizes(mslite_shape_context *context, const mslite_tensor *x, const int32_t *axes,
                                const int64_t *sizes, int32_t count, int32_t policy, mslite_resize_plan *plan) {
  float common = 0;
  for (int32_t i = 0; i < count && policy != 0; ++i) {
    if (mslite_is_symbol(sizes[i]) || mslite_is_symbol(x->dims[axes[i]]) || x->dims[axes[i]] == 0) {
      for (int32_t j = 0; j < count; ++j) plan->out[axes[j]] = mslite_new_symbol(context);
      return MSLITE_OK;
    }
    const float scale = (float)sizes[i] / (float)x->dims[axes[i]];
    if (i == 0 || (policy == 1 ? scale < common : scale > common)) common = scale;
  }
  for (int32_t i = 0; i < count; ++i) {
    const int64_t kept = policy == 0 ? sizes[i] : whole_size(common * (float)x->dims[axes[i]] + 0.5f);
    const mslite_status status = set_size(context, kept, axes[i], plan);
    if (status != MSLITE_OK) return status;
    if (policy != 0) plan->scale[axes[i]] = common;
  }
  return MSLITE_OK;
}

mslite_status mslite_plan_resize_nd(mslite_shape_context *context, const mslite_ResizeND *attributes,
                                    const mslite_tensor *const *inputs, int32_t input_count, mslite_resize_plan *plan) {
  const mslite_tensor *x = inputs[0];
  int32_t policy;
  int32_t axes[MSLITE_MAX_RANK];
  int32_t axis_count = attributes->axes.count > 0 ? attributes->axes.count : x->rank;
  plan_same(x, plan);
  const mslite_status status = read_modes(context, attributes, plan, &policy);
  if (status != MSLITE_OK) return status;
  if (axis_count > x->rank) return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "too many axes");
  for (int32_t i = 0; i < axis_count; ++i) {
    axes[i] = mslite_normalize_axis(attributes->axes.count > 0 ? attributes->axes.at[i] : i, x->rank);
    if (axes[i] < 0) return mslite_shape_fail(context, MSLITE_ERROR_ATTRIBUTE, "an axis is out of range");
  }
  float roi[2 * MSLITE_MAX_RANK];
  bool computed_roi = false;
  int32_t count;
  if (plan->coordinates == RESIZE_TF_CROP_AND_RESIZE) {
    if (input_count < 3) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "tf_crop_and_resize needs a region");
    computed_roi = inputs[2]->data == NULL;
    if (!computed_roi && (!read_floats(inputs[2], roi, 2 * MSLITE_MAX_RANK, &count) || count != 2 * axis_count)) {
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "tf_crop_and_resize needs two values per axis");
    }
    for (int32_t i = 0; i < axis_count && !computed_roi; ++i) {
      plan->roi_begin[axes[i]] = roi[i];
      plan->roi_end[axes[i]] = roi[axis_count + i];
    }
  }
  int64_t sizes[MSLITE_MAX_RANK];
  float scales[MSLITE_MAX_RANK];
  if (inputs[1]->type != MSLITE_FLOAT32 && mslite_read_entries(inputs[1], sizes, MSLITE_MAX_RANK, &count)) {
    if (count != axis_count)
      return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "%d sizes for %d axes", (int)count, (int)axis_count);
    return plan_sizes(context, x, axes, sizes, count, policy, plan);
  }
  if (computed_roi || !read_floats(inputs[1], scales, MSLITE_MAX_RANK, &count)) {
    for (int32_t i = 0; i < axis_count; ++i) plan->out[axes[i]] = mslite_new_symbol(context);
    return MSLITE_OK;
  }
  if (count != axis_count)
    return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "%d scales for %d axes", (int)count, (int)axis_count);
  for (int32_t i = 0; i < axis_count; ++i) {
    const int32_t axis = axes[i];
    const float part = plan->coordinates == RESIZE_TF_CROP_AND_RESIZE ? plan->roi_end[axis] - plan->roi_begin[axis] : 1;
    plan->scale[axis] = scales[i];
    const mslite_status set = set_size(context, scaled_size(context, x->dims[axis], scales[i] * part), axis, plan);
    if (set != MSLITE_OK || !(scales[i] > 0)) return mslite_shape_fail(context, MSLITE_ERROR_SHAPE, "an invalid scale");
  }
  return MSLITE_OK;
}
