/* BatchNorm and FusedBatchNorm, float32, channels last: a first phase converts the statistics to one factor and one
 * offset per channel, the second applies them. */
#include "arithmetic/broadcast.h"
#include "arithmetic/scale_row.h"

#include <math.h>
#include <string.h>

typedef struct {
  mslite_broadcast_plan plan;
  int64_t channels;
  float epsilon;
  int32_t fused;         /* FusedBatchNorm: inputs 1 and 2 are scale and offset */
  int32_t extra_outputs; /* copies of the statistics, for files that still have these outputs */
} batch_norm_derived;

static int32_t support(const mslite_node *node) {
  const int32_t wanted = node->op == MSLITE_OP_FusedBatchNorm ? 5 : 3;
  if (node->input_count < wanted || node->inputs[0]->rank < 1) return 0;
  for (int32_t k = 0; k < wanted; ++k)
    if (node->inputs[k]->type != MSLITE_FLOAT32) return 0;
  return 1;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  batch_norm_derived *numbers = derived;
  const mslite_tensor *x = node->inputs[0];
  mslite_tensor channel = {.rank = 1};
  numbers->channels = channel.dims[0] = x->dims[x->rank - 1];
  numbers->fused = node->op == MSLITE_OP_FusedBatchNorm;
  numbers->epsilon = numbers->fused ? ((const mslite_FusedBatchNorm *)node->params)->epsilon
                                    : ((const mslite_BatchNorm *)node->params)->epsilon;
  numbers->extra_outputs = node->output_count - 1;
  const mslite_tensor *const operands[2] = {x, &channel};
  mslite_plan_broadcast(node->outputs[0], operands, 2, &numbers->plan, schedule);
  schedule->part_count[1] = schedule->part_count[0];
  schedule->part_count[0] = 1;
  schedule->phase_count = 2;
  schedule->shared_bytes = 2 * numbers->channels * (int64_t)sizeof(float);
  return MSLITE_OK;
}

static void derive(const mslite_run *run, const batch_norm_derived *numbers) {
  const float *mean = run->inputs[numbers->fused ? 3 : 1], *variance = run->inputs[numbers->fused ? 4 : 2];
  float *factor = run->shared, *addend = factor + numbers->channels;
  for (int64_t c = 0; c < numbers->channels; ++c) {
    double f = 1.0 / sqrt((double)variance[c] + (double)numbers->epsilon), a = 0;
    if (numbers->fused) {
      f *= (double)((const float *)run->inputs[1])[c];
      a = (double)((const float *)run->inputs[2])[c];
    }
    factor[c] = (float)f;
    addend[c] = (float)(a - (double)mean[c] * f);
  }
  for (int32_t k = 1; k <= numbers->extra_outputs; ++k)
    memcpy(run->outputs[k], k % 2 == 1 ? mean : variance, (size_t)numbers->channels * sizeof(float));
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  const batch_norm_derived *numbers = run->derived;
  const mslite_broadcast_plan *plan = &numbers->plan;
  if (phase == 0) {
    derive(run, numbers);
    return;
  }
  const float *factor = run->shared, *addend = factor + numbers->channels;
  const int64_t step = plan->strides[1][plan->rank - 1];
  mslite_broadcast_cursor at;
  mslite_broadcast_begin(plan, part, &at);
  for (int64_t n; (n = mslite_broadcast_row(plan, &at)) > 0; mslite_broadcast_next(plan, n, &at))
    scale_row((const float *)run->inputs[0] + at.offset[0], factor + at.offset[1], addend + at.offset[1], step,
              (float *)run->outputs[0] + at.at, n);
}

static int32_t in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

#define BATCH_NORM(function, operator)                                    \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function##_f32) = { \
      .name = MSLITE_ISA_STRING(function##_f32),                          \
      .op = MSLITE_OP_##operator,                                         \
      .isa = MSLITE_THIS_ISA,                                             \
      .derived_size = sizeof(batch_norm_derived),                         \
      .support = support,                                                 \
      .prepare = prepare,                                                 \
      .run = run_part,                                                    \
      .in_place = in_place,                                               \
  };

BATCH_NORM(batch_norm, BatchNorm)
BATCH_NORM(fused_batch_norm, FusedBatchNorm)
