/* Affine: concatenated rows of x (Splice without repeated ends) times a weight, plus bias, then the activation. Row
 * r of the result reads the rows r - min(context) + context[k] of x [batch, rows, columns]. A fourth input, or a
 * third one of more than one dimension, is the previous run's result, which MindSpore Lite reuses; this kernel
 * computes everything. */
#include "matmul/affine.h"
#include "kernel.h"
#include "math/scalar_math.h"

enum { MAX_ENTRIES = 1024, ROWS = 8 };

typedef struct {
  int64_t rows, columns, results, width; /* rows and columns of x, rows and columns of y */
  int64_t blocks;                        /* of ROWS rows, per batch */
  int64_t weight_step, column_step;      /* steps along the inner size, and between columns of y */
  int32_t offsets, bias, activation;
  int32_t offset[MAX_ENTRIES];
} affine_derived;

int32_t mslite_affine_bias(const mslite_tensor *const *inputs, int32_t input_count) {
  if (input_count > 3) return 2;
  return input_count == 3 && inputs[2]->rank == 1 ? 2 : -1;
}

bool mslite_affine_reach(const mslite_Affine *attributes, int64_t *least, int64_t *most) {
  const mslite_longs *context = &attributes->context;
  if (context->count < 1 || context->count > MAX_ENTRIES) return false;
  *least = *most = context->at[0];
  for (int32_t i = 0; i < context->count; ++i) {
    const int64_t at = context->at[i];
    if (at < -INT32_MAX / 2 || at > INT32_MAX / 2) return false;
    if (at < *least) *least = at;
    if (at > *most) *most = at;
  }
  return true;
}

static int32_t affine_support(const mslite_node *node) {
  const mslite_Affine *attributes = node->params;
  switch (attributes->activation_type) {
    case MSLITE_ACTIVATION_TYPE_NO_ACTIVATION:
    case MSLITE_ACTIVATION_TYPE_RELU:
    case MSLITE_ACTIVATION_TYPE_RELU6:
    case MSLITE_ACTIVATION_TYPE_SIGMOID:
    case MSLITE_ACTIVATION_TYPE_TANH:
    case MSLITE_ACTIVATION_TYPE_SWISH:
    case MSLITE_ACTIVATION_TYPE_HSWISH:
    case MSLITE_ACTIVATION_TYPE_HSIGMOID:
    case MSLITE_ACTIVATION_TYPE_SOFTPLUS:
      break;
    default:
      return 0;
  }
  const int32_t bias = mslite_affine_bias(node->inputs, node->input_count);
  return !attributes->transpose_a && node->inputs[0]->type == MSLITE_FLOAT32 &&
         node->inputs[1]->type == MSLITE_FLOAT32 && (bias < 0 || node->inputs[bias]->type == MSLITE_FLOAT32);
}

static mslite_status affine_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_Affine *attributes = node->params;
  const mslite_tensor *x = node->inputs[0], *weight = node->inputs[1], *y = node->outputs[0];
  affine_derived *numbers = derived;
  int64_t least, most;
  if (!mslite_affine_reach(attributes, &least, &most)) return MSLITE_ERROR_ATTRIBUTE;
  if (x->rank != 3 || weight->rank != 2 || y->rank != 3) return MSLITE_ERROR_SHAPE;
  numbers->rows = x->dims[1];
  numbers->columns = x->dims[2];
  numbers->results = y->dims[1];
  numbers->width = y->dims[2];
  numbers->offsets = attributes->context.count;
  const int64_t inner = weight->dims[attributes->transpose_b ? 1 : 0];
  if (inner != numbers->columns * numbers->offsets || numbers->results != numbers->rows - (most - least))
    return MSLITE_ERROR_SHAPE;
  numbers->weight_step = attributes->transpose_b ? 1 : numbers->width;
  numbers->column_step = attributes->transpose_b ? inner : 1;
  numbers->bias = mslite_affine_bias(node->inputs, node->input_count);
  if (numbers->bias >= 0 && mslite_element_count(node->inputs[numbers->bias]) != numbers->width)
    return MSLITE_ERROR_SHAPE;
  numbers->activation = attributes->activation_type;
  for (int32_t i = 0; i < numbers->offsets; ++i) numbers->offset[i] = (int32_t)(attributes->context.at[i] - least);
  numbers->blocks = (numbers->results + ROWS - 1) / ROWS;
  const int64_t parts = numbers->blocks * x->dims[0];
  if (parts > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)parts;
  return MSLITE_OK;
}

static float limit(float x, float low, float high) { return x < low ? low : x > high ? high : x; }

static float activated(int32_t activation, float x) {
  switch (activation) {
    case MSLITE_ACTIVATION_TYPE_RELU:
      return x > 0 ? x : 0;
    case MSLITE_ACTIVATION_TYPE_RELU6:
      return limit(x, 0, 6);
    case MSLITE_ACTIVATION_TYPE_SIGMOID:
      return (float)(1 / (1 + mslite_exp(-(double)x)));
    case MSLITE_ACTIVATION_TYPE_TANH:
      return (float)mslite_tanh(x);
    case MSLITE_ACTIVATION_TYPE_SWISH:
      return (float)(x / (1 + mslite_exp(-(double)x)));
    case MSLITE_ACTIVATION_TYPE_HSWISH:
      return x * limit(x + 3, 0, 6) / 6;
    case MSLITE_ACTIVATION_TYPE_HSIGMOID:
      return limit(x + 3, 0, 6) / 6;
    case MSLITE_ACTIVATION_TYPE_SOFTPLUS:
      return x > 30 ? x : (float)mslite_log1p(mslite_exp(x));
    default:
      return x;
  }
}

static void affine_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const affine_derived *n = run->derived;
  const int64_t batch = part / n->blocks, first = part % n->blocks * ROWS;
  const int64_t end = first + ROWS < n->results ? first + ROWS : n->results;
  const float *x = (const float *)run->inputs[0] + batch * n->rows * n->columns;
  const float *weight = run->inputs[1];
  const float *bias = n->bias < 0 ? NULL : run->inputs[n->bias];
  float *y = (float *)run->outputs[0] + batch * n->results * n->width;
  for (int64_t row = first; row < end; ++row) {
    for (int64_t column = 0; column < n->width; ++column) {
      const float *w = weight + column * n->column_step;
      float sum = bias == NULL ? 0 : bias[column];
      for (int32_t k = 0; k < n->offsets; ++k) {
        const float *from = x + (row + n->offset[k]) * n->columns;
        for (int64_t i = 0; i < n->columns; ++i, w += n->weight_step) sum += from[i] * *w;
      }
      y[row * n->width + column] = activated(n->activation, sum);
    }
  }
}

const mslite_kernel mslite_kernel_affine = {
    .name = "affine_scalar",
    .op = MSLITE_OP_Affine,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(affine_derived),
    .support = affine_support,
    .prepare = affine_prepare,
    .run = affine_run,
};
