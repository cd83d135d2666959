/* ResizeGrad, NHWC: every element of the image gets from dy what it contributed. One part is one row of the image,
 * which finds the rows of dy that read it. */
#include <string.h>

#include "resize/taps.h"

enum { TAPS = 2 };

typedef struct {
  int64_t batch, channels;
  int64_t height, width;       /* of dx */
  int64_t dy_height, dy_width; /* of dy */
  mslite_resize_plan plan;
  int32_t taps;
} resize_grad_derived;

static int32_t support(const mslite_node *node) {
  const int32_t method = ((const mslite_ResizeGrad *)node->params)->method;
  return node->inputs[0]->type == MSLITE_FLOAT32 &&
         (method == MSLITE_RESIZE_METHOD_LINEAR || method == MSLITE_RESIZE_METHOD_NEAREST);
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  resize_grad_derived *numbers = derived;
  const mslite_ResizeGrad *attributes = node->params;
  const mslite_tensor *dy = node->inputs[0], *dx = node->outputs[0];
  memset(numbers, 0, sizeof *numbers);
  if (dy->rank != 4 || dx->rank != 4) return MSLITE_ERROR_SHAPE;
  if (dy->dims[0] != dx->dims[0] || dy->dims[3] != dx->dims[3]) return MSLITE_ERROR_SHAPE;
  numbers->batch = dx->dims[0];
  numbers->height = dx->dims[1];
  numbers->width = dx->dims[2];
  numbers->channels = dx->dims[3];
  numbers->dy_height = dy->dims[1];
  numbers->dy_width = dy->dims[2];
  numbers->plan.method = attributes->method;
  numbers->plan.coordinates = attributes->align_corners ? RESIZE_ALIGN_CORNERS : RESIZE_ASYMMETRIC;
  numbers->plan.nearest = attributes->align_corners ? MSLITE_NEAREST_MODE_ROUND_HALF_UP : MSLITE_NEAREST_MODE_FLOOR;
  numbers->taps = attributes->method == MSLITE_RESIZE_METHOD_NEAREST ? 1 : TAPS;
  const int64_t rows = mslite_element_count(dx) > 0 ? numbers->batch * numbers->height : 0;
  if (rows > INT32_MAX || numbers->height > INT32_MAX || numbers->width > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)rows;
  return MSLITE_OK;
}

/* Adds `factor` times a row of dy to a row of dx. */
static void add_row(const resize_grad_derived *numbers, const float *dy, float factor, float *dx) {
  int32_t index[TAPS];
  float weight[TAPS];
  for (int64_t at = 0; at < numbers->dy_width; ++at, dy += numbers->channels) {
    mslite_resize_taps_at(&numbers->plan, 2, numbers->width, numbers->dy_width, at, numbers->taps, index, weight);
    for (int32_t tap = 0; tap < numbers->taps; ++tap) {
      const float share = factor * weight[tap];
      float *target = dx + index[tap] * numbers->channels;
      for (int64_t c = 0; c < numbers->channels; ++c) target[c] += dy[c] * share;
    }
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const resize_grad_derived *numbers = run->derived;
  const int64_t image = part / numbers->height, row = part % numbers->height;
  const int64_t dy_row = numbers->dy_width * numbers->channels;
  const float *dy = (const float *)run->inputs[0] + image * numbers->dy_height * dy_row;
  float *dx = (float *)run->outputs[0] + part * numbers->width * numbers->channels;
  int32_t index[TAPS];
  float weight[TAPS];
  memset(dx, 0, (size_t)(numbers->width * numbers->channels) * sizeof(float));
  for (int64_t at = 0; at < numbers->dy_height; ++at) {
    mslite_resize_taps_at(&numbers->plan, 1, numbers->height, numbers->dy_height, at, numbers->taps, index, weight);
    float factor = 0;
    for (int32_t tap = 0; tap < numbers->taps; ++tap) {
      if (index[tap] == row) factor += weight[tap];
    }
    if (factor != 0) add_row(numbers, dy + at * dy_row, factor, dx);
  }
}

const mslite_kernel mslite_kernel_resize_grad = {
    .name = "resize_grad_scalar",
    .op = MSLITE_OP_ResizeGrad,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(resize_grad_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
};
