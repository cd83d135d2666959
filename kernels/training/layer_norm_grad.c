/* LayerNormGrad: x dy variance mean gamma -> dx dgamma dbeta. With n = (x - mean) r, r = 1 / sqrt(variance + epsilon)
 * and g = dy gamma: dx = r (g - mean(g) - n mean(g n)), dgamma = sum(dy n), dbeta = sum(dy). Parts of the first phase
 * are rows, those of the second blocks of gamma. */
#include <math.h>

#include "kernel.h"

enum { PART_ELEMENTS = 16384, PART_PARAMETERS = 16 };

/* The operator has no epsilon: whoever makes the variance adds it. This one keeps constant rows finite. */
static const double tiny = 1e-12;

typedef struct {
  int64_t rows, inner; /* inner: elements that are normalised together */
  int64_t parameters;  /* elements of gamma, which repeats */
  int64_t part_rows;
} layer_norm_grad_derived;

static int32_t support(const mslite_node *node) {
  if (node->output_count != 3) return 0;
  for (int32_t k = 0; k < 5; ++k) {
    if (node->inputs[k]->type != MSLITE_FLOAT32) return 0;
  }
  return 1;
}

static int64_t elements_from(const mslite_tensor *x, int32_t axis) {
  int64_t count = 1;
  for (int32_t i = axis; i < x->rank; ++i) count *= x->dims[i];
  return count;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  layer_norm_grad_derived *numbers = derived;
  const mslite_LayerNormGrad *attributes = node->params;
  const mslite_tensor *x = node->inputs[0];
  const int32_t axis = mslite_normalize_axis(attributes->begin_norm_axis, x->rank);
  const int32_t parameter_axis = mslite_normalize_axis(attributes->begin_params_axis, x->rank);
  if (axis < 0 || parameter_axis < 0) return MSLITE_ERROR_ATTRIBUTE;
  const int64_t count = mslite_element_count(x);
  if (mslite_element_count(node->inputs[1]) != count) return MSLITE_ERROR_SHAPE;
  numbers->inner = elements_from(x, axis);
  numbers->rows = numbers->inner > 0 ? count / numbers->inner : 0;
  numbers->parameters = mslite_element_count(node->inputs[4]);
  /* Some files leave begin_params_axis out: then the parameters cover the normalised part. */
  if (numbers->parameters != elements_from(x, parameter_axis) && numbers->parameters != numbers->inner) {
    return MSLITE_ERROR_SHAPE;
  }
  for (int32_t k = 2; k < 4; ++k) {
    if (numbers->inner > 0 && mslite_element_count(node->inputs[k]) != numbers->rows) return MSLITE_ERROR_SHAPE;
  }
  numbers->part_rows = numbers->inner > 0 && numbers->inner < PART_ELEMENTS ? PART_ELEMENTS / numbers->inner : 1;
  const int64_t parts = (numbers->rows + numbers->part_rows - 1) / numbers->part_rows;
  const int64_t blocks = (numbers->parameters + PART_PARAMETERS - 1) / PART_PARAMETERS;
  if (parts > INT32_MAX || blocks > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 2;
  schedule->part_count[0] = (int32_t)parts;
  schedule->part_count[1] = (int32_t)blocks;
  return MSLITE_OK;
}

static double reciprocal_deviation(const mslite_run *run, int64_t row) {
  return 1.0 / sqrt((double)((const float *)run->inputs[2])[row] + tiny);
}

static void input_row(const mslite_run *run, const layer_norm_grad_derived *numbers, int64_t row) {
  const int64_t first = row * numbers->inner;
  const float *x = (const float *)run->inputs[0] + first, *dy = (const float *)run->inputs[1] + first;
  const float *gamma = (const float *)run->inputs[4];
  const double mean = (double)((const float *)run->inputs[3])[row], r = reciprocal_deviation(run, row);
  float *dx = (float *)run->outputs[0] + first;
  const int64_t start = first % numbers->parameters;
  double sum = 0, weighted = 0;
  for (int64_t i = 0, p = start; i < numbers->inner; ++i, p = p + 1 == numbers->parameters ? 0 : p + 1) {
    const double g = (double)dy[i] * (double)gamma[p];
    sum += g;
    weighted += g * ((double)x[i] - mean);
  }
  const double share = sum / (double)numbers->inner, slope = weighted * r * r / (double)numbers->inner;
  for (int64_t i = 0, p = start; i < numbers->inner; ++i, p = p + 1 == numbers->parameters ? 0 : p + 1) {
    dx[i] = (float)(r * ((double)dy[i] * (double)gamma[p] - share - ((double)x[i] - mean) * slope));
  }
}

static void parameter_block(const mslite_run *run, const layer_norm_grad_derived *numbers, int64_t first) {
  const int64_t left = numbers->parameters - first, count = left < PART_PARAMETERS ? left : PART_PARAMETERS;
  const float *x = run->inputs[0], *dy = run->inputs[1], *mean = run->inputs[3];
  const int64_t total = numbers->rows * numbers->inner;
  double sum[PART_PARAMETERS] = {0}, weighted[PART_PARAMETERS] = {0};
  for (int64_t at = first; at < total; at += numbers->parameters) {
    int64_t row = at / numbers->inner, row_end = (row + 1) * numbers->inner;
    double center = (double)mean[row], r = reciprocal_deviation(run, row);
    for (int64_t c = 0; c < count; ++c) {
      if (at + c == row_end) {
        row_end += numbers->inner;
        center = (double)mean[++row];
        r = reciprocal_deviation(run, row);
      }
      sum[c] += (double)dy[at + c];
      weighted[c] += (double)dy[at + c] * ((double)x[at + c] - center) * r;
    }
  }
  for (int64_t c = 0; c < count; ++c) {
    ((float *)run->outputs[1])[first + c] = (float)weighted[c];
    ((float *)run->outputs[2])[first + c] = (float)sum[c];
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  const layer_norm_grad_derived *numbers = run->derived;
  if (phase == 1) {
    parameter_block(run, numbers, (int64_t)part * PART_PARAMETERS);
    return;
  }
  const int64_t first = (int64_t)part * numbers->part_rows, end = first + numbers->part_rows;
  for (int64_t row = first; row < end && row < numbers->rows; ++row) input_row(run, numbers, row);
}

const mslite_kernel mslite_kernel_layer_norm_grad = {
    .name = "layer_norm_grad_scalar",
    .op = MSLITE_OP_LayerNormGrad,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(layer_norm_grad_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
};
