/* Gradients of functions of two broadcast operands: the gradient of each operand is dy times its factor, summed over
 * the elements for which it was repeated. Part 0 computes that of operand 0, part 1 that of operand 1. */
#include <string.h>

#include "kernel.h"

typedef struct {
  int64_t count; /* elements of dy */
  int64_t dims[MSLITE_MAX_RANK];
  int64_t strides[2][MSLITE_MAX_RANK]; /* of a and b, in elements, along dy's dimensions; 0 if they repeat */
  int64_t sizes[2];
  int32_t rank;
  int32_t op;
  int32_t dy, a, b; /* input indices */
} binary_derived;

static int32_t support(const mslite_node *node) {
  if (node->output_count > 2) return 0;
  for (int32_t i = 0; i < 3; ++i) {
    if (node->inputs[i]->type != MSLITE_FLOAT32) return 0;
  }
  return 1;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  binary_derived *numbers = derived;
  const bool last = node->op == MSLITE_OP_MaximumGrad || node->op == MSLITE_OP_MinimumGrad;
  numbers->op = node->op;
  numbers->dy = last ? 2 : 0;
  numbers->a = last ? 0 : 1;
  numbers->b = last ? 1 : 2;
  const mslite_tensor *dy = node->inputs[numbers->dy];
  numbers->count = mslite_element_count(dy);
  numbers->rank = dy->rank;
  for (int32_t i = 0; i < dy->rank; ++i) numbers->dims[i] = dy->dims[i];
  for (int32_t k = 0; k < 2; ++k) {
    const mslite_tensor *operand = node->inputs[k == 0 ? numbers->a : numbers->b];
    if (operand->rank > dy->rank) return MSLITE_ERROR_SHAPE;
    numbers->sizes[k] = 1;
    for (int32_t i = dy->rank - 1; i >= 0; --i) {
      const int32_t own = i - (dy->rank - operand->rank);
      const int64_t size = own < 0 ? 1 : operand->dims[own];
      if (size != 1 && size != dy->dims[i]) return MSLITE_ERROR_SHAPE;
      numbers->strides[k][i] = size == 1 ? 0 : numbers->sizes[k];
      numbers->sizes[k] *= size;
    }
  }
  schedule->phase_count = 1;
  schedule->part_count[0] = node->output_count;
  return MSLITE_OK;
}

/* Returns the derivative of the result for operand `which`. */
static float factor(int32_t op, int32_t which, float a, float b) {
  switch (op) {
    case MSLITE_OP_AddGrad:
      return 1.0f;
    case MSLITE_OP_SubGrad:
      return which == 0 ? 1.0f : -1.0f;
    case MSLITE_OP_MulGrad:
      return which == 0 ? b : a;
    case MSLITE_OP_DivGrad:
      return which == 0 ? 1.0f / b : -a / (b * b);
    case MSLITE_OP_MaximumGrad:
      return (a > b) == (which == 0) ? 1.0f : 0.0f;
    default:
      return (a < b) == (which == 0) ? 1.0f : 0.0f;
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const binary_derived *numbers = run->derived;
  const float *dy = run->inputs[numbers->dy], *a = run->inputs[numbers->a], *b = run->inputs[numbers->b];
  float *gradient = run->outputs[part];
  int64_t index[MSLITE_MAX_RANK] = {0};
  int64_t at[2] = {0, 0};
  memset(gradient, 0, (size_t)numbers->sizes[part] * sizeof(float));
  for (int64_t i = 0; i < numbers->count; ++i) {
    gradient[at[part]] += dy[i] * factor(numbers->op, part, a[at[0]], b[at[1]]);
    for (int32_t axis = numbers->rank - 1; axis >= 0; --axis) {
      at[0] += numbers->strides[0][axis];
      at[1] += numbers->strides[1][axis];
      if (++index[axis] < numbers->dims[axis]) break;
      at[0] -= numbers->strides[0][axis] * numbers->dims[axis];
      at[1] -= numbers->strides[1][axis] * numbers->dims[axis];
      index[axis] = 0;
    }
  }
}

#define BINARY_GRAD(name_, operator)            \
  const mslite_kernel mslite_kernel_##name_ = { \
      .name = #name_ "_scalar",                 \
      .op = MSLITE_OP_##operator,               \
      .isa = MSLITE_ISA_SCALAR,                 \
      .derived_size = sizeof(binary_derived),   \
      .support = support,                       \
      .prepare = prepare,                       \
      .run = run_part,                          \
  };

BINARY_GRAD(add_grad, AddGrad)
BINARY_GRAD(sub_grad, SubGrad)
BINARY_GRAD(mul_grad, MulGrad)
BINARY_GRAD(div_grad, DivGrad)
BINARY_GRAD(maximum_grad, MaximumGrad)
BINARY_GRAD(minimum_grad, MinimumGrad)
