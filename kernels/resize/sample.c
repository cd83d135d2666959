/* CropAndResize (NHWC boxes) and GridSampler (NCHW images or volumes at given coordinates). */
#include <math.h>
#include <string.h>

#include "movement.h"

typedef struct {
  int64_t batch, height, width, channels; /* of the images */
  int64_t boxes, out_height, out_width;
  int32_t nearest;
  float outside;
} crop_derived;

static int32_t crop_support(const mslite_node *node) {
  const int32_t method = ((const mslite_CropAndResize *)node->params)->method;
  return node->input_count == 4 && node->inputs[0]->type == MSLITE_FLOAT32 && node->inputs[1]->type == MSLITE_FLOAT32 &&
         node->inputs[2]->type == MSLITE_INT32 &&
         (method == MSLITE_RESIZE_METHOD_LINEAR || method == MSLITE_RESIZE_METHOD_NEAREST);
}

static mslite_status crop_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_CropAndResize *attributes = node->params;
  const mslite_tensor *x = node->inputs[0];
  const mslite_tensor *y = node->outputs[0];
  const crop_derived numbers = {.batch = x->dims[0],
                                .height = x->dims[1],
                                .width = x->dims[2],
                                .channels = x->dims[3],
                                .boxes = y->dims[0],
                                .out_height = y->dims[1],
                                .out_width = y->dims[2],
                                .nearest = attributes->method == MSLITE_RESIZE_METHOD_NEAREST,
                                .outside = attributes->extrapolation_value};
  const bool boxes = node->inputs[1]->rank == 2 && node->inputs[1]->dims[1] == 4;
  if (x->rank != 4 || !boxes || mslite_element_count(node->inputs[2]) != y->dims[0]) return MSLITE_ERROR_SHAPE;
  if (y->dims[0] * y->dims[1] > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  memcpy(derived, &numbers, sizeof numbers);
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)(y->dims[0] * y->dims[1]);
  return MSLITE_OK;
}

static float crop_coordinate(float begin, float end, int64_t at, int64_t out, int64_t size) {
  const float span = (float)(size - 1);
  if (out <= 1) return 0.5f * (begin + end) * span;
  return begin * span + (float)at * ((end - begin) * span / (float)(out - 1));
}

/* One part is one row of one box. */
static void crop_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const crop_derived *n = run->derived;
  const int64_t box = part / n->out_height;
  const float *corners = (const float *)run->inputs[1] + box * 4;
  const int64_t image = ((const int32_t *)run->inputs[2])[box];
  const float y = crop_coordinate(corners[0], corners[2], part % n->out_height, n->out_height, n->height);
  const bool row_inside = image >= 0 && image < n->batch && y >= 0 && y <= (float)(n->height - 1);
  for (int64_t column = 0; column < n->out_width; ++column) {
    float *to = (float *)run->outputs[0] + (part * n->out_width + column) * n->channels;
    const float x = crop_coordinate(corners[1], corners[3], column, n->out_width, n->width);
    if (!row_inside || !(x >= 0 && x <= (float)(n->width - 1))) {
      for (int64_t c = 0; c < n->channels; ++c) to[c] = n->outside;
      continue;
    }
    const float *from = (const float *)run->inputs[0] + image * n->height * n->width * n->channels;
    if (n->nearest) {
      const int64_t row = (int64_t)roundf(y);
      memcpy(to, from + (row * n->width + (int64_t)roundf(x)) * n->channels, (size_t)n->channels * sizeof *to);
      continue;
    }
    const int64_t top = (int64_t)floorf(y);
    const int64_t left = (int64_t)floorf(x);
    const float dy = y - (float)top;
    const float dx = x - (float)left;
    const float *a = from + (top * n->width + left) * n->channels;
    const float *b = from + (top * n->width + (int64_t)ceilf(x)) * n->channels;
    const int64_t down = ((int64_t)ceilf(y) - top) * n->width * n->channels;
    for (int64_t c = 0; c < n->channels; ++c) {
      const float upper = a[c] + (b[c] - a[c]) * dx;
      const float lower = a[c + down] + (b[c + down] - a[c + down]) * dx;
      to[c] = upper + (lower - upper) * dy;
    }
  }
}

enum { GRID_LINEAR, GRID_NEAREST, GRID_CUBIC };
enum { GRID_ZEROS, GRID_BORDER, GRID_REFLECTION };
enum { GRID_POINTS_PER_PART = 256, GRID_AXES = 3, GRID_TAPS = 4 };

typedef struct {
  int32_t axes, mode, padding, align;
  int64_t batch, channels, points;
  int64_t parts_per_image;
  int64_t size[GRID_AXES]; /* depth (or 1), height, width */
  int64_t stride[GRID_AXES];
} grid_derived;

static int32_t grid_support(const mslite_node *node) {
  return node->input_count == 2 && node->inputs[0]->type == MSLITE_FLOAT32 && node->inputs[1]->type == MSLITE_FLOAT32;
}

