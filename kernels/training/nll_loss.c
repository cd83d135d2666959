/* NLLLoss: log_probabilities [rows, classes], labels [rows], weights [classes] -> -weights[label] times the log
 * probability of the label, per row, summed, or summed and divided by the sum of the labels' weights; and this sum.
 * Also its gradient for the log probabilities. */
#include <string.h>

#include "kernel.h"

typedef struct {
  int64_t rows, classes;
  int32_t reduction;
} nll_derived;

static int32_t loss_support(const mslite_node *node) {
  return node->output_count == 2 && node->inputs[0]->type == MSLITE_FLOAT32 && node->inputs[1]->type == MSLITE_INT32 &&
         node->inputs[2]->type == MSLITE_FLOAT32;
}

static int32_t grad_support(const mslite_node *node) {
  return node->inputs[0]->type == MSLITE_FLOAT32 && node->inputs[1]->type == MSLITE_FLOAT32 &&
         node->inputs[2]->type == MSLITE_INT32 && node->inputs[3]->type == MSLITE_FLOAT32 &&
         node->inputs[4]->type == MSLITE_FLOAT32;
}

static mslite_status prepare_rows(const mslite_node *node, int32_t labels, int32_t reduction, nll_derived *numbers,
                                  mslite_schedule *schedule) {
  const mslite_tensor *logarithms = node->inputs[0];
  if (logarithms->rank != 2) return MSLITE_ERROR_SHAPE;
  numbers->rows = logarithms->dims[0];
  numbers->classes = logarithms->dims[1];
  numbers->reduction = reduction;
  if (reduction < MSLITE_REDUCTION_REDUCTION_SUM || reduction > MSLITE_REDUCTION_NONE) return MSLITE_ERROR_ATTRIBUTE;
  if (mslite_element_count(node->inputs[labels]) != numbers->rows ||
      mslite_element_count(node->inputs[labels + 1]) != numbers->classes || numbers->rows < 1 || numbers->classes < 1) {
    return MSLITE_ERROR_SHAPE;
  }
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

static mslite_status loss_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  return prepare_rows(node, 1, ((const mslite_NLLLoss *)node->params)->reduction, derived, schedule);
}

static mslite_status grad_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const int32_t reduction = ((const mslite_NLLLossGrad *)node->params)->reduction;
  const int64_t wanted = reduction == MSLITE_REDUCTION_NONE ? mslite_element_count(node->inputs[2]) : 1;
  if (mslite_element_count(node->inputs[1]) != wanted || mslite_element_count(node->inputs[4]) != 1) {
    return MSLITE_ERROR_SHAPE;
  }
  return prepare_rows(node, 2, reduction, derived, schedule);
}

/* Returns the label of a row, from input `input`. */
static int64_t label_at(const mslite_run *run, const nll_derived *numbers, int32_t input, int64_t row) {
  const int64_t label = ((const int32_t *)run->inputs[input])[row];
  if (label >= 0 && label < numbers->classes) return label;
  mslite_report_value(run, input, row, label, 0, numbers->classes);
  return 0;
}

static void loss_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const nll_derived *numbers = run->derived;
  const float *logarithms = run->inputs[0], *weights = run->inputs[2];
  float *loss = run->outputs[0];
  double sum = 0, total = 0;
  for (int64_t row = 0; row < numbers->rows; ++row) {
    const int64_t label = label_at(run, numbers, 1, row);
    const double own = -(double)weights[label] * (double)logarithms[row * numbers->classes + label];
    if (numbers->reduction == MSLITE_REDUCTION_NONE) loss[row] = (float)own;
    sum += own;
    total += (double)weights[label];
  }
  if (numbers->reduction == MSLITE_REDUCTION_MEAN) loss[0] = (float)(sum / total);
  if (numbers->reduction == MSLITE_REDUCTION_REDUCTION_SUM) loss[0] = (float)sum;
  *(float *)run->outputs[1] = (float)total;
}

static void grad_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const nll_derived *numbers = run->derived;
  const float *dloss = run->inputs[1], *weights = run->inputs[3];
  const double total = (double)*(const float *)run->inputs[4];
  float *dx = run->outputs[0];
  memset(dx, 0, (size_t)(numbers->rows * numbers->classes) * sizeof(float));
  for (int64_t row = 0; row < numbers->rows; ++row) {
    const int64_t label = label_at(run, numbers, 2, row);
    const double own = -(double)weights[label] * (double)dloss[numbers->reduction == MSLITE_REDUCTION_NONE ? row : 0];
    dx[row * numbers->classes + label] = (float)(numbers->reduction == MSLITE_REDUCTION_MEAN ? own / total : own);
  }
}

#define NLL_LOSS(name_, operator, support_, prepare_, run_) \
  const mslite_kernel mslite_kernel_##name_ = {             \
      .name = #name_ "_scalar",                             \
      .op = MSLITE_OP_##operator,                           \
      .isa = MSLITE_ISA_SCALAR,                             \
      .derived_size = sizeof(nll_derived),                  \
      .support = support_,                                  \
      .prepare = prepare_,                                  \
      .run = run_,                                          \
  };

NLL_LOSS(nll_loss, NLLLoss, loss_support, loss_prepare, loss_run)
NLL_LOSS(nll_loss_grad, NLLLossGrad, grad_support, grad_prepare, grad_run)
