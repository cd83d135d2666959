/* GroupNormFusion, float32. Channels are dimension 1 (NCHW), so that a group is one run of memory. */
#include "arithmetic/scale_row.h"
#include "normalization/statistics.h"

typedef struct {
  int64_t images;
  int64_t groups;
  int64_t group_channels;
  int64_t pixels;
  float epsilon;
  int32_t affine;
} group_norm_derived;

static int32_t support(const mslite_node *node) {
  const mslite_GroupNormFusion *norm = node->params;
  const mslite_tensor *x = node->inputs[0];
  if (x->rank < 2 || norm->num_groups < 1 || x->dims[1] % norm->num_groups != 0) return 0;
  for (int32_t k = 0; k < node->input_count; ++k)
    if (node->inputs[k]->type != MSLITE_FLOAT32) return 0;
  return !norm->affine || node->input_count >= 3;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_GroupNormFusion *norm = node->params;
  const mslite_tensor *x = node->inputs[0];
  group_norm_derived *numbers = derived;
  numbers->images = x->dims[0];
  numbers->groups = norm->num_groups;
  numbers->group_channels = x->dims[1] / norm->num_groups;
  numbers->pixels = 1;
  for (int32_t i = 2; i < x->rank; ++i) numbers->pixels *= x->dims[i];
  numbers->epsilon = norm->epsilon;
  numbers->affine = norm->affine;
  schedule->phase_count = 1;
  schedule->part_count[0] =
      (int32_t)(numbers->pixels * numbers->group_channels == 0 ? 0 : numbers->images * numbers->groups);
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const group_norm_derived *numbers = run->derived;
  const int64_t count = numbers->group_channels * numbers->pixels;
  const float *x = (const float *)run->inputs[0] + part * count;
  float *y = (float *)run->outputs[0] + part * count;
  const double mean = statistics_sum(x, count, 0.0F, false) / (double)count;
  const double variance = statistics_sum(x, count, (float)mean, true) / (double)count;
  const double scale = 1.0 / sqrt(variance + (double)numbers->epsilon);
  const int64_t first = part % numbers->groups * numbers->group_channels;
  for (int64_t c = 0; c < numbers->group_channels; ++c) {
    const double gamma = numbers->affine ? (double)((const float *)run->inputs[1])[first + c] : 1;
    const double beta = numbers->affine ? (double)((const float *)run->inputs[2])[first + c] : 0;
    const float factor = (float)(scale * gamma), addend = (float)(beta - mean * scale * gamma);
    scale_row(x + c * numbers->pixels, &factor, &addend, 0, y + c * numbers->pixels, numbers->pixels);
  }
}

static int32_t in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_group_norm_f32) = {
    .name = MSLITE_ISA_STRING(group_norm_f32),
    .op = MSLITE_OP_GroupNormFusion,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(group_norm_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
    .in_place = in_place,
};
