/* Softmax cross entropy of [rows, classes] logits. With float labels (a distribution per row): a loss per row, and
 * softmax(logits) - labels. With integer labels: the mean of the rows' losses or, with is_grad, its gradient. */
#include "kernel.h"
#include "math/scalar_math.h"

typedef struct {
  int64_t rows, classes;
  int32_t gradient; /* index of the gradient output, or -1 */
} entropy_derived;

static int32_t dense_support(const mslite_node *node) {
  return node->inputs[0]->type == MSLITE_FLOAT32 && node->inputs[1]->type == MSLITE_FLOAT32;
}

static int32_t sparse_support(const mslite_node *node) {
  return node->inputs[0]->type == MSLITE_FLOAT32 && node->inputs[1]->type == MSLITE_INT32;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  entropy_derived *numbers = derived;
  const mslite_tensor *logits = node->inputs[0];
  const bool sparse = node->op == MSLITE_OP_SparseSoftmaxCrossEntropyWithLogits;
  if (logits->rank != 2) return MSLITE_ERROR_SHAPE;
  numbers->rows = logits->dims[0];
  numbers->classes = logits->dims[1];
  const int64_t labels = sparse ? numbers->rows : numbers->rows * numbers->classes;
  if (mslite_element_count(node->inputs[1]) != labels || numbers->rows < 1 || numbers->classes < 1) {
    return MSLITE_ERROR_SHAPE;
  }
  const bool sparse_gradient = sparse && ((const mslite_SparseSoftmaxCrossEntropyWithLogits *)node->params)->is_grad;
  numbers->gradient = sparse ? (sparse_gradient ? 0 : -1) : node->output_count > 1 ? 1 : -1;
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

/* Returns the logarithm of the sum of exponentials of a row. */
static double log_sum(const float *logits, int64_t classes) {
  double largest = (double)logits[0], sum = 0;
  for (int64_t i = 1; i < classes; ++i) {
    if ((double)logits[i] > largest) largest = (double)logits[i];
  }
  for (int64_t i = 0; i < classes; ++i) sum += mslite_exp((double)logits[i] - largest);
  return largest + mslite_log(sum);
}

static void dense_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const entropy_derived *numbers = run->derived;
  const float *logits = run->inputs[0], *labels = run->inputs[1];
  float *losses = run->outputs[0], *gradient = numbers->gradient < 0 ? NULL : run->outputs[numbers->gradient];
  for (int64_t row = 0; row < numbers->rows; ++row) {
    const int64_t first = row * numbers->classes;
    const double total = log_sum(logits + first, numbers->classes);
    double loss = 0;
    for (int64_t i = first; i < first + numbers->classes; ++i) {
      loss += (double)labels[i] * (total - (double)logits[i]);
      if (gradient != NULL) gradient[i] = (float)(mslite_exp((double)logits[i] - total) - (double)labels[i]);
    }
    losses[row] = (float)loss;
  }
}

static void sparse_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const entropy_derived *numbers = run->derived;
  const float *logits = run->inputs[0];
  const int32_t *labels = run->inputs[1];
  float *result = run->outputs[0];
  double loss = 0;
  for (int64_t row = 0; row < numbers->rows; ++row, logits += numbers->classes) {
    int64_t label = labels[row];
    if (label < 0 || label >= numbers->classes) {
      mslite_report_value(run, 1, row, label, 0, numbers->classes);
      label = 0;
    }
    const double total = log_sum(logits, numbers->classes);
    loss += total - (double)logits[label];
    for (int64_t i = 0; numbers->gradient == 0 && i < numbers->classes; ++i) {
      const double probability = mslite_exp((double)logits[i] - total);
      *result++ = (float)((probability - (i == label ? 1 : 0)) / (double)numbers->rows);
    }
  }
  if (numbers->gradient < 0) *result = (float)(loss / (double)numbers->rows);
}

#define SOFTMAX_CROSS_ENTROPY(name_, operator, support_, run_) \
  const mslite_kernel mslite_kernel_##name_ = {                \
      .name = #name_ "_scalar",                                \
      .op = MSLITE_OP_##operator,                              \
      .isa = MSLITE_ISA_SCALAR,                                \
      .derived_size = sizeof(entropy_derived),                 \
      .support = support_,                                     \
      .prepare = prepare,                                      \
      .run = run_,                                             \
  };

SOFTMAX_CROSS_ENTROPY(softmax_cross_entropy, SoftmaxCrossEntropyWithLogits, dense_support, dense_run)
SOFTMAX_CROSS_ENTROPY(sparse_softmax_cross_entropy, SparseSoftmaxCrossEntropyWithLogits, sparse_support, sparse_run)
