/* Batch normalization with the statistics of the batch, channels last, and the gradient of batch normalization. A
 * first phase sums over some rows of some channels, a second adds these sums, and a third processes the elements. */
#include <math.h>

#include "training/channel_sums.h"

enum { SAMPLES = 32, NUMBERS = 3 };

typedef struct {
  int64_t rows, channels;
  double epsilon, momentum;
  int64_t degrees;          /* BatchNormTraining: the divisor of the squares for the running variance */
  int32_t batch_statistics; /* BatchNormGrad: mean and variance depend on x */
} batch_norm_numbers;

/* Returns whether the first five inputs are float32 and there are `outputs` outputs, for both operators. */
static int32_t batch_norm_fits(const mslite_node *node, int32_t outputs) {
  enum { WANTED = 5 };
  if (node->output_count != outputs || node->input_count < WANTED || node->inputs[0]->rank < 1) return 0;
  for (int32_t k = 0; k < WANTED; ++k) {
    if (node->inputs[k]->type != MSLITE_FLOAT32) return 0;
  }
  return 1;
}

/* Checks that inputs `first` to 4 have one element per channel. */
static mslite_status batch_norm_channels(const mslite_node *node, int32_t first, batch_norm_numbers *numbers) {
  const mslite_tensor *x = node->inputs[0];
  numbers->channels = x->dims[x->rank - 1];
  numbers->rows = numbers->channels > 0 ? mslite_element_count(x) / numbers->channels : 0;
  if (numbers->channels > 0 && numbers->rows < 1) return MSLITE_ERROR_SHAPE;
  for (int32_t k = first; k < 5; ++k) {
    if (mslite_element_count(node->inputs[k]) != numbers->channels) return MSLITE_ERROR_SHAPE;
  }
  return MSLITE_OK;
}

static mslite_status batch_norm_training_numbers(const mslite_node *node, batch_norm_numbers *numbers) {
  const mslite_BatchNormTraining *attributes = node->params;
  numbers->epsilon = (double)attributes->epsilon;
  numbers->momentum = (double)attributes->momentum;
  numbers->batch_statistics = 1;
  if (!(numbers->epsilon >= 0) || !(numbers->momentum >= 0 && numbers->momentum <= 1)) return MSLITE_ERROR_ATTRIBUTE;
  const mslite_status status = batch_norm_channels(node, 1, numbers);
  numbers->degrees = attributes->biased || numbers->rows < 2 ? numbers->rows : numbers->rows - 1;
  return status;
}

static mslite_status batch_norm_grad_numbers(const mslite_node *node, batch_norm_numbers *numbers) {
  const mslite_BatchNormGrad *attributes = node->params;
  numbers->epsilon = (double)attributes->epsilon;
  numbers->momentum = 0;
  numbers->degrees = 0;
  numbers->batch_statistics = attributes->is_training;
  if (!(numbers->epsilon >= 0)) return MSLITE_ERROR_ATTRIBUTE;
  if (mslite_element_count(node->inputs[1]) != mslite_element_count(node->inputs[0])) return MSLITE_ERROR_SHAPE;
  return batch_norm_channels(node, 2, numbers);
}

/* The factors and offsets of one channel. */
typedef struct {
  float factor, center, offset;
} batch_norm_forward;

/* BatchNormTraining for channel `at`: writes the statistics, from the mean and the mean squared distance to it. */
static batch_norm_forward batch_norm_finish(const mslite_run *run, const batch_norm_numbers *numbers, int64_t at,
                                            double mean, double variance, double root) {
  /* The running variance is an estimate from a sample. */
  const double estimate = variance * ((double)numbers->rows / (double)numbers->degrees);
  const double old_mean = (double)((const float *)run->inputs[3])[at];
  const double old_variance = (double)((const float *)run->inputs[4])[at];
  ((float *)run->outputs[1])[at] = (float)(old_mean + numbers->momentum * (mean - old_mean));
  ((float *)run->outputs[2])[at] = (float)(old_variance + numbers->momentum * (estimate - old_variance));
  ((float *)run->outputs[3])[at] = (float)mean;
  ((float *)run->outputs[4])[at] = (float)variance;
  batch_norm_forward found;
  found.factor = (float)((double)((const float *)run->inputs[1])[at] / root);
  found.center = (float)mean;
  /* Corrects y by the rounding error of the mean. */
  const double moved = ((double)found.center - mean) * (double)found.factor;
  found.offset = (float)((double)((const float *)run->inputs[2])[at] + moved);
  return found;
}

