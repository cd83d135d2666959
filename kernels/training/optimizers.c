/* One step of an optimizer. MindSpore's operators update weight and states in place; here the new values are outputs
 * (weight, then the states in the order of the inputs), which may have the same memory: every element is read before
 * it is written, and is not read elsewhere. */
#include <math.h>

#include "kernel.h"

enum { PART_ELEMENTS = 16384 };

/* Before a loop over elements that do not depend on each other, wherever the outputs are. Clang warns if compiler
 * options prevent vectorization. */
#ifdef __clang__
#define EACH_ELEMENT \
  _Pragma("clang diagnostic ignored \"-Wpass-failed\"") _Pragma("clang loop vectorize(assume_safety)")
#else
#define EACH_ELEMENT _Pragma("GCC ivdep")
#endif

typedef struct {
  int64_t count;
  int32_t op;
  int32_t nesterov;
  float dampening, weight_decay; /* SGD */
  float gradient_scale;          /* ApplyMomentum */
} optimizer_derived;

/* The inputs with the weight's size: weight, gradient and states. States are outputs in the same order, after the
 * weight. */
typedef struct {
  int32_t gradient, states[2], state_count, output_count;
} operands;

static operands operands_of(int32_t op) {
  switch (op) {
    case MSLITE_OP_SGD: { /* and `stat` */
      const operands found = {1, {3, 3}, 1, 3};
      return found;
    }
    case MSLITE_OP_ApplyMomentum: {
      const operands found = {3, {1, 1}, 1, 2};
      return found;
    }
    case MSLITE_OP_Adam: {
      const operands found = {9, {1, 2}, 2, 3};
      return found;
    }
    default: {
      const operands found = {8, {1, 2}, 2, 3};
      return found;
    }
  }
}

/* An optimizer whose states are not outputs would lose them. */
static int32_t support(const mslite_node *node) {
  if (node->output_count != operands_of(node->op).output_count) return 0;
  for (int32_t i = 0; i < node->input_count; ++i) {
    if (node->inputs[i]->type != MSLITE_FLOAT32) return 0;
  }
  return 1;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  optimizer_derived *numbers = derived;
  const operands wanted = operands_of(node->op);
  numbers->op = node->op;
  numbers->nesterov = 0;
  numbers->dampening = numbers->weight_decay = 0.0f;
  numbers->gradient_scale = 1.0f;
  numbers->count = mslite_element_count(node->inputs[0]);
  for (int32_t i = 1; i < node->input_count; ++i) {
    const bool large = i == wanted.gradient || i == wanted.states[0] || i == wanted.states[1];
    if (mslite_element_count(node->inputs[i]) != (large ? numbers->count : 1)) return MSLITE_ERROR_SHAPE;
  }
  if (node->op == MSLITE_OP_SGD) {
    const mslite_SGD *attributes = node->params;
    numbers->nesterov = attributes->nesterov;
    numbers->dampening = attributes->dampening;
    numbers->weight_decay = attributes->weight_decay;
  } else if (node->op == MSLITE_OP_ApplyMomentum) {
    const mslite_ApplyMomentum *attributes = node->params;
    numbers->nesterov = attributes->use_nesterov;
    numbers->gradient_scale = attributes->gradient_scale != 0.0f ? attributes->gradient_scale : 1.0f;
  } else if (node->op == MSLITE_OP_Adam) {
    numbers->nesterov = ((const mslite_Adam *)node->params)->use_nesterov;
  }
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  return MSLITE_OK;
}

static float scalar(const mslite_run *run, int32_t input) { return *(const float *)run->inputs[input]; }

/* accumulator = momentum accumulator + (1 - dampening) gradient; only the gradient in the first step (stat > 0). */
static void run_sgd(const mslite_run *run, const optimizer_derived *numbers, int64_t begin, int64_t end) {
  const float *weight = run->inputs[0], *gradient = run->inputs[1], *old = run->inputs[3];
  float *new_weight = run->outputs[0], *accumulator = run->outputs[1];
  const float rate = scalar(run, 2), momentum = scalar(run, 4);
  const bool first = scalar(run, 5) > 0.0f;
  const bool moves = momentum > 0.0f, nesterov = numbers->nesterov;
  const float decay = numbers->weight_decay, share = 1.0f - numbers->dampening;
  EACH_ELEMENT for (int64_t i = begin; i < end; ++i) {
    const float g = gradient[i] + decay * weight[i];
    const float sum = first ? g : moves ? old[i] * momentum + g * share : old[i];
    const float step = moves ? (nesterov ? sum * momentum + g : sum) : g;
    accumulator[i] = sum;
    new_weight[i] = weight[i] - step * rate;
  }
  if (begin == 0) *(float *)run->outputs[2] = 0.0f;
}

