/* Element-wise losses with prediction p and target t, and their gradients for p (times dloss):
 *   SigmoidCrossEntropyWithLogits  max(p, 0) - p t + log(1 + exp(-|p|))     sigmoid(p) - t
 *   SmoothL1Loss                   d = |p - t|: d^2 / (2 beta) below beta, d - beta / 2 above */
#include "kernel.h"
#include "math/scalar_math.h"

enum { PART_ELEMENTS = 16384 };

typedef struct {
  int64_t count;
  double beta;
  int32_t op;
  int32_t dloss_repeats; /* it has one element for all */
} loss_derived;

static bool is_gradient(int32_t op) {
  return op == MSLITE_OP_SigmoidCrossEntropyWithLogitsGrad || op == MSLITE_OP_SmoothL1LossGrad;
}

static int32_t support(const mslite_node *node) {
  for (int32_t i = 0; i < (is_gradient(node->op) ? 3 : 2); ++i) {
    if (node->inputs[i]->type != MSLITE_FLOAT32) return 0;
  }
  return 1;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  loss_derived *numbers = derived;
  numbers->op = node->op;
  numbers->beta = 0;
  numbers->dloss_repeats = 0;
  numbers->count = mslite_element_count(node->inputs[0]);
  if (mslite_element_count(node->inputs[1]) != numbers->count) return MSLITE_ERROR_SHAPE;
  if (is_gradient(node->op)) {
    const int64_t count = mslite_element_count(node->inputs[2]);
    numbers->dloss_repeats = count == 1;
    if (count != 1 && count != numbers->count) return MSLITE_ERROR_SHAPE;
  }
  if (node->op == MSLITE_OP_SmoothL1Loss) numbers->beta = (double)((const mslite_SmoothL1Loss *)node->params)->beta;
  if (node->op == MSLITE_OP_SmoothL1LossGrad) {
    numbers->beta = (double)((const mslite_SmoothL1LossGrad *)node->params)->beta;
  }
  if (!(numbers->beta >= 0)) return MSLITE_ERROR_ATTRIBUTE;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  return MSLITE_OK;
}

static double result(const loss_derived *numbers, double p, double t) {
  const double difference = p - t, distance = difference < 0 ? -difference : difference;
  switch (numbers->op) {
    case MSLITE_OP_SigmoidCrossEntropyWithLogits:
      return (p > 0 ? p : 0) - p * t + mslite_log1p(mslite_exp(p < 0 ? p : -p));
    case MSLITE_OP_SigmoidCrossEntropyWithLogitsGrad: {
      const double e = mslite_exp(p < 0 ? p : -p);
      return (p < 0 ? e : 1) / (1 + e) - t;
    }
    case MSLITE_OP_SmoothL1Loss:
      return distance < numbers->beta ? 0.5 * distance * distance / numbers->beta : distance - 0.5 * numbers->beta;
    default:
      return distance < numbers->beta ? difference / numbers->beta : (double)((difference > 0) - (difference < 0));
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const loss_derived *numbers = run->derived;
  const float *prediction = run->inputs[0], *target = run->inputs[1];
  const float *dloss = is_gradient(numbers->op) ? run->inputs[2] : NULL;
  float *y = run->outputs[0];
  const int64_t begin = (int64_t)part * PART_ELEMENTS;
  const int64_t end = numbers->count - begin < PART_ELEMENTS ? numbers->count : begin + PART_ELEMENTS;
  for (int64_t i = begin; i < end; ++i) {
    const double value = result(numbers, (double)prediction[i], (double)target[i]);
    y[i] = (float)(dloss == NULL ? value : value * (double)dloss[numbers->dloss_repeats ? 0 : i]);
  }
}

#define LOSS(name_, operator)                   \
  const mslite_kernel mslite_kernel_##name_ = { \
      .name = #name_ "_scalar",                 \
      .op = MSLITE_OP_##operator,               \
      .isa = MSLITE_ISA_SCALAR,                 \
      .derived_size = sizeof(loss_derived),     \
      .support = support,                       \
      .prepare = prepare,                       \
      .run = run_part,                          \
  };

LOSS(sigmoid_cross_entropy, SigmoidCrossEntropyWithLogits)
LOSS(sigmoid_cross_entropy_grad, SigmoidCrossEntropyWithLogitsGrad)
LOSS(smooth_l1_loss, SmoothL1Loss)
LOSS(smooth_l1_loss_grad, SmoothL1LossGrad)
