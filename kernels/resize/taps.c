/* The taps of a resized dimension: source coordinates, computed in float32 like the source frameworks do, and
 * weights. */
#include "resize/taps.h"

#include <math.h>

#include "math/whole.h"

float mslite_resize_scale(const mslite_resize_plan *plan, int32_t axis, int64_t in, int64_t out) {
  return plan->scale[axis] > 0 ? plan->scale[axis] : (float)out / (float)in;
}

/* Returns the steps between the corners of the output. With a given scale, ONNX uses the output length before
 * truncation, which need not be an integer (values that differ from one only by rounding are rounded to it). */
static float corner_steps(const mslite_resize_plan *plan, int32_t axis, int64_t in, int64_t out) {
  const float length = plan->scale[axis] * (float)in;
  return length > 1 && fabsf(length - (float)out) > 1e-4f * length ? length - 1 : (float)(out - 1);
}

static float source_coordinate(const mslite_resize_plan *plan, int32_t axis, int64_t in, int64_t out, int64_t at) {
  const float x = (float)at;
  const float scale = mslite_resize_scale(plan, axis, in, out);
  const float step = plan->scale[axis] > 0 ? 0 : (float)in / (float)out; /* exact if the sizes are given */
  const float half = step > 0 ? (x + 0.5f) * step : (x + 0.5f) / scale;
  const float span = (float)(in - 1);
  switch (plan->coordinates) {
    case RESIZE_ASYMMETRIC:
      return step > 0 ? x * step : x / scale;
    case RESIZE_ALIGN_CORNERS:
      /* With nearest pixels that round half up, TensorFlow rounds the step first, ONNX only the product. */
      if (out == 1) return 0;
      if (step > 0 &&
          (plan->method != MSLITE_RESIZE_METHOD_NEAREST || plan->nearest == MSLITE_NEAREST_MODE_ROUND_HALF_UP)) {
        return x * (span / (float)(out - 1));
      }
      return x * span / corner_steps(plan, axis, in, out);
    case RESIZE_PYTORCH_HALF_PIXEL:
      return out > 1 ? half - 0.5f : 0;
    case RESIZE_HALF_PIXEL_SYMMETRIC: {
      const float adjustment = (float)out / (scale * (float)in);
      return (float)in / 2 * (1 - adjustment) + half - 0.5f;
    }
    case RESIZE_TF_HALF_PIXEL_FOR_NN:
      return half;
    case RESIZE_TF_CROP_AND_RESIZE: {
      const float begin = plan->roi_begin[axis];
      const float end = plan->roi_end[axis];
      return out > 1 ? begin * span + x * (end - begin) * span / (float)(out - 1) : 0.5f * (begin + end) * span;
    }
    default:
      return half - 0.5f;
  }
}

static int64_t clamped(int64_t index, int64_t size) { return index < 0 ? 0 : index >= size ? size - 1 : index; }

static int64_t nearest_index(int32_t mode, float x) {
  switch (mode) {
    case MSLITE_NEAREST_MODE_ROUND_HALF_DOWN:
      return mslite_truncate(ceilf(x - 0.5f));
    case MSLITE_NEAREST_MODE_CEIL:
      return mslite_truncate(ceilf(x));
    case MSLITE_NEAREST_MODE_ROUND_HALF_UP:
      return mslite_truncate(floorf(x + 0.5f));
    default:
      return mslite_truncate(floorf(x));
  }
}

/* R. Keys, Cubic convolution interpolation for digital image processing (1981), with free parameter a. */
static float cubic_weight(float distance, float a) {
  const float x = fabsf(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

int32_t mslite_resize_taps(const mslite_resize_plan *plan, float scale) {
  if (plan->method == MSLITE_RESIZE_METHOD_NEAREST) return 1;
  const int32_t radius = plan->method == MSLITE_RESIZE_METHOD_CUBIC ? 2 : 1;
  if (!plan->antialias || scale >= 1) return 2 * radius;
  const float reach = (float)radius / scale;
  return reach < (float)(MSLITE_MAX_TAPS / 2) ? 2 * (int32_t)ceilf(reach) : MSLITE_MAX_TAPS + 1;
}

int32_t mslite_resize_taps_at(const mslite_resize_plan *plan, int32_t axis, int64_t in, int64_t out, int64_t at,
                              int32_t taps, int32_t *index, float *weight) {
  const float scale = mslite_resize_scale(plan, axis, in, out);
  const float squeeze = plan->antialias && scale < 1 ? scale : 1;
  const float x = source_coordinate(plan, axis, in, out, at);
  const bool outside = plan->coordinates == RESIZE_TF_CROP_AND_RESIZE && (x < 0 || x > (float)(in - 1));
  if (plan->method == MSLITE_RESIZE_METHOD_NEAREST) {
    index[0] = (int32_t)clamped(nearest_index(plan->nearest, x), in);
    weight[0] = 1;
    return outside ? 0 : taps;
  }
  const float base = floorf(x);
  const float ratio = x - base;
  const int64_t first = mslite_truncate(base) - taps / 2 + 1;
  float sum = 0;
  for (int32_t i = 0; i < taps; ++i) {
    const float distance = ((float)(i - taps / 2 + 1) - ratio) * squeeze;
    const float linear = 1 - fabsf(distance);
    weight[i] = plan->method == MSLITE_RESIZE_METHOD_CUBIC ? cubic_weight(distance, plan->cubic_coeff)
                                                           : (linear > 0 ? linear : 0);
    if (plan->exclude_outside && (first + i < 0 || first + i >= in)) weight[i] = 0;
    index[i] = (int32_t)clamped(first + i, in);
    sum += weight[i];
  }
  if ((squeeze < 1 || plan->exclude_outside) && sum != 0) {
    for (int32_t i = 0; i < taps; ++i) weight[i] /= sum;
  }
  return outside ? 0 : taps;
}
