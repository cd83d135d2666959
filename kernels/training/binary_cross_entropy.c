/* Binary cross entropy of probabilities p and targets t, -(t log p + (1 - t) log(1 - p)), times the weight if there
 * is one: per element, summed, or the mean; and its gradient (p - t) / (p (1 - p)) for p. `tiny` keeps probabilities
 * and their products away from 0. */
#include "kernel.h"
#include "math/scalar_math.h"

static const double tiny = 1e-12;

typedef struct {
  int64_t count;
  int32_t reduction;
  int32_t has_weight;
} binary_entropy_derived;

static mslite_status prepare_elements(const mslite_node *node, int32_t weight, int32_t reduction,
                                      binary_entropy_derived *numbers, mslite_schedule *schedule) {
  if (reduction < MSLITE_REDUCTION_REDUCTION_SUM || reduction > MSLITE_REDUCTION_NONE) return MSLITE_ERROR_ATTRIBUTE;
  numbers->count = mslite_element_count(node->inputs[0]);
  numbers->reduction = reduction;
  numbers->has_weight = node->input_count > weight && node->inputs[weight] != NULL;
  if (numbers->count < 1 || mslite_element_count(node->inputs[1]) != numbers->count) return MSLITE_ERROR_SHAPE;
  if (numbers->has_weight && mslite_element_count(node->inputs[weight]) != numbers->count) return MSLITE_ERROR_SHAPE;
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

static int32_t support(const mslite_node *node) {
  for (int32_t i = 0; i < node->input_count; ++i) {
    if (node->inputs[i] != NULL && node->inputs[i]->type != MSLITE_FLOAT32) return 0;
  }
  return 1;
}

static mslite_status loss_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  return prepare_elements(node, 2, ((const mslite_BinaryCrossEntropy *)node->params)->reduction, derived, schedule);
}

static mslite_status grad_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const int32_t reduction = ((const mslite_BinaryCrossEntropyGrad *)node->params)->reduction;
  const int64_t wanted = reduction == MSLITE_REDUCTION_NONE ? mslite_element_count(node->inputs[0]) : 1;
  if (mslite_element_count(node->inputs[2]) != wanted) return MSLITE_ERROR_SHAPE;
  return prepare_elements(node, 3, reduction, derived, schedule);
}

static double at_least(double value, double least) { return value > least ? value : least; }

static void loss_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const binary_entropy_derived *numbers = run->derived;
  const float *probability = run->inputs[0], *target = run->inputs[1];
  const float *weight = numbers->has_weight ? run->inputs[2] : NULL;
  float *loss = run->outputs[0];
  double sum = 0;
  for (int64_t i = 0; i < numbers->count; ++i) {
    const double p = (double)probability[i], t = (double)target[i];
    const double own = -(t * mslite_log(at_least(p, tiny)) + (1 - t) * mslite_log(at_least(1 - p, tiny)));
    const double weighted = weight == NULL ? own : own * (double)weight[i];
    if (numbers->reduction == MSLITE_REDUCTION_NONE) loss[i] = (float)weighted;
    sum += weighted;
  }
  if (numbers->reduction == MSLITE_REDUCTION_MEAN) loss[0] = (float)(sum / (double)numbers->count);
  if (numbers->reduction == MSLITE_REDUCTION_REDUCTION_SUM) loss[0] = (float)sum;
}

static void grad_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const binary_entropy_derived *numbers = run->derived;
  const float *probability = run->inputs[0], *target = run->inputs[1], *dloss = run->inputs[2];
  const float *weight = numbers->has_weight ? run->inputs[3] : NULL;
  const double share = numbers->reduction == MSLITE_REDUCTION_MEAN ? 1.0 / (double)numbers->count : 1.0;
  float *dx = run->outputs[0];
  for (int64_t i = 0; i < numbers->count; ++i) {
    const double p = (double)probability[i], t = (double)target[i];
    const double outer = share * (double)dloss[numbers->reduction == MSLITE_REDUCTION_NONE ? i : 0];
    const double own = outer * (p - t) / at_least(p * (1 - p), tiny);
    dx[i] = (float)(weight == NULL ? own : own * (double)weight[i]);
  }
}

#define BINARY_ENTROPY(name_, operator, prepare_, run_) \
  const mslite_kernel mslite_kernel_##name_ = {         \
      .name = #name_ "_scalar",                         \
      .op = MSLITE_OP_##operator,                       \
      .isa = MSLITE_ISA_SCALAR,                         \
      .derived_size = sizeof(binary_entropy_derived),   \
      .support = support,                               \
      .prepare = prepare_,                              \
      .run = run_,                                      \
  };

BINARY_ENTROPY(binary_cross_entropy, BinaryCrossEntropy, loss_prepare, loss_run)
BINARY_ENTROPY(binary_cross_entropy_grad, BinaryCrossEntropyGrad, grad_prepare, grad_run)
