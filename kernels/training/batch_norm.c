/* Batch normalisation by the statistics of the batch, channels last, and the gradient of batch normalisation. One part
 * is a block of channels; sums are in double, one row after the other. */
#include <math.h>

#include "kernel.h"

enum { PART_CHANNELS = 16 };

typedef struct {
  int64_t rows, channels;
  double epsilon, momentum;
  int64_t degrees;          /* BatchNormTraining: what the running variance divides squares by */
  int32_t batch_statistics; /* BatchNormGrad: mean and variance depend on x */
} batch_norm_training_derived;

static int32_t support(const mslite_node *node) {
  const int32_t wanted = 5;
  if (node->input_count < wanted || node->inputs[0]->rank < 1) return 0;
  for (int32_t k = 0; k < wanted; ++k) {
    if (node->inputs[k]->type != MSLITE_FLOAT32) return 0;
  }
  return 1;
}

/* `first` .. 4 are the inputs with one number per channel. */
static mslite_status prepare_channels(const mslite_node *node, int32_t first, batch_norm_training_derived *numbers,
                                      mslite_schedule *schedule) {
  const mslite_tensor *x = node->inputs[0];
  numbers->channels = x->dims[x->rank - 1];
  numbers->rows = numbers->channels > 0 ? mslite_element_count(x) / numbers->channels : 0;
  if (numbers->channels > 0 && numbers->rows < 1) return MSLITE_ERROR_SHAPE;
  for (int32_t k = first; k < 5; ++k) {
    if (mslite_element_count(node->inputs[k]) != numbers->channels) return MSLITE_ERROR_SHAPE;
  }
  const int64_t parts = (numbers->channels + PART_CHANNELS - 1) / PART_CHANNELS;
  if (parts > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)parts;
  return MSLITE_OK;
}

static int64_t block_size(const batch_norm_training_derived *numbers, int64_t first) {
  const int64_t left = numbers->channels - first;
  return left < PART_CHANNELS ? left : PART_CHANNELS;
}

/* ---- BatchNormTraining: x scale offset mean variance -> y mean variance saved_mean saved_variance ---- */

static int32_t training_support(const mslite_node *node) { return node->output_count == 5 && support(node); }

static mslite_status training_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  batch_norm_training_derived *numbers = derived;
  const mslite_BatchNormTraining *attributes = node->params;
  numbers->epsilon = (double)attributes->epsilon;
  numbers->momentum = (double)attributes->momentum;
  numbers->batch_statistics = 1;
  if (!(numbers->epsilon >= 0) || !(numbers->momentum >= 0 && numbers->momentum <= 1)) return MSLITE_ERROR_ATTRIBUTE;
  const mslite_status status = prepare_channels(node, 1, numbers, schedule);
  numbers->degrees = attributes->biased || numbers->rows < 2 ? numbers->rows : numbers->rows - 1;
  return status;
}

static void training_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const batch_norm_training_derived *numbers = run->derived;
  const int64_t first = (int64_t)part * PART_CHANNELS, count = block_size(numbers, first), step = numbers->channels;
  const float *x = (const float *)run->inputs[0] + first;
  double mean[PART_CHANNELS] = {0}, variance[PART_CHANNELS] = {0};
  float factor[PART_CHANNELS], center[PART_CHANNELS], offset[PART_CHANNELS];
  for (int64_t row = 0; row < numbers->rows; ++row) {
    for (int64_t c = 0; c < count; ++c) mean[c] += (double)x[row * step + c];
  }
  for (int64_t c = 0; c < count; ++c) mean[c] /= (double)numbers->rows;
  for (int64_t row = 0; row < numbers->rows; ++row) {
    for (int64_t c = 0; c < count; ++c) {
      const double distance = (double)x[row * step + c] - mean[c];
      variance[c] += distance * distance;
    }
  }
  for (int64_t c = 0; c < count; ++c) {
    const int64_t at = first + c;
    /* What is kept for inference is an estimate from a sample. */
    const double estimate = variance[c] / (double)numbers->degrees;
    const double old_mean = (double)((const float *)run->inputs[3])[at];
    const double old_variance = (double)((const float *)run->inputs[4])[at];
    variance[c] /= (double)numbers->rows;
    ((float *)run->outputs[1])[at] = (float)(old_mean + numbers->momentum * (mean[c] - old_mean));
    ((float *)run->outputs[2])[at] = (float)(old_variance + numbers->momentum * (estimate - old_variance));
    ((float *)run->outputs[3])[at] = (float)mean[c];
    ((float *)run->outputs[4])[at] = (float)variance[c];
    factor[c] = (float)((double)((const float *)run->inputs[1])[at] / sqrt(variance[c] + numbers->epsilon));
    center[c] = (float)mean[c];
    /* What rounding the mean moves y by. */
    const double moved = ((double)center[c] - mean[c]) * (double)factor[c];
    offset[c] = (float)((double)((const float *)run->inputs[2])[at] + moved);
  }
  float *y = (float *)run->outputs[0] + first;
  for (int64_t row = 0; row < numbers->rows; ++row) {
    for (int64_t c = 0; c < count; ++c) y[row * step + c] = (x[row * step + c] - center[c]) * factor[c] + offset[c];
  }
}