/* dx = dy of_dy - (x - mean) of_x - constant */
typedef struct {
  float of_dy, of_x, constant;
} batch_norm_backward;

/* BatchNormGrad for channel `at`: writes dscale and doffset. With n = (x - mean) r, r = 1 / root, they are sum(dy n)
 * and sum(dy), and dx = scale r (dy - mean(dy) - n mean(dy n)), without the means if the statistics are constants. */
static batch_norm_backward batch_norm_grad_finish(const mslite_run *run, const batch_norm_numbers *numbers, int64_t at,
                                                  double sum, double weighted, double root) {
  const double r = 1.0 / root, f = (double)((const float *)run->inputs[2])[at] * r;
  ((float *)run->outputs[1])[at] = (float)(weighted * r);
  ((float *)run->outputs[2])[at] = (float)sum;
  batch_norm_backward found;
  found.of_dy = (float)f;
  found.of_x = numbers->batch_statistics ? (float)(f * r * r * weighted / (double)numbers->rows) : 0.0f;
  found.constant = numbers->batch_statistics ? (float)(f * sum / (double)numbers->rows) : 0.0f;
  return found;
}

typedef struct {
  batch_norm_numbers numbers;
  channel_plan plan;
} batch_norm_vector_derived;

/* The workspace has two sums per block of rows, [block][2][channel], then three values per channel, [3][channel]. */
static double *sums_of_block(const mslite_run *run, const channel_plan *plan, int64_t block) {
  return (double *)run->shared + block * 2 * plan->channels;
}

static float *numbers_of_channels(const mslite_run *run, const channel_plan *plan) {
  return (float *)(void *)sums_of_block(run, plan, plan->row_blocks);
}

static mslite_status plan_phases(batch_norm_vector_derived *derived, mslite_schedule *schedule) {
  channel_plan *plan = &derived->plan;
  if (!channel_plan_of(derived->numbers.rows, derived->numbers.channels, plan)) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 3;
  schedule->part_count[0] = schedule->part_count[2] = channel_parts(plan);
  schedule->part_count[1] = (int32_t)plan->channel_blocks;
  schedule->shared_bytes = plan->row_blocks * 2 * plan->channels * (int64_t)sizeof(double) +
                           NUMBERS * plan->channels * (int64_t)sizeof(float);
  return MSLITE_OK;
}

/* Adds the sums of all blocks of rows for channel `at`. */
static void add_blocks(const mslite_run *run, const channel_plan *plan, int64_t at, double *first, double *second) {
  *first = *second = 0.0;
  for (int64_t block = 0; block < plan->row_blocks; ++block) {
    const double *sums = sums_of_block(run, plan, block) + at;
    *first += sums[0];
    *second += sums[plan->channels];
  }
}

/* ---- BatchNormTraining ---- */

static int32_t batch_norm_training_support(const mslite_node *node) { return batch_norm_fits(node, 5); }

static mslite_status batch_norm_training_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  batch_norm_vector_derived *found = derived;
  const mslite_status status = batch_norm_training_numbers(node, &found->numbers);
  return status != MSLITE_OK ? status : plan_phases(found, schedule);
}

/* Finds a value near the mean of each channel from a few rows. Distances to it are small compared with a large mean,
 * so that their squares give an accurate variance. */
static void sample_centers(const mslite_run *run, const channel_plan *plan, const channel_part *part, float *center) {
  const float *x = (const float *)run->inputs[0] + part->channel;
  const int64_t count = plan->rows < SAMPLES ? plan->rows : SAMPLES, step = plan->rows / count * plan->channels;
  for (int64_t c = 0; c < part->channels; ++c) center[c] = 0.0f;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t c = 0; c < part->channels; ++c) center[c] += x[i * step + c];
  }
  for (int64_t c = 0; c < part->channels; ++c) center[c] /= (float)count;
}

