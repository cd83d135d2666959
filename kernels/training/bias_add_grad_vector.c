/* BiasAddGrad, float32: the sum of dy over all dimensions except for channels, the last one. */
#include "training/channel_sums.h"

static int32_t bias_add_grad_support(const mslite_node *node) {
  return node->inputs[0]->type == MSLITE_FLOAT32 && node->inputs[0]->rank > 0;
}

static mslite_status bias_add_grad_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  channel_plan *plan = derived;
  const mslite_tensor *dy = node->inputs[0];
  const int64_t channels = dy->dims[dy->rank - 1];
  if (!channel_plan_of(channels > 0 ? mslite_element_count(dy) / channels : 0, channels, plan)) {
    return MSLITE_ERROR_UNSUPPORTED;
  }
  schedule->phase_count = 2;
  schedule->part_count[0] = channel_parts(plan);
  schedule->part_count[1] = (int32_t)plan->channel_blocks;
  schedule->shared_bytes = plan->row_blocks * channels * (int64_t)sizeof(double);
  return MSLITE_OK;
}

static __attribute__((noinline)) void sum_rows(const float *dy, int64_t step, int64_t rows, int64_t channels,
                                               double *sums) {
  channel_sum(CHANNEL_PLAIN, dy, dy, dy, step, rows, channels, sums, sums);
}

/* If there are fewer channels than lanes, SIMD_WIDTH rows are summed as one. */
static void sum_few_channels(const float *dy, int64_t rows, int64_t channels, double *sums) {
  double folded[SIMD_WIDTH * SIMD_WIDTH];
  const int64_t wide = channels * SIMD_WIDTH, groups = rows / SIMD_WIDTH;
  sum_rows(dy, wide, groups, wide, folded);
  sum_rows(dy + groups * wide, channels, rows - groups * SIMD_WIDTH, channels, sums);
  for (int64_t i = 0; i < wide; ++i) sums[i % channels] += folded[i];
}

static void bias_add_grad_run(const mslite_run *run, int32_t phase, int32_t part) {
  const channel_plan *plan = run->derived;
  const channel_part own = channel_part_of(plan, part);
  double *sums = (double *)run->shared + own.channel;
  if (phase == 0) {
    const float *dy = (const float *)run->inputs[0] + own.first_row * plan->channels + own.channel;
    sums += own.block * plan->channels;
    if (plan->channels < SIMD_WIDTH) {
      sum_few_channels(dy, own.rows, plan->channels, sums);
    } else {
      sum_rows(dy, plan->channels, own.rows, own.channels, sums);
    }
    return;
  }
  float *dbias = (float *)run->outputs[0] + own.channel;
  for (int64_t c = 0; c < own.channels; ++c) {
    double sum = 0.0;
    for (int64_t block = 0; block < plan->row_blocks; ++block) sum += sums[block * plan->channels + c];
    dbias[c] = (float)sum;
  }
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_bias_add_grad) = {
    .name = MSLITE_ISA_STRING(bias_add_grad),
    .op = MSLITE_OP_BiasAddGrad,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(channel_plan),
    .support = bias_add_grad_support,
    .prepare = bias_add_grad_prepare,
    .run = bias_add_grad_run,
};
