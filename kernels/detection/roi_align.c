/* RoiAlign (NCHW), as defined by ONNX. One part is one region. */
#include <math.h>
#include <string.h>

#include "movement.h"

typedef struct {
  int64_t batch, channels, height, width, out_height, out_width, samples;
  float scale;
  int32_t shifted, maximum, index_type;
} roi_derived;

static int32_t roi_support(const mslite_node *node) {
  return node->input_count == 3 && node->inputs[0]->type == MSLITE_FLOAT32 && node->inputs[1]->type == MSLITE_FLOAT32 &&
         (node->inputs[2]->type == MSLITE_INT64 || node->inputs[2]->type == MSLITE_INT32);
}

static mslite_status roi_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_RoiAlign *a = node->params;
  const mslite_tensor *x = node->inputs[0];
  const mslite_tensor *rois = node->inputs[1];
  roi_derived *n = derived;
  if (x->rank != 4 || rois->rank != 2 || rois->dims[1] != 4 || mslite_element_count(node->inputs[2]) != rois->dims[0]) {
    return MSLITE_ERROR_SHAPE;
  }
  n->maximum = a->mode != NULL && strcmp(a->mode, "max") == 0;
  if (a->mode != NULL && !n->maximum && strcmp(a->mode, "avg") != 0) return MSLITE_ERROR_ATTRIBUTE;
  if (rois->dims[0] > INT32_MAX || a->sampling_ratio < 0 || a->sampling_ratio > 1024) return MSLITE_ERROR_UNSUPPORTED;
  n->batch = x->dims[0];
  n->channels = x->dims[1];
  n->height = x->dims[2];
  n->width = x->dims[3];
  n->out_height = a->output_height;
  n->out_width = a->output_width;
  n->samples = a->sampling_ratio;
  n->scale = a->spatial_scale;
  n->shifted = a->half_pixel;
  n->index_type = node->inputs[2]->type;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)rois->dims[0];
  return MSLITE_OK;
}

/* Finds the two neighbors of a coordinate and the weight of the upper one. Returns false outside of the image. */
static bool neighbors(float at, int64_t size, int64_t *low, int64_t *high, float *weight) {
  if (!(at >= -1) || at > (float)size || size == 0) return false;
  if (at < 0) at = 0;
  *low = (int64_t)at;
  if (*low >= size - 1) {
    *low = *high = size - 1;
    *weight = 0;
    return true;
  }
  *high = *low + 1;
  *weight = at - (float)*low;
  return true;
}

static float bin_value(const roi_derived *n, const float *image, float top, float left, float height, float width,
                       int64_t rows, int64_t columns) {
  float result = 0;
  bool first = true;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const float y = top + ((float)i + 0.5f) * height / (float)rows;
      const float x = left + ((float)j + 0.5f) * width / (float)columns;
      int64_t y0, y1, x0, x1;
      float dy, dx;
      float v[4] = {0, 0, 0, 0};
      if (neighbors(y, n->height, &y0, &y1, &dy) && neighbors(x, n->width, &x0, &x1, &dx)) {
        v[0] = (1 - dy) * (1 - dx) * image[y0 * n->width + x0];
        v[1] = (1 - dy) * dx * image[y0 * n->width + x1];
        v[2] = dy * (1 - dx) * image[y1 * n->width + x0];
        v[3] = dy * dx * image[y1 * n->width + x1];
      }
      if (!n->maximum) {
        result += v[0] + v[1] + v[2] + v[3];
        continue;
      }
      for (int32_t k = 0; k < 4; ++k) { /* ONNX uses the maximum of the weighted neighbors, not of their sums */
        if (first || v[k] > result) result = v[k];
        first = false;
      }
    }
  }
  const int64_t count = rows * columns;
  return n->maximum ? result : result / (float)(count > 1 ? count : 1);
}

static void roi_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const roi_derived *n = run->derived;
  const float *roi = (const float *)run->inputs[1] + 4 * (int64_t)part;
  const float shift = n->shifted ? 0.5f : 0;
  const float left = roi[0] * n->scale - shift;
  const float top = roi[1] * n->scale - shift;
  float width = roi[2] * n->scale - shift - left;
  float height = roi[3] * n->scale - shift - top;
  if (!n->shifted && !(width > 1)) width = 1;
  if (!n->shifted && !(height > 1)) height = 1;
  const float bin_height = height / (float)n->out_height;
  const float bin_width = width / (float)n->out_width;
  const float wanted_rows = ceilf(bin_height);
  const float wanted_columns = ceilf(bin_width);
  const int64_t rows = n->samples > 0 ? n->samples : wanted_rows > 0 && wanted_rows < 65536 ? (int64_t)wanted_rows : 0;
  const int64_t columns = n->samples > 0                                 ? n->samples
                          : wanted_columns > 0 && wanted_columns < 65536 ? (int64_t)wanted_columns
                                                                         : 0;
  const int64_t batch = mslite_integer_at(run->inputs[2], n->index_type, part);
  float *y = (float *)run->outputs[0] + part * n->channels * n->out_height * n->out_width;
  if (batch < 0 || batch >= n->batch) {
    memset(y, 0, (size_t)(n->channels * n->out_height * n->out_width) * sizeof *y);
    return;
  }
  for (int64_t channel = 0; channel < n->channels; ++channel) {
    const float *image = (const float *)run->inputs[0] + (batch * n->channels + channel) * n->height * n->width;
    for (int64_t i = 0; i < n->out_height; ++i) {
      for (int64_t j = 0; j < n->out_width; ++j) {
        *y++ = bin_value(n, image, top + (float)i * bin_height, left + (float)j * bin_width, bin_height, bin_width,
                         rows, columns);
      }
    }
  }
}

MSLITE_MOVEMENT_KERNEL(roi_align, RoiAlign, roi_derived, roi_support, roi_prepare, roi_run, NULL)