static void run_momentum(const mslite_run *run, const optimizer_derived *numbers, int64_t begin, int64_t end) {
  const float *weight = run->inputs[0], *old = run->inputs[1], *gradient = run->inputs[3];
  float *new_weight = run->outputs[0], *accumulator = run->outputs[1];
  const float rate = scalar(run, 2), momentum = scalar(run, 4);
  const bool nesterov = numbers->nesterov;
  const float scale = numbers->gradient_scale;
  EACH_ELEMENT for (int64_t i = begin; i < end; ++i) {
    const float g = gradient[i] * scale;
    const float sum = old[i] * momentum + g;
    accumulator[i] = sum;
    new_weight[i] = weight[i] - (nesterov ? sum * momentum + g : sum) * rate;
  }
}

/* Adam, with the weight decay of AdamWeightDecay, which has no bias correction. */
static void run_adam(const mslite_run *run, const optimizer_derived *numbers, int64_t begin, int64_t end) {
  const bool decays = numbers->op == MSLITE_OP_AdamWeightDecay;
  const int32_t first = decays ? 4 : 6; /* beta1, beta2, epsilon */
  const float beta1 = scalar(run, first), beta2 = scalar(run, first + 1), epsilon = scalar(run, first + 2);
  const float *weight = run->inputs[0], *old_m = run->inputs[1], *old_v = run->inputs[2];
  const float *gradient = run->inputs[decays ? 8 : 9];
  float *new_weight = run->outputs[0], *m = run->outputs[1], *v = run->outputs[2];
  const float decay = decays ? scalar(run, 7) : 0.0f;
  const float rate = decays ? scalar(run, 3) : scalar(run, 5) * sqrtf(1.0f - scalar(run, 4)) / (1.0f - scalar(run, 3));
  const bool nesterov = numbers->nesterov;
  EACH_ELEMENT for (int64_t i = begin; i < end; ++i) {
    const float g = gradient[i], mean = old_m[i] + (g - old_m[i]) * (1.0f - beta1);
    const float square = old_v[i] + (g * g - old_v[i]) * (1.0f - beta2);
    const float direction = nesterov ? mean * beta1 + (1.0f - beta1) * g : mean;
    m[i] = mean;
    v[i] = square;
    new_weight[i] = weight[i] - rate * (direction / (sqrtf(square) + epsilon) + decay * weight[i]);
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const optimizer_derived *numbers = run->derived;
  const int64_t begin = (int64_t)part * PART_ELEMENTS;
  const int64_t end = numbers->count - begin < PART_ELEMENTS ? numbers->count : begin + PART_ELEMENTS;
  if (numbers->op == MSLITE_OP_SGD) {
    run_sgd(run, numbers, begin, end);
  } else if (numbers->op == MSLITE_OP_ApplyMomentum) {
    run_momentum(run, numbers, begin, end);
  } else {
    run_adam(run, numbers, begin, end);
  }
}

static int32_t in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

#define OPTIMIZER(name_, operator)               \
  const mslite_kernel mslite_kernel_##name_ = {  \
      .name = #name_ "_scalar",                  \
      .op = MSLITE_OP_##operator,                \
      .isa = MSLITE_ISA_SCALAR,                  \
      .derived_size = sizeof(optimizer_derived), \
      .support = support,                        \
      .prepare = prepare,                        \
      .run = run_part,                           \
      .in_place = in_place,                      \
  };

OPTIMIZER(sgd, SGD)
OPTIMIZER(apply_momentum, ApplyMomentum)
OPTIMIZER(adam, Adam)
OPTIMIZER(adam_weight_decay, AdamWeightDecay)