/* y = (x - center) factor + offset */
SIMD_INLINE simd_f32 normalized(const float *numbers, int64_t channels, simd_f32 x, const int32_t lanes) {
  const simd_f32 factor = simd_load_lanes_f32(numbers, lanes);
  const simd_f32 center = simd_load_lanes_f32(numbers + channels, lanes);
  return simd_fma(x - center, factor, simd_load_lanes_f32(numbers + 2 * channels, lanes));
}

static void normalize_rows(const mslite_run *run, const channel_plan *plan, const channel_part *part) {
  const int64_t channels = plan->channels, first = part->first_row * channels + part->channel;
  const float *x = (const float *)run->inputs[0] + first;
  const float *numbers = numbers_of_channels(run, plan) + part->channel;
  float *y = (float *)run->outputs[0] + first;
  const int64_t whole = part->channels / SIMD_WIDTH * SIMD_WIDTH;
  const bool overlaps = whole > 0;
  const int64_t tail = overlaps ? part->channels - SIMD_WIDTH : 0;
  for (int64_t row = 0; row < part->rows; ++row, x += channels, y += channels) {
    for (int64_t c = 0; c < whole; c += SIMD_WIDTH) {
      simd_store_f32(y + c, normalized(numbers + c, channels, simd_load_f32(x + c), SIMD_WIDTH));
    }
    if (whole == part->channels) continue;
    if (overlaps) {
      simd_store_f32(y + tail, normalized(numbers + tail, channels, simd_load_f32(x + tail), SIMD_WIDTH));
    } else {
      const int32_t lanes = (int32_t)part->channels;
      simd_store_partial(y, normalized(numbers, channels, simd_load_partial_f32(x, lanes), lanes), lanes);
    }
  }
}

static void batch_norm_training_run(const mslite_run *run, int32_t phase, int32_t part) {
  const batch_norm_vector_derived *derived = run->derived;
  const channel_plan *plan = &derived->plan;
  const batch_norm_numbers *numbers = &derived->numbers;
  const channel_part own = channel_part_of(plan, part);
  if (phase == 2) {
    normalize_rows(run, plan, &own);
    return;
  }
  float center[2 * CHANNEL_BLOCK];
  sample_centers(run, plan, &own, center);
  if (phase == 0) {
    const float *x = (const float *)run->inputs[0] + own.first_row * plan->channels + own.channel;
    double *sums = sums_of_block(run, plan, own.block) + own.channel;
    channel_sum(CHANNEL_SQUARES, x, x, center, plan->channels, own.rows, own.channels, sums, sums + plan->channels);
    return;
  }
  float *to = numbers_of_channels(run, plan) + own.channel;
  for (int64_t c = 0; c < own.channels; ++c) {
    double sum, squares;
    add_blocks(run, plan, own.channel + c, &sum, &squares);
    const double rows = (double)plan->rows, distance = sum / rows;
    double variance = squares / rows - distance * distance;
    if (variance < 0.0) variance = 0.0;
    const batch_norm_forward forward = batch_norm_finish(run, numbers, own.channel + c, (double)center[c] + distance,
                                                         variance, sqrt(variance + numbers->epsilon));
    to[c] = forward.factor;
    to[plan->channels + c] = forward.center;
    to[2 * plan->channels + c] = forward.offset;
  }
}

/* ---- BatchNormGrad ---- */

static int32_t batch_norm_grad_support(const mslite_node *node) { return batch_norm_fits(node, 3); }

static mslite_status batch_norm_grad_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  batch_norm_vector_derived *found = derived;
  const mslite_status status = batch_norm_grad_numbers(node, &found->numbers);
  return status != MSLITE_OK ? status : plan_phases(found, schedule);
}

/* dx = dy of_dy - (x - mean) of_x - constant */
SIMD_INLINE simd_f32 input_gradient(const float *numbers, int64_t channels, const float *mean, simd_f32 dy, simd_f32 x,
                                    const int32_t lanes) {
  const simd_f32 of_x = simd_load_lanes_f32(numbers + channels, lanes);
  const simd_f32 other =
      simd_fma(x - simd_load_lanes_f32(mean, lanes), of_x, simd_load_lanes_f32(numbers + 2 * channels, lanes));
  return simd_fma(dy, simd_load_lanes_f32(numbers, lanes), -other);
}

