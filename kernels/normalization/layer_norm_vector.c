/* LayerNormFusion and RmsNorm, float32: each row is normalized by its own mean and variance, in two passes. */
#include "normalization/statistics.h"

enum { PART_ELEMENTS = 8192 };

typedef struct {
  int64_t rows;
  int64_t width;  /* elements that are normalized together */
  int64_t period; /* elements of gamma and beta, which repeat over x from its start */
  int64_t rows_per_part;
  float epsilon;
  int32_t has_gamma;
  int32_t has_beta;
  int32_t root_mean_square; /* RmsNorm: the mean is not subtracted */
  int32_t has_mean;         /* outputs 1 and 2 of LayerNormFusion */
  int32_t has_variance;
} layer_norm_derived;

static bool is_there(const mslite_node *node, int32_t k) { return k < node->input_count && node->inputs[k] != NULL; }

static int64_t axis_of(const mslite_node *node) {
  return node->op == MSLITE_OP_RmsNorm ? ((const mslite_RmsNorm *)node->params)->axis
                                       : ((const mslite_LayerNormFusion *)node->params)->begin_norm_axis;
}

static int32_t support(const mslite_node *node) {
  if (mslite_normalize_axis(axis_of(node), node->inputs[0]->rank) < 0) return 0;
  for (int32_t k = 0; k < 3; ++k)
    if (is_there(node, k) && node->inputs[k]->type != (k == 0 ? SIMD_REAL_TYPE : MSLITE_FLOAT32)) return 0;
  for (int32_t k = 1; k < node->output_count; ++k)
    if (SIMD_HALF) return 0;
  return !is_there(node, 1) || !is_there(node, 2) ||
         mslite_element_count(node->inputs[1]) == mslite_element_count(node->inputs[2]);
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  layer_norm_derived *numbers = derived;
  const mslite_tensor *x = node->inputs[0];
  const int32_t axis = mslite_normalize_axis(axis_of(node), x->rank);
  numbers->rows = numbers->width = 1;
  for (int32_t i = 0; i < x->rank; ++i) *(i < axis ? &numbers->rows : &numbers->width) *= x->dims[i];
  numbers->root_mean_square = node->op == MSLITE_OP_RmsNorm;
  numbers->epsilon = numbers->root_mean_square ? ((const mslite_RmsNorm *)node->params)->epsilon
                                               : ((const mslite_LayerNormFusion *)node->params)->epsilon;
  numbers->has_gamma = is_there(node, 1);
  numbers->has_beta = is_there(node, 2);
  numbers->period = numbers->width;
  if (numbers->has_gamma || numbers->has_beta)
    numbers->period = mslite_element_count(node->inputs[numbers->has_gamma ? 1 : 2]);
  /* A row must contain whole periods, or be within one. */
  if (numbers->period < 1 || (numbers->period % numbers->width != 0 && numbers->width % numbers->period != 0)) {
    if (numbers->rows * numbers->width > 0) return MSLITE_ERROR_SHAPE;
    numbers->period = 1;
  }
  numbers->has_mean = node->output_count > 1;
  numbers->has_variance = node->output_count > 2;
  numbers->rows_per_part = numbers->width < PART_ELEMENTS ? PART_ELEMENTS / (numbers->width + 1) + 1 : 1;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->rows + numbers->rows_per_part - 1) / numbers->rows_per_part);
  return MSLITE_OK;
}

/* y = (x - mean) * scale * gamma + beta */
static void apply(const simd_real *x, const float *gamma, const float *beta, float mean, float scale, simd_real *y,
                  int64_t n) {
  const simd_f32 offset = simd_set(mean), factor = simd_set(scale), one = simd_set(1.0F), zero = simd_set(0.0F);
  int64_t i = 0;
  if (gamma != NULL && beta != NULL) {
    for (; i + SIMD_WIDTH <= n; i += SIMD_WIDTH) {
      const simd_f32 normal = (simd_load(x + i) - offset) * factor;
      simd_store(y + i, simd_fma(normal, simd_load_f32(gamma + i), simd_load_f32(beta + i)));
    }
  }
  for (; i < n; i += SIMD_WIDTH) {
    const int32_t lanes = n - i < SIMD_WIDTH ? (int32_t)(n - i) : SIMD_WIDTH;
    const simd_f32 g = gamma == NULL ? one : simd_load_lanes_f32(gamma + i, lanes);
    const simd_f32 b = beta == NULL ? zero : simd_load_lanes_f32(beta + i, lanes);
    simd_store_lanes(y + i, simd_fma((simd_load_lanes(x + i, lanes) - offset) * factor, g, b), lanes);
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const layer_norm_derived *numbers = run->derived;
  const int64_t width = numbers->width, begin = part * numbers->rows_per_part;
  const int64_t end = numbers->rows - begin < numbers->rows_per_part ? numbers->rows : begin + numbers->rows_per_part;
  const float *gamma = numbers->has_gamma ? run->inputs[1] : NULL, *beta = numbers->has_beta ? run->inputs[2] : NULL;
  for (int64_t row = begin; row < end; ++row) {
    const simd_real *x = (const simd_real *)run->inputs[0] + row * width;
    simd_real *y = (simd_real *)run->outputs[0] + row * width;
    const double count = (double)width;
    const double mean = numbers->root_mean_square ? 0 : statistics_sum(x, width, 0.0F, false) / count;
    const double variance = statistics_sum(x, width, (float)mean, true) / count;
    if (numbers->has_mean) ((float *)run->outputs[1])[row] = (float)mean;
    if (numbers->has_variance) ((float *)run->outputs[2])[row] = (float)variance;
    const float scale = (float)(1.0 / sqrt(variance + (double)numbers->epsilon));
    for (int64_t done = 0; done < width;) {
      const int64_t at = (row * width + done) % numbers->period;
      const int64_t n = numbers->period - at < width - done ? numbers->period - at : width - done;
      apply(x + done, gamma == NULL ? NULL : gamma + at, beta == NULL ? NULL : beta + at, (float)mean, scale, y + done,
            n);
      done += n;
    }
  }
}

static int32_t in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

#define LAYER_NORM(function, operator)                                    \
  const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_##function##_f32) = { \
      .name = MSLITE_ISA_STRING(function##_f32),                          \
      .op = MSLITE_OP_##operator,                                         \
      .isa = MSLITE_THIS_ISA,                                             \
      .derived_size = sizeof(layer_norm_derived),                         \
      .support = support,                                                 \
      .prepare = prepare,                                                 \
      .run = run_part,                                                    \
      .in_place = in_place,                                               \
  };

LAYER_NORM(layer_norm, LayerNormFusion)
LAYER_NORM(rms_norm, RmsNorm)
