/* LayerNormGrad: x dy variance mean gamma -> dx dgamma dbeta. With n = (x - mean) r, r = 1 / sqrt(variance +
 * epsilon) and g = dy gamma: dx = r (g - mean(g) - n mean(g n)), dgamma = sum(dy n), dbeta = sum(dy). Parts of the
 * first phase are rows, which write sums for gamma and beta; those of the second add these sums for some of gamma
 * and beta. */
#include "kernel.h"
#include "normalization/statistics.h"

enum {
  PART_ELEMENTS = 1 << 14,
  MAX_ROW_BLOCKS = 16,
  RUN = 16, /* rows per float32 sum; runs are summed in float64 */
  PART_PARAMETERS = 256
};

/* The operator has no epsilon: it is added when the variance is computed. This one keeps constant rows finite. */
static const double tiny = 1e-12;

typedef struct {
  int64_t rows, inner; /* inner: elements that are normalized together */
  int64_t parameters;  /* elements of gamma, which repeats over x */
  int64_t row_block, row_blocks;
  int32_t has_sums; /* dgamma and dbeta are outputs */
} layer_norm_grad_derived;

/* The sums that the rows of one part write. */
typedef struct {
  double *gamma, *beta;
  float *run_gamma, *run_beta;
} parameter_sums;