static mslite_status grid_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_GridSampler *attributes = node->params;
  const mslite_tensor *x = node->inputs[0];
  const mslite_tensor *y = node->outputs[0];
  grid_derived *numbers = derived;
  memset(numbers, 0, sizeof *numbers);
  numbers->axes = x->rank - 2;
  if (numbers->axes < 2 || numbers->axes > GRID_AXES) return MSLITE_ERROR_SHAPE;
  if (attributes->interpolation_mode < GRID_LINEAR || attributes->interpolation_mode > GRID_CUBIC ||
      attributes->padding_mode < GRID_ZEROS || attributes->padding_mode > GRID_REFLECTION) {
    return MSLITE_ERROR_ATTRIBUTE;
  }
  numbers->mode = (int32_t)attributes->interpolation_mode;
  numbers->padding = (int32_t)attributes->padding_mode;
  numbers->align = attributes->align_corners;
  numbers->batch = x->dims[0];
  numbers->channels = x->dims[1];
  numbers->points = 1;
  int64_t stride = 1;
  for (int32_t i = numbers->axes - 1; i >= 0; --i) {
    numbers->size[i] = x->dims[2 + i];
    numbers->stride[i] = stride;
    stride *= x->dims[2 + i];
    numbers->points *= y->dims[2 + i];
  }
  const mslite_tensor *grid = node->inputs[1];
  if (grid->rank != x->rank || grid->dims[grid->rank - 1] != numbers->axes || grid->dims[0] != x->dims[0])
    return MSLITE_ERROR_SHAPE;
  if (stride == 0 && numbers->points > 0) return MSLITE_ERROR_SHAPE;
  numbers->parts_per_image = (numbers->points + GRID_POINTS_PER_PART - 1) / GRID_POINTS_PER_PART;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)(numbers->parts_per_image * numbers->batch);
  return MSLITE_OK;
}

/* Returns `x`, mirrored at `low` and `high` until it is between them. */
static float reflect(float x, float low, float high) {
  const float span = high - low;
  if (!(span > 0)) return 0;
  const float distance = fabsf(x - low);
  const float times = floorf(distance / span);
  const float rest = distance - times * span;
  return fmodf(times, 2) == 0 ? low + rest : high - rest;
}

static float padded(const grid_derived *n, float x, int64_t size) {
  const float last = (float)(size - 1);
  if (n->padding == GRID_REFLECTION) {
    x = n->align ? reflect(x, 0, last) : reflect(x, -0.5f, last + 0.5f);
  }
  if (n->padding != GRID_ZEROS) x = x < 0 ? 0 : x > last ? last : x;
  return x;
}

static float grid_cubic(float distance) {
  const float a = -0.75f;
  const float x = fabsf(distance);
  return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

/* Finds the taps of one coordinate along one axis; an index of -1 is a zero. Returns their number. */
static int32_t grid_taps(const grid_derived *n, float coordinate, int64_t size, int64_t *index, float *weight) {
  float x = n->align ? (coordinate + 1) / 2 * (float)(size - 1) : ((coordinate + 1) * (float)size - 1) / 2;
  if (!(x > -1e9f && x < 1e9f)) x = -1e9f; /* far outside; also for NaN */
  if (n->mode != GRID_CUBIC) x = padded(n, x, size);
  const float base = n->mode == GRID_NEAREST ? rintf(x) : floorf(x);
  const int32_t taps = n->mode == GRID_NEAREST ? 1 : n->mode == GRID_LINEAR ? 2 : 4;
  const int32_t first = n->mode == GRID_CUBIC ? -1 : 0;
  for (int32_t i = 0; i < taps; ++i) {
    const float place = base + (float)(first + i);
    const float distance = x - place;
    weight[i] = n->mode == GRID_NEAREST ? 1 : n->mode == GRID_LINEAR ? 1 - fabsf(distance) : grid_cubic(distance);
    const float kept = n->mode == GRID_CUBIC ? padded(n, place, size) : place;
    index[i] = kept >= 0 && kept <= (float)(size - 1) ? (int64_t)kept : -1;
  }
  return taps;
}

static void grid_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const grid_derived *n = run->derived;
  const int64_t image = part / n->parts_per_image;
  const int64_t begin = part % n->parts_per_image * GRID_POINTS_PER_PART;
  const int64_t end = n->points - begin < GRID_POINTS_PER_PART ? n->points : begin + GRID_POINTS_PER_PART;
  const int64_t pixels = n->stride[0] * n->size[0];
  for (int64_t point = begin; point < end; ++point) {
    const float *at = (const float *)run->inputs[1] + (image * n->points + point) * n->axes;
    int64_t index[GRID_AXES][GRID_TAPS];
    float weight[GRID_AXES][GRID_TAPS];
    int32_t taps = 1;
    int32_t combinations = 1;
    for (int32_t axis = 0; axis < n->axes; ++axis) {
      taps = grid_taps(n, at[n->axes - 1 - axis], n->size[axis], index[axis], weight[axis]);
      combinations *= taps;
    }
    for (int64_t channel = 0; channel < n->channels; ++channel) {
      const float *from = (const float *)run->inputs[0] + (image * n->channels + channel) * pixels;
      float sum = 0;
      for (int32_t combination = 0; combination < combinations; ++combination) {
        int32_t rest = combination;
        int64_t source = 0;
        float product = 1;
        for (int32_t axis = n->axes - 1; axis >= 0; --axis) {
          const int32_t tap = rest % taps;
          rest /= taps;
          product *= weight[axis][tap];
          source = source < 0 || index[axis][tap] < 0 ? -1 : source + index[axis][tap] * n->stride[axis];
        }
        if (source >= 0) sum += product * from[source];
      }
      ((float *)run->outputs[0])[(image * n->channels + channel) * n->points + point] = sum;
    }
  }
}

MSLITE_MOVEMENT_KERNEL(crop_and_resize, CropAndResize, crop_derived, crop_support, crop_prepare, crop_run, NULL)
MSLITE_MOVEMENT_KERNEL(grid_sampler, GridSampler, grid_derived, grid_support, grid_prepare, grid_run, NULL)
