/* Computes the weights of Resize on quantized integers.
 *
 * Arithmetic of the linear Resize: TensorFlow Lite's reference kernels, which scale coordinates by steps of 1/1024,
 * or compute in float32 for unsigned integers. */
#include "resize/resize_int8.h"

#include <math.h>
#include <string.h>

/* TensorFlow Lite's two taps along one dimension, in steps of 1/1024 of a pixel. */
static void fill_steps(const mslite_resize_int8 *numbers, int32_t axis, int64_t at, int32_t *index, int32_t *weight) {
  const int64_t in = numbers->in[axis], out = numbers->out[axis];
  const bool aligned = numbers->plan.coordinates == RESIZE_ALIGN_CORNERS && out > 1;
  const int64_t span = aligned ? out - 1 : out;
  const int64_t scale = (MSLITE_RESIZE_ONE * (aligned ? in - 1 : in) + span / 2) / span;
  int64_t place = at * scale;
  if (numbers->plan.coordinates == RESIZE_HALF_PIXEL) place += scale / 2 - MSLITE_RESIZE_ONE / 2;
  const int64_t low = place / MSLITE_RESIZE_ONE > 0 ? place / MSLITE_RESIZE_ONE : 0;
  const int64_t high = (place + MSLITE_RESIZE_ONE - 1) / MSLITE_RESIZE_ONE;
  index[0] = (int32_t)(low < in ? low : in - 1);
  index[1] = (int32_t)(high < in ? high : in - 1);
  weight[1] = (int32_t)(place - low * MSLITE_RESIZE_ONE);
  weight[0] = MSLITE_RESIZE_ONE - weight[1];
}

/* As fill_steps, in float32. */
static void fill_floats(const mslite_resize_int8 *numbers, int32_t axis, int64_t at, int32_t *index, int32_t *weight) {
  const int64_t in = numbers->in[axis], out = numbers->out[axis];
  const bool aligned = numbers->plan.coordinates == RESIZE_ALIGN_CORNERS && out > 1;
  const float scale = aligned ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
  const bool half = numbers->plan.coordinates == RESIZE_HALF_PIXEL;
  const float place = half ? ((float)at + 0.5f) * scale - 0.5f : (float)at * scale;
  const int64_t floor_of = (int64_t)floorf(place), high = (int64_t)ceilf(place);
  const int64_t low = floor_of > 0 ? floor_of : 0;
  const float part = place - (float)low, rest = 1 - part;
  index[0] = (int32_t)(low < in ? low : in - 1);
  index[1] = (int32_t)(high < in ? high : in - 1);
  memcpy(&weight[0], &rest, sizeof rest);
  memcpy(&weight[1], &part, sizeof part);
}

/* Clamps weights that result from extreme attributes, including NaN. */
static int32_t cut(double steps) {
  const double most = 1e6;
  return (int32_t)(steps > -most ? steps < most ? steps : most : -most);
}

/* Computes 10-bit weights with the same sum as the exact ones: the largest one takes the rounding error. */
static void fill_table(const mslite_resize_int8 *numbers, int32_t axis, int64_t at, int32_t *index, int32_t *weight) {
  const int32_t taps = numbers->taps[axis];
  float exact[MSLITE_RESIZE_SOURCES];
  mslite_resize_taps_at(&numbers->plan, axis, numbers->in[axis], numbers->out[axis], at, taps, index, exact);
  double sum = 0;
  int32_t total = 0, largest = 0;
  for (int32_t i = 0; i < taps; ++i) {
    weight[i] = cut((double)floorf(exact[i] * (float)MSLITE_RESIZE_ONE + 0.5f));
    sum += (double)exact[i];
    total += weight[i];
    if (exact[i] > exact[largest]) largest = i;
  }
  weight[largest] += cut(floor(sum * (double)MSLITE_RESIZE_ONE + 0.5)) - total;
}

void mslite_fill_resize_tables(const mslite_resize_int8 *numbers, void *shared) {
  for (int32_t axis = 0; axis < numbers->rank; ++axis) {
    if (numbers->taps[axis] == 0) continue;
    for (int64_t at = 0; at < numbers->out[axis]; ++at) {
      int32_t *index = mslite_resize_indices(numbers, shared, axis, at);
      int32_t *weight = index + numbers->taps[axis];
      if (numbers->arithmetic == MSLITE_RESIZE_STEPS) {
        fill_steps(numbers, axis, at, index, weight);
      } else if (numbers->arithmetic == MSLITE_RESIZE_FLOATS) {
        fill_floats(numbers, axis, at, index, weight);
      } else {
        fill_table(numbers, axis, at, index, weight);
      }
    }
  }
}