/* ---- BatchNormGrad: dy x scale mean variance -> dx dscale doffset ---- */

static int32_t grad_support(const mslite_node *node) { return node->output_count == 3 && support(node); }

static mslite_status grad_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  batch_norm_training_derived *numbers = derived;
  const mslite_BatchNormGrad *attributes = node->params;
  numbers->epsilon = (double)attributes->epsilon;
  numbers->momentum = 0;
  numbers->degrees = 0;
  numbers->batch_statistics = attributes->is_training;
  if (!(numbers->epsilon >= 0)) return MSLITE_ERROR_ATTRIBUTE;
  if (mslite_element_count(node->inputs[1]) != mslite_element_count(node->inputs[0])) return MSLITE_ERROR_SHAPE;
  return prepare_channels(node, 2, numbers, schedule);
}

/* With n = (x - mean) r, r = 1 / sqrt(variance + epsilon): dscale = sum(dy n), doffset = sum(dy) and
 * dx = scale r (dy - mean(dy) - n mean(dy n)), without the means where the statistics are constants. */
static void grad_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const batch_norm_training_derived *numbers = run->derived;
  const int64_t first = (int64_t)part * PART_CHANNELS, count = block_size(numbers, first), step = numbers->channels;
  const float *dy = (const float *)run->inputs[0] + first, *x = (const float *)run->inputs[1] + first;
  const float *scale = (const float *)run->inputs[2] + first, *mean = (const float *)run->inputs[3] + first;
  const float *variance = (const float *)run->inputs[4] + first;
  float *dx = (float *)run->outputs[0] + first;
  double sum[PART_CHANNELS] = {0}, weighted[PART_CHANNELS] = {0};
  float of_dy[PART_CHANNELS], of_x[PART_CHANNELS], constant[PART_CHANNELS];
  for (int64_t row = 0; row < numbers->rows; ++row) {
    for (int64_t c = 0; c < count; ++c) {
      const double gradient = (double)dy[row * step + c];
      sum[c] += gradient;
      weighted[c] += gradient * ((double)x[row * step + c] - (double)mean[c]);
    }
  }
  for (int64_t c = 0; c < count; ++c) {
    const double r = 1.0 / sqrt((double)variance[c] + numbers->epsilon), f = (double)scale[c] * r;
    ((float *)run->outputs[1])[first + c] = (float)(weighted[c] * r);
    ((float *)run->outputs[2])[first + c] = (float)sum[c];
    of_dy[c] = (float)f;
    of_x[c] = numbers->batch_statistics ? (float)(f * r * r * weighted[c] / (double)numbers->rows) : 0.0f;
    constant[c] = numbers->batch_statistics ? (float)(f * sum[c] / (double)numbers->rows) : 0.0f;
  }
  for (int64_t row = 0; row < numbers->rows; ++row) {
    for (int64_t c = 0; c < count; ++c) {
      const int64_t at = row * step + c;
      dx[at] = dy[at] * of_dy[c] - (x[at] - mean[c]) * of_x[c] - constant[c];
    }
  }
}

/* dx may lie where dy does: a part writes its channels of dx after it has read them to the end. */
static int32_t grad_in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

#define BATCH_NORM_TRAINING(name_, operator, support_, prepare_, run_, in_place_) \
  const mslite_kernel mslite_kernel_##name_ = {                                   \
      .name = #name_ "_scalar",                                                   \
      .op = MSLITE_OP_##operator,                                                 \
      .isa = MSLITE_ISA_SCALAR,                                                   \
      .derived_size = sizeof(batch_norm_training_derived),                        \
      .support = support_,                                                        \
      .prepare = prepare_,                                                        \
      .run = run_,                                                                \
      .in_place = in_place_,                                                      \
  };

BATCH_NORM_TRAINING(batch_norm_training, BatchNormTraining, training_support, training_prepare, training_run, NULL)
BATCH_NORM_TRAINING(batch_norm_grad, BatchNormGrad, grad_support, grad_prepare, grad_run, grad_in_place)
