/* Dropout in training: a Dropout node with a seed, int32 [number, step]. Which elements are kept depends only on the
 * seed and on their indices. The outputs are y, the mask (1 for kept elements, otherwise 0), and the seed of the
 * next step. */
#include "kernel.h"
#include "math/counter_random.h"

enum { PART_ELEMENTS = 16384 };

#define RANDOM_RANGE 16777216.0 /* random numbers have 24 bits */

typedef struct {
  int64_t count;
  uint32_t kept; /* of RANDOM_RANGE */
  float factor;  /* 1 / keep_prob, so that sums keep their expected value */
} dropout_derived;

static mslite_status prepare_elements(float keep_prob, const mslite_tensor *x, dropout_derived *numbers,
                                      mslite_schedule *schedule) {
  if (!(keep_prob > 0.0f && keep_prob <= 1.0f)) return MSLITE_ERROR_ATTRIBUTE;
  numbers->count = mslite_element_count(x);
  numbers->kept = (uint32_t)((double)keep_prob * RANDOM_RANGE);
  numbers->factor = 1.0f / keep_prob;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  return MSLITE_OK;
}

static int64_t part_end(const dropout_derived *numbers, int64_t begin) {
  return numbers->count - begin < PART_ELEMENTS ? numbers->count : begin + PART_ELEMENTS;
}

static int32_t training_support(const mslite_node *node) {
  return node->input_count == 2 && node->output_count == 3 && node->inputs[0]->type == MSLITE_FLOAT32 &&
         node->inputs[1]->type == MSLITE_INT32;
}

static mslite_status training_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  if (mslite_element_count(node->inputs[1]) != 2) return MSLITE_ERROR_SHAPE;
  const mslite_status status =
      prepare_elements(((const mslite_Dropout *)node->params)->keep_prob, node->inputs[0], derived, schedule);
  schedule->phase_count = 2; /* the next seed may overwrite the current one, so it is written after all reads */
  schedule->part_count[1] = 1;
  return status;
}

static void training_run(const mslite_run *run, int32_t phase, int32_t part) {
  const dropout_derived *numbers = run->derived;
  const int32_t *seed = run->inputs[1];
  if (phase == 1) {
    int32_t *next = run->outputs[2];
    next[0] = seed[0];
    next[1] = seed[1] == INT32_MAX ? INT32_MIN : seed[1] + 1;
    return;
  }
  const uint64_t joined = (uint64_t)(uint32_t)seed[0] << 32 | (uint32_t)seed[1];
  const float *x = run->inputs[0];
  float *y = run->outputs[0], *mask = run->outputs[1];
  const int64_t begin = (int64_t)part * PART_ELEMENTS, end = part_end(numbers, begin);
  for (int64_t i = begin; i < end; ++i) {
    const bool stays = mslite_random_bits(joined, (uint64_t)i) < numbers->kept;
    y[i] = stays ? x[i] * numbers->factor : 0.0f;
    mask[i] = stays ? 1.0f : 0.0f;
  }
}

static int32_t grad_support(const mslite_node *node) {
  return node->inputs[0]->type == MSLITE_FLOAT32 && node->inputs[1]->type == MSLITE_FLOAT32;
}

static mslite_status grad_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  if (mslite_element_count(node->inputs[1]) != mslite_element_count(node->inputs[0])) return MSLITE_ERROR_SHAPE;
  return prepare_elements(((const mslite_DropoutGrad *)node->params)->keep_prob, node->inputs[0], derived, schedule);
}

static void grad_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const dropout_derived *numbers = run->derived;
  const float *dy = run->inputs[0], *mask = run->inputs[1];
  float *dx = run->outputs[0];
  const int64_t begin = (int64_t)part * PART_ELEMENTS, end = part_end(numbers, begin);
  for (int64_t i = begin; i < end; ++i) dx[i] = dy[i] * (mask[i] * numbers->factor);
}

static int32_t in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

#define DROPOUT(name_, operator, support_, prepare_, run_) \
  const mslite_kernel mslite_kernel_##name_ = {            \
      .name = #name_ "_scalar",                            \
      .op = MSLITE_OP_##operator,                          \
      .isa = MSLITE_ISA_SCALAR,                            \
      .derived_size = sizeof(dropout_derived),             \
      .support = support_,                                 \
      .prepare = prepare_,                                 \
      .run = run_,                                         \
      .in_place = in_place,                                \
  };

DROPOUT(dropout_training, Dropout, training_support, training_prepare, training_run)
DROPOUT(dropout_grad, DropoutGrad, grad_support, grad_prepare, grad_run)
