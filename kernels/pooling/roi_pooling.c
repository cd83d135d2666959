/* ROIPooling (Caffe): the maximum in each bin of each region of NHWC images; regions are rows (image, x1, y1, x2,
 * y2). One part is one region. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "movement.h"

enum { REGION = 5, FARTHEST = 1 << 28 };

typedef struct {
  int64_t batch, height, width, channels, bins_h, bins_w;
  float scale;
} roi_derived;

static int32_t roi_support(const mslite_node *node) {
  return node->input_count == 2 && node->inputs[0]->type == MSLITE_FLOAT32 && node->inputs[1]->type == MSLITE_FLOAT32;
}

static mslite_status roi_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_ROIPooling *a = node->params;
  const mslite_tensor *x = node->inputs[0];
  const mslite_tensor *rois = node->inputs[1];
  roi_derived *n = derived;
  if (x->rank != 4 || rois->rank != 2 || rois->dims[1] != REGION) return MSLITE_ERROR_SHAPE;
  if (rois->dims[0] > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  n->batch = x->dims[0];
  n->height = x->dims[1];
  n->width = x->dims[2];
  n->channels = x->dims[3];
  n->bins_h = a->pooled_h;
  n->bins_w = a->pooled_w;
  n->scale = a->scale;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)rois->dims[0];
  return MSLITE_OK;
}

/* Converts a coordinate to an integer, clamped to +-FARTHEST. */
static int64_t whole(float value) {
  if (!(value > -FARTHEST)) return -FARTHEST;
  return value < (float)FARTHEST ? (int64_t)value : FARTHEST;
}

/* Finds the pixels [*from, *to) of bin `at` in a region that begins at `start`. */
static void bin_range(int64_t at, float size, int64_t start, int64_t limit, int64_t *from, int64_t *to) {
  *from = start + whole(floorf((float)at * size));
  *to = start + whole(ceilf((float)(at + 1) * size));
  *from = *from < 0 ? 0 : *from > limit ? limit : *from;
  *to = *to < 0 ? 0 : *to > limit ? limit : *to;
}

static void bin_maximum(const roi_derived *n, const float *image, const int64_t rows[2], const int64_t columns[2],
                        float *y) {
  const bool empty = rows[1] <= rows[0] || columns[1] <= columns[0];
  for (int64_t c = 0; c < n->channels; ++c) y[c] = empty ? 0 : -FLT_MAX;
  if (empty) return;
  for (int64_t i = rows[0]; i < rows[1]; ++i) {
    for (int64_t j = columns[0]; j < columns[1]; ++j) {
      const float *x = image + (i * n->width + j) * n->channels;
      for (int64_t c = 0; c < n->channels; ++c) y[c] = x[c] > y[c] ? x[c] : y[c];
    }
  }
}

static void roi_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const roi_derived *n = run->derived;
  const float *roi = (const float *)run->inputs[1] + REGION * (int64_t)part;
  float *y = (float *)run->outputs[0] + part * n->bins_h * n->bins_w * n->channels;
  const int64_t index = whole(roi[0]);
  if (index < 0 || index >= n->batch) {
    memset(y, 0, (size_t)(n->bins_h * n->bins_w * n->channels) * sizeof *y);
    return;
  }
  const float *image = (const float *)run->inputs[0] + index * n->height * n->width * n->channels;
  const int64_t left = whole(roundf(roi[1] * n->scale));
  const int64_t top = whole(roundf(roi[2] * n->scale));
  int64_t width = whole(roundf(roi[3] * n->scale)) - left + 1;
  int64_t height = whole(roundf(roi[4] * n->scale)) - top + 1;
  if (width < 1) width = 1;
  if (height < 1) height = 1;
  const float bin_h = (float)height / (float)n->bins_h;
  const float bin_w = (float)width / (float)n->bins_w;
  for (int64_t i = 0; i < n->bins_h; ++i) {
    int64_t rows[2];
    bin_range(i, bin_h, top, n->height, &rows[0], &rows[1]);
    for (int64_t j = 0; j < n->bins_w; ++j) {
      int64_t columns[2];
      bin_range(j, bin_w, left, n->width, &columns[0], &columns[1]);
      bin_maximum(n, image, rows, columns, y);
      y += n->channels;
    }
  }
}

MSLITE_MOVEMENT_KERNEL(roi_pooling, ROIPooling, roi_derived, roi_support, roi_prepare, roi_run, NULL)
