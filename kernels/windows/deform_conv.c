/* DeformConv: one row of the result at a time. Its taps are sampled once per group of input channels and then summed
 * with the weights of every output channel. A part is one row of one image and group. */
#include <math.h>
#include <string.h>

#include "windows/window_lists.h"

typedef struct {
  mslite_window_lists window;
  int64_t channels, height, width;
  int64_t out_channels, out_height, out_width;
  int64_t kernel_height, kernel_width, taps;
  int64_t group, offset_group;
  int64_t group_in, group_out; /* channels per group */
  bool has_bias, has_mask;
} deform_derived;

static int32_t deform_support(const mslite_node *node) {
  for (int32_t i = 0; i < node->input_count; ++i) {
    if (node->inputs[i]->type != MSLITE_FLOAT32) return 0;
  }
  return node->input_count >= 3 && node->inputs[0]->rank == 4 && node->inputs[1]->rank == 4 &&
         node->inputs[2]->rank == 4;
}

static mslite_status deform_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_DeformConv *attributes = node->params;
  const mslite_tensor *x = node->inputs[0];
  const mslite_tensor *weight = node->inputs[1];
  const mslite_tensor *offset = node->inputs[2];
  const mslite_tensor *y = node->outputs[0];
  deform_derived *n = derived;
  if (!mslite_read_lists(2, &attributes->strides, &attributes->dilations, &attributes->pads, &n->window)) {
    return MSLITE_ERROR_ATTRIBUTE;
  }
  n->channels = x->dims[1];
  n->height = x->dims[2];
  n->width = x->dims[3];
  n->out_channels = weight->dims[0];
  n->out_height = y->dims[2];
  n->out_width = y->dims[3];
  n->kernel_height = weight->dims[2];
  n->kernel_width = weight->dims[3];
  n->taps = n->kernel_height * n->kernel_width;
  n->group = attributes->group;
  n->offset_group = attributes->offset_group;
  if (n->group < 1 || n->offset_group < 1 || n->channels % n->group != 0 || n->out_channels % n->group != 0 ||
      n->channels % n->offset_group != 0) {
    return MSLITE_ERROR_ATTRIBUTE;
  }
  n->group_in = n->channels / n->group;
  n->group_out = n->out_channels / n->group;
  const int64_t batch = x->dims[0];
  const int64_t rows = n->offset_group * n->taps;
  if (weight->dims[1] != n->group_in || offset->dims[0] != batch || offset->dims[1] != 2 * rows ||
      offset->dims[2] != n->out_height || offset->dims[3] != n->out_width) {
    return MSLITE_ERROR_SHAPE;
  }
  n->has_bias = node->input_count > 3;
  n->has_mask = node->input_count > 4;
  if (n->has_bias && mslite_element_count(node->inputs[3]) != n->out_channels) return MSLITE_ERROR_SHAPE;
  const int64_t mask = batch * rows * n->out_height * n->out_width;
  if (n->has_mask && mslite_element_count(node->inputs[4]) != mask) return MSLITE_ERROR_SHAPE;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)(batch * n->group * n->out_height);
  schedule->scratch_bytes = n->group_in * n->taps * n->out_width * (int64_t)sizeof(float);
  return MSLITE_OK;
}

static float pixel(const deform_derived *n, const float *plane, int64_t y, int64_t x) {
  return y < 0 || y >= n->height || x < 0 || x >= n->width ? 0.0f : plane[y * n->width + x];
}

/* Bilinear interpolation, with zeros outside of the image. */
static float sample(const deform_derived *n, const float *plane, float y, float x) {
  if (!(y > -1.0f && y < (float)n->height && x > -1.0f && x < (float)n->width)) return 0.0f;
  const float top = floorf(y), left = floorf(x);
  const float dy = y - top, dx = x - left;
  const int64_t i = (int64_t)top, j = (int64_t)left;
  const float upper = (1.0f - dx) * pixel(n, plane, i, j) + dx * pixel(n, plane, i, j + 1);
  const float lower = (1.0f - dx) * pixel(n, plane, i + 1, j) + dx * pixel(n, plane, i + 1, j + 1);
  return (1.0f - dy) * upper + dy * lower;
}

/* columns[channel of the group, tap, out_width] */
static void sample_row(const deform_derived *n, const mslite_run *run, int64_t image, int64_t group, int64_t row,
                       float *columns) {
  const float *x = (const float *)run->inputs[0] + image * n->channels * n->height * n->width;
  const int64_t out_plane = n->out_height * n->out_width;
  const float *offset = (const float *)run->inputs[2] + image * n->offset_group * n->taps * 2 * out_plane;
  const float *mask = n->has_mask ? run->inputs[4] : NULL;
  const int64_t sharing = n->channels / n->offset_group;
  for (int64_t c = 0; c < n->group_in; ++c) {
    const int64_t channel = group * n->group_in + c;
    const float *plane = x + channel * n->height * n->width;
    for (int64_t tap = 0; tap < n->taps; ++tap) {
      const int64_t at = channel / sharing * n->taps + tap;
      const float *shift_y = offset + 2 * at * out_plane + row * n->out_width;
      const float *shift_x = shift_y + out_plane;
      const float *factor =
          mask == NULL ? NULL : mask + (image * n->offset_group * n->taps + at) * out_plane + row * n->out_width;
      const int64_t first_y =
          row * n->window.stride[0] - n->window.begin[0] + tap / n->kernel_width * n->window.dilation[0];
      const int64_t first_x = -n->window.begin[1] + tap % n->kernel_width * n->window.dilation[1];
      float *to = columns + (c * n->taps + tap) * n->out_width;
      for (int64_t i = 0; i < n->out_width; ++i) {
        const float column = (float)(first_x + i * n->window.stride[1]);
        const float value = sample(n, plane, (float)first_y + shift_y[i], column + shift_x[i]);
        to[i] = factor == NULL ? value : value * factor[i];
      }
    }
  }
}

static void deform_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const deform_derived *n = run->derived;
  const int64_t row = part % n->out_height;
  const int64_t group = part / n->out_height % n->group;
  const int64_t image = part / n->out_height / n->group;
  const float *bias = n->has_bias ? run->inputs[3] : NULL;
  const int64_t depth = n->group_in * n->taps;
  float *columns = run->scratch;
  sample_row(n, run, image, group, row, columns);
  for (int64_t c = 0; c < n->group_out; ++c) {
    const int64_t channel = group * n->group_out + c;
    const float *weight = (const float *)run->inputs[1] + channel * depth;
    float *y = (float *)run->outputs[0] + ((image * n->out_channels + channel) * n->out_height + row) * n->out_width;
    for (int64_t i = 0; i < n->out_width; ++i) y[i] = bias == NULL ? 0.0f : bias[channel];
    for (int64_t k = 0; k < depth; ++k) {
      const float *from = columns + k * n->out_width;
      for (int64_t i = 0; i < n->out_width; ++i) y[i] += weight[k] * from[i];
    }
  }
}

const mslite_kernel mslite_kernel_deform_conv = {
    .name = "deform_conv_scalar",
    .op = MSLITE_OP_DeformConv,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(deform_derived),
    .support = deform_support,
    .prepare = deform_prepare,
    .run = deform_run,
};