/* dx may overwrite dy: the partial vector is computed before the one that it overlaps. */
static void input_gradient_rows(const mslite_run *run, const channel_plan *plan, const channel_part *part) {
  const int64_t channels = plan->channels, first = part->first_row * channels + part->channel;
  const float *dy = (const float *)run->inputs[0] + first, *x = (const float *)run->inputs[1] + first;
  const float *mean = (const float *)run->inputs[3] + part->channel;
  const float *numbers = numbers_of_channels(run, plan) + part->channel;
  float *dx = (float *)run->outputs[0] + first;
  const int64_t whole = part->channels / SIMD_WIDTH * SIMD_WIDTH;
  const int64_t tail = part->channels - SIMD_WIDTH;
  const int32_t few = (int32_t)part->channels;
  for (int64_t row = 0; row < part->rows; ++row, dy += channels, x += channels, dx += channels) {
    if (whole == 0) {
      const simd_f32 dys = simd_load_partial_f32(dy, few), xs = simd_load_partial_f32(x, few);
      simd_store_partial(dx, input_gradient(numbers, channels, mean, dys, xs, few), few);
      continue;
    }
    const simd_f32 last = input_gradient(numbers + tail, channels, mean + tail, simd_load_f32(dy + tail),
                                         simd_load_f32(x + tail), SIMD_WIDTH);
    for (int64_t c = 0; c < whole; c += SIMD_WIDTH) {
      simd_store_f32(dx + c, input_gradient(numbers + c, channels, mean + c, simd_load_f32(dy + c),
                                            simd_load_f32(x + c), SIMD_WIDTH));
    }
    simd_store_f32(dx + tail, last);
  }
}

static void batch_norm_grad_run(const mslite_run *run, int32_t phase, int32_t part) {
  const batch_norm_vector_derived *derived = run->derived;
  const channel_plan *plan = &derived->plan;
  const batch_norm_numbers *numbers = &derived->numbers;
  const channel_part own = channel_part_of(plan, part);
  if (phase == 2) {
    input_gradient_rows(run, plan, &own);
    return;
  }
  if (phase == 0) {
    const int64_t first = own.first_row * plan->channels + own.channel;
    double *sums = sums_of_block(run, plan, own.block) + own.channel;
    channel_sum(CHANNEL_PRODUCTS, (const float *)run->inputs[0] + first, (const float *)run->inputs[1] + first,
                (const float *)run->inputs[3] + own.channel, plan->channels, own.rows, own.channels, sums,
                sums + plan->channels);
    return;
  }
  float *to = numbers_of_channels(run, plan) + own.channel;
  for (int64_t c = 0; c < own.channels; ++c) {
    double sum, weighted;
    add_blocks(run, plan, own.channel + c, &sum, &weighted);
    const double root = sqrt((double)((const float *)run->inputs[4])[own.channel + c] + numbers->epsilon);
    const batch_norm_backward backward = batch_norm_grad_finish(run, numbers, own.channel + c, sum, weighted, root);
    to[c] = backward.of_dy;
    to[plan->channels + c] = backward.of_x;
    to[2 * plan->channels + c] = backward.constant;
  }
}

static int32_t batch_norm_grad_in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_batch_norm_training) = {
    .name = MSLITE_ISA_STRING(batch_norm_training),
    .op = MSLITE_OP_BatchNormTraining,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(batch_norm_vector_derived),
    .support = batch_norm_training_support,
    .prepare = batch_norm_training_prepare,
    .run = batch_norm_training_run,
};

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_batch_norm_grad) = {
    .name = MSLITE_ISA_STRING(batch_norm_grad),
    .op = MSLITE_OP_BatchNormGrad,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(batch_norm_vector_derived),
    .support = batch_norm_grad_support,
    .prepare = batch_norm_grad_prepare,
    .run = batch_norm_grad_run,
    .in_place = batch_norm_grad_in_place,
};