static int32_t layer_norm_grad_support(const mslite_node *node) {
  if (node->output_count != 3 && node->output_count != 1) return 0;
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

static int64_t bytes_of_sums(int64_t parameters) { return parameters * 2 * (int64_t)(sizeof(double) + sizeof(float)); }

static mslite_status layer_norm_grad_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
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
  /* Some files omit begin_params_axis: then the parameters cover the normalized part. */
  if (numbers->parameters != elements_from(x, parameter_axis) && numbers->parameters != numbers->inner) {
    return MSLITE_ERROR_SHAPE;
  }
  for (int32_t k = 2; k < 4; ++k) {
    if (numbers->inner > 0 && mslite_element_count(node->inputs[k]) != numbers->rows) return MSLITE_ERROR_SHAPE;
  }
  int64_t blocks = count / PART_ELEMENTS;
  const int64_t runs = numbers->parameters > 0 ? count / numbers->parameters / RUN : 1;
  if (blocks > runs) blocks = runs; /* separate sums for fewer rows would cost more than they save */
  if (blocks > MAX_ROW_BLOCKS) blocks = MAX_ROW_BLOCKS;
  if (blocks < 1) blocks = 1;
  numbers->row_block = numbers->rows < 1 ? 1 : (numbers->rows + blocks - 1) / blocks;
  numbers->row_blocks = numbers->rows < 1 ? 1 : (numbers->rows + numbers->row_block - 1) / numbers->row_block;
  numbers->has_sums = node->output_count == 3;
  const int64_t parameter_blocks = (numbers->parameters + PART_PARAMETERS - 1) / PART_PARAMETERS;
  if (parameter_blocks > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = numbers->has_sums ? 2 : 1;
  schedule->part_count[0] = (int32_t)numbers->row_blocks;
  if (numbers->has_sums) {
    schedule->part_count[1] = (int32_t)parameter_blocks;
    schedule->shared_bytes = numbers->row_blocks * bytes_of_sums(numbers->parameters);
  }
  return MSLITE_OK;
}

static parameter_sums sums_of_block(const mslite_run *run, const layer_norm_grad_derived *numbers, int64_t block) {
  char *first = (char *)run->shared + block * bytes_of_sums(numbers->parameters);
  parameter_sums sums;
  sums.gamma = (double *)first;
  sums.beta = sums.gamma + numbers->parameters;
  sums.run_gamma = (float *)(sums.beta + numbers->parameters);
  sums.run_beta = sums.run_gamma + numbers->parameters;
  return sums;
}

/* Adds the sums of g and g (x - mean) over n adjacent elements. */
static void sum_elements(const float *x, const float *dy, const float *gamma, float mean, int64_t n, double *sum,
                         double *weighted) {
  enum { BLOCK = 4096 };
  const simd_f32 center = simd_set(mean);
  for (int64_t begin = 0; begin < n; begin += BLOCK) {
    const int64_t end = n - begin < BLOCK ? n : begin + BLOCK;
    simd_f32 plain[2] = {simd_set(0.0f), simd_set(0.0f)}, products[2] = {simd_set(0.0f), simd_set(0.0f)};
    int64_t i = begin;
    for (; i + 2 * SIMD_WIDTH <= end; i += 2 * SIMD_WIDTH) {
      SIMD_UNROLL for (int32_t v = 0; v < 2; ++v) {
        const int64_t at = i + v * SIMD_WIDTH;
        const simd_f32 g = simd_load_f32(dy + at) * simd_load_f32(gamma + at);
        plain[v] += g;
        products[v] = simd_fma(g, simd_load_f32(x + at) - center, products[v]);
      }
    }
    for (; i < end; i += SIMD_WIDTH) {
      const int32_t lanes = end - i < SIMD_WIDTH ? (int32_t)(end - i) : SIMD_WIDTH;
      const simd_f32 g = simd_load_lanes_f32(dy + i, lanes) * simd_load_lanes_f32(gamma + i, lanes);
      plain[0] += g;
      products[0] = simd_fma(g, simd_load_lanes_f32(x + i, lanes) - center, products[0]);
    }
    *sum += statistics_total(plain[0] + plain[1]);
    *weighted += statistics_total(products[0] + products[1]);
  }
}

/* The factors that convert a row's dy to its dx: r (dy gamma - share - (x - mean) slope). */
typedef struct {
  float mean, r, share, slope;
} row_numbers;

/* Computes dx of n adjacent elements, and adds to the sums of dgamma and dbeta, if any. */
SIMD_INLINE void finish_elements(const float *x, const float *dy, const float *gamma, const row_numbers *row, int64_t n,
                                 const bool has_sums, float *dx, float *dgamma, float *dbeta) {
  const simd_f32 center = simd_set(row->mean), r = simd_set(row->r), share = simd_set(row->share);
  const simd_f32 slope = simd_set(-row->slope);
  for (int64_t i = 0; i < n; i += SIMD_WIDTH) {
    const int32_t lanes = n - i < SIMD_WIDTH ? (int32_t)(n - i) : SIMD_WIDTH;
    const simd_f32 distance = simd_load_lanes_f32(x + i, lanes) - center, given = simd_load_lanes_f32(dy + i, lanes);
    const simd_f32 g = given * simd_load_lanes_f32(gamma + i, lanes);
    simd_store_lanes_f32(dx + i, r * simd_fma(distance, slope, g - share), lanes);
    if (has_sums) {
      const simd_f32 old = simd_load_lanes_f32(dgamma + i, lanes);
      simd_store_lanes_f32(dgamma + i, simd_fma(given, distance * r, old), lanes);
      simd_store_lanes_f32(dbeta + i, simd_load_lanes_f32(dbeta + i, lanes) + given, lanes);
    }
  }
}

static void row_gradient(const mslite_run *run, const layer_norm_grad_derived *numbers, int64_t row,
                         const parameter_sums *sums) {
  const int64_t first = row * numbers->inner, inner = numbers->inner, period = numbers->parameters;
  const float *x = (const float *)run->inputs[0] + first, *dy = (const float *)run->inputs[1] + first;
  const float *gamma = run->inputs[4];
  const double reciprocal = 1.0 / sqrt((double)((const float *)run->inputs[2])[row] + tiny);
  row_numbers own = {.mean = ((const float *)run->inputs[3])[row], .r = (float)reciprocal};
  double sum = 0, weighted = 0;
  int64_t n = 0;
  for (int64_t i = 0; i < inner; i += n) {
    const int64_t at = (first + i) % period;
    n = period - at < inner - i ? period - at : inner - i;
    sum_elements(x + i, dy + i, gamma + at, own.mean, n, &sum, &weighted);
  }
  own.share = (float)(sum / (double)inner);
  own.slope = (float)(weighted * reciprocal * reciprocal / (double)inner);
  float *dx = (float *)run->outputs[0] + first;
  for (int64_t i = 0; i < inner; i += n) {
    const int64_t at = (first + i) % period;
    n = period - at < inner - i ? period - at : inner - i;
    if (sums != NULL) {
      finish_elements(x + i, dy + i, gamma + at, &own, n, true, dx + i, sums->run_gamma + at, sums->run_beta + at);
    } else {
      finish_elements(x + i, dy + i, gamma + at, &own, n, false, dx + i, NULL, NULL);
    }
  }
}

/* Adds a run's sums to those of its part, and clears the run's. */
static void finish_run(const parameter_sums *sums, int64_t parameters) {
  for (int64_t c = 0; c < parameters; ++c) {
    sums->gamma[c] += (double)sums->run_gamma[c];
    sums->beta[c] += (double)sums->run_beta[c];
  }
  memset(sums->run_gamma, 0, (size_t)parameters * sizeof(float));
  memset(sums->run_beta, 0, (size_t)parameters * sizeof(float));
}

static void add_sums(const mslite_run *run, const layer_norm_grad_derived *numbers, int64_t first) {
  const int64_t left = numbers->parameters - first, count = left < PART_PARAMETERS ? left : PART_PARAMETERS;
  for (int64_t c = first; c < first + count; ++c) {
    double gamma = 0, beta = 0;
    for (int64_t block = 0; block < numbers->row_blocks; ++block) {
      const parameter_sums sums = sums_of_block(run, numbers, block);
      gamma += sums.gamma[c];
      beta += sums.beta[c];
    }
    ((float *)run->outputs[1])[c] = (float)gamma;
    ((float *)run->outputs[2])[c] = (float)beta;
  }
}

static void layer_norm_grad_run(const mslite_run *run, int32_t phase, int32_t part) {
  const layer_norm_grad_derived *numbers = run->derived;
  if (phase == 1) {
    add_sums(run, numbers, (int64_t)part * PART_PARAMETERS);
    return;
  }
  const int64_t first = part * numbers->row_block, left = numbers->rows - first;
  const int64_t rows = left < numbers->row_block ? left : numbers->row_block;
  if (!numbers->has_sums) {
    for (int64_t row = 0; row < rows; ++row) row_gradient(run, numbers, first + row, NULL);
    return;
  }
  const parameter_sums sums = sums_of_block(run, numbers, part);
  memset(sums.gamma, 0, (size_t)bytes_of_sums(numbers->parameters));
  for (int64_t row = 0; row < rows; row += RUN) {
    for (int64_t i = row; i < rows && i < row + RUN; ++i) row_gradient(run, numbers, first + i, &sums);
    finish_run(&sums, numbers->parameters);
  }
}

/* dx may overwrite dy: a row is summed before it is written. */
static int32_t layer_norm_grad_in_place(const mslite_node *node) {
  (void)node;
  return 1;
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_layer_norm_grad) = {
    .name = MSLITE_ISA_STRING(layer_norm_grad),
    .op = MSLITE_OP_LayerNormGrad,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(layer_norm_grad_derived),
    .support = layer_norm_grad_support,
    .prepare = layer_norm_grad_prepare,
    .run = layer_norm_grad_run,
    .in_place = layer_norm_grad_in_place,
};
