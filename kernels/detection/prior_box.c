/* PriorBox: the anchor boxes of SSD (a Caffe layer), [1, 2, 4 * boxes]: the corners, then the variances. */
#include "detection/prior_box.h"

#include <math.h>

#include "movement.h"

enum { PRIOR_SIZES = 32 };

typedef struct {
  int32_t min_count, max_count, ratio_count;
  int32_t flip, clip;
  float min_sizes[PRIOR_SIZES], max_sizes[PRIOR_SIZES], ratios[PRIOR_SIZES];
  float variances[4];
  float offset;
  int64_t height, width;
  float image_height, image_width;
  float step_height, step_width;
} prior_derived;

static bool is_square(float ratio) { return fabsf(ratio - 1) < 1e-6f; }

int64_t mslite_prior_count(const mslite_PriorBox *attributes) {
  int64_t ratios = 0;
  for (int32_t i = 0; i < attributes->aspect_ratios.count; ++i) {
    if (!is_square(attributes->aspect_ratios.at[i])) ratios += attributes->flip ? 2 : 1;
  }
  const int64_t sizes = attributes->min_sizes.count;
  const int64_t larger = attributes->max_sizes.count < sizes ? attributes->max_sizes.count : sizes;
  return sizes * (1 + ratios) + larger;
}

static int32_t prior_support(const mslite_node *node) {
  const mslite_PriorBox *attributes = node->params;
  const bool image = attributes->image_size_h > 0 && attributes->image_size_w > 0;
  return node->outputs[0]->type == MSLITE_FLOAT32 && (image || node->input_count > 1);
}

static mslite_status prior_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_PriorBox *attributes = node->params;
  prior_derived *numbers = derived;
  const mslite_tensor *x = node->inputs[0];
  if (x->rank != 4 || (node->input_count > 1 && node->inputs[1]->rank != 4)) return MSLITE_ERROR_SHAPE;
  if (attributes->variances.count != 0 && attributes->variances.count != 1 && attributes->variances.count != 4)
    return MSLITE_ERROR_ATTRIBUTE;
  const bool given = attributes->image_size_h > 0 && attributes->image_size_w > 0;
  if (attributes->min_sizes.count > PRIOR_SIZES || attributes->max_sizes.count > PRIOR_SIZES ||
      attributes->aspect_ratios.count > PRIOR_SIZES) {
    return MSLITE_ERROR_UNSUPPORTED;
  }
  numbers->min_count = attributes->min_sizes.count;
  numbers->max_count = attributes->max_sizes.count;
  numbers->ratio_count = attributes->aspect_ratios.count;
  for (int32_t i = 0; i < numbers->min_count; ++i) numbers->min_sizes[i] = (float)attributes->min_sizes.at[i];
  for (int32_t i = 0; i < numbers->max_count; ++i) numbers->max_sizes[i] = (float)attributes->max_sizes.at[i];
  for (int32_t i = 0; i < numbers->ratio_count; ++i) numbers->ratios[i] = attributes->aspect_ratios.at[i];
  for (int32_t i = 0; i < 4; ++i) {
    const int32_t count = attributes->variances.count;
    numbers->variances[i] = count == 0 ? 0.1f : attributes->variances.at[count == 1 ? 0 : i];
  }
  numbers->flip = attributes->flip;
  numbers->clip = attributes->clip;
  numbers->offset = attributes->offset;
  numbers->height = x->dims[1];
  numbers->width = x->dims[2];
  numbers->image_height = (float)(given ? attributes->image_size_h : node->inputs[1]->dims[1]);
  numbers->image_width = (float)(given ? attributes->image_size_w : node->inputs[1]->dims[2]);
  numbers->step_height = attributes->step_h > 0 ? attributes->step_h : numbers->image_height / (float)numbers->height;
  numbers->step_width = attributes->step_w > 0 ? attributes->step_w : numbers->image_width / (float)numbers->width;
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

static float *put_box(const prior_derived *n, float center_x, float center_y, float width, float height, float *to) {
  to[0] = (center_x - width / 2) / n->image_width;
  to[1] = (center_y - height / 2) / n->image_height;
  to[2] = (center_x + width / 2) / n->image_width;
  to[3] = (center_y + height / 2) / n->image_height;
  for (int32_t i = 0; n->clip && i < 4; ++i) to[i] = to[i] < 0 ? 0 : to[i] > 1 ? 1 : to[i];
  return to + 4;
}

static float *put_cell(const prior_derived *n, float x, float y, float *to) {
  for (int32_t i = 0; i < n->min_count; ++i) {
    const float size = n->min_sizes[i];
    to = put_box(n, x, y, size, size, to);
    if (i < n->max_count) {
      const float larger = sqrtf(size * n->max_sizes[i]);
      to = put_box(n, x, y, larger, larger, to);
    }
    for (int32_t j = 0; j < n->ratio_count; ++j) {
      if (is_square(n->ratios[j])) continue;
      const float root = sqrtf(n->ratios[j]);
      to = put_box(n, x, y, size * root, size / root, to);
      if (n->flip) to = put_box(n, x, y, size / root, size * root, to);
    }
  }
  return to;
}

static void prior_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const prior_derived *n = run->derived;
  float *begin = run->outputs[0];
  float *to = begin;
  for (int64_t row = 0; row < n->height; ++row) {
    for (int64_t column = 0; column < n->width; ++column) {
      to = put_cell(n, ((float)column + n->offset) * n->step_width, ((float)row + n->offset) * n->step_height, to);
    }
  }
  const int64_t count = to - begin;
  for (int64_t i = 0; i < count; ++i) to[i] = n->variances[i % 4];
}

MSLITE_MOVEMENT_KERNEL(prior_box, PriorBox, prior_derived, prior_support, prior_prepare, prior_run, NULL)
