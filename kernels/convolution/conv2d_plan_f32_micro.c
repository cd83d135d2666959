#include "convolution/conv2d_f32_micro.h"

enum { MOST = INT32_MAX / 16, MAX_TAPS = 4096 };

bool micro_float_axis_fits(const mslite_axis *axis) {
  return axis->input <= MOST && axis->output <= MOST / MAX_TAPS && axis->kernel <= MAX_TAPS &&
         axis->stride <= MAX_TAPS && axis->dilation <= MAX_TAPS && axis->pad_before <= MOST &&
         axis->pad_before >= -MOST;
}

micro_float_axis micro_float_axis_of(const mslite_axis *axis) {
  const micro_float_axis result = {(int32_t)axis->input,  (int32_t)axis->output,   (int32_t)axis->kernel,
                                   (int32_t)axis->stride, (int32_t)axis->dilation, (int32_t)axis->pad_before};
  return result;
}

int64_t micro_float_rows_lead(const micro_float_axis *height, int64_t images, int64_t x_row, int64_t y_row) {
  int64_t lead = 0;
  for (int64_t image = 0; image < images; ++image) {
    for (int64_t row = 0; row < height->output; ++row) {
      int64_t first = row * height->stride - height->pad;
      first = first < 0 ? 0 : first > height->input ? height->input : first;
      const int64_t over = (image * height->output + row + 1) * y_row - (image * height->input + first) * x_row;
      if (over > lead) lead = over;
    }
  }
  return lead * (int64_t)sizeof(float);
}

bool micro_float_convolution_fits(const mslite_node *node, mslite_convolution *g) {
  return node->inputs[1]->data != NULL && micro_float_convolution_is_small(node, g);
}

bool micro_float_convolution_is_small(const mslite_node *node, mslite_convolution *g) {
  if (!mslite_convolution_fits(node, MSLITE_FLOAT32, g)) return false;
  if (node->op == MSLITE_OP_Conv2DAddFusion && node->inputs[3]->type != MSLITE_FLOAT32) return false;
  return micro_float_axis_fits(&g->height) && micro_float_axis_fits(&g->width) && g->out_channels <= MOST &&
         mslite_element_count(node->inputs[0]) <= MOST && mslite_element_count(node->inputs[1]) <= MOST &&
         mslite_element_count(node->outputs[0]) <= MOST;
}

static bool is_pixel(const mslite_axis *axis) {
  return axis->kernel == 1 && axis->stride == 1 && axis->pad_before == 0 && axis->output == axis->input;
}

mslite_status micro_float_convolution_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  micro_float_convolution *own = derived;
  mslite_convolution g;
  const mslite_status status = mslite_convolution_of(node, &g);
  if (status != MSLITE_OK) return status;
  memset(own, 0, sizeof *own);
  /* The division into rows does not matter: all pixels are one row. */
  if (is_pixel(&g.height) && is_pixel(&g.width)) {
    g.width.input = g.width.output = g.batch * g.height.output * g.width.output;
    g.height.input = g.height.output = g.batch = 1;
  }
  own->height = micro_float_axis_of(&g.height);
  own->width = micro_float_axis_of(&g.width);
  own->in_channels = (int32_t)g.in_channels;
  own->out_channels = (int32_t)g.out_channels;
  own->groups = (int32_t)g.group;
  own->group_in = (int32_t)g.group_in;
  own->group_out = (int32_t)g.group_out;
  own->has_bias = g.has_bias;
  own->has_residual = node->op == MSLITE_OP_Conv2DAddFusion;
  own->activation = MSLITE_ACTIVATION_TYPE_NO_ACTIVATION;
  if (!micro_float_limits(g.activation, &own->low, &own->high)) own->activation = g.activation;
  schedule->phase_count = 1;
  schedule->part_count[0] = g.width.output == 0 ? 0 : (int32_t)(g.batch * g.height.output);
  return MSLITE_OK;
}

int64_t micro_float_convolution_lead(const mslite_node *node, const void *derived, int32_t input) {
  const micro_float_convolution *own = derived;
  const micro_float_axis *height = &own->height, *width = &own->width;
  if (input != 0) return input == 3 && own->has_residual ? 0 : -1;
  const int64_t x_row = (int64_t)width->input * own->in_channels, y_row = (int64_t)width->output * own->out_channels;
  if (height->input == 1 && height->output == 1 && width->kernel == 1 && width->stride == 1 && width->pad == 0) {
    /* Several pixels are written while they and all later ones are still read. */
    const int64_t some = width->output < MICRO_FLOAT_PIXELS ? width->output : MICRO_FLOAT_PIXELS;
    const int64_t lead = some * own->out_channels;
    const int64_t last = y_row - (width->output - some) * own->in_channels;
    return (last > lead ? last : lead) * (int64_t)sizeof(float);
  }
  const int64_t image_size = height->input * x_row;
  const int64_t images = image_size == 0 ? 0 : mslite_element_count(node->inputs[0]) / image_size;
  return micro_float_rows_lead(height, images, x_row, y_row);
}
