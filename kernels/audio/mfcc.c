/* Mfcc: the cosine transform of the logarithms of a mel filter bank, applied to the square roots of a squared
 * spectrogram [channels, frames, bins]. The triangular filters are equidistant on the mel scale 1127 ln(1 + f / 700)
 * between the frequency limits; the sample rate is the second input. */
#include <math.h>

#include "kernel.h"
#include "math/scalar_math.h"

typedef struct {
  int64_t rows, bins, filters, coefficients;
  double lower, upper; /* Hz */
  int32_t wide_rate;
} mfcc_derived;

/* The shared workspace, in doubles: per bin its weight for the filter below (-1: unused) and that filter's index,
 * the centers of the filters, and the cosines. */
typedef struct {
  double *weight, *filter, *center, *cosine;
} mfcc_tables;

static mfcc_tables tables_of(const mfcc_derived *numbers, double *shared) {
  const mfcc_tables tables = {shared, shared + numbers->bins, shared + 2 * numbers->bins,
                              shared + 2 * numbers->bins + numbers->filters + 1};
  return tables;
}

static int32_t support(const mslite_node *node) {
  if (node->input_count < 2 || node->inputs[0]->type != MSLITE_FLOAT32) return 0;
  return node->inputs[1]->type == MSLITE_INT32 || node->inputs[1]->type == MSLITE_INT64;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_Mfcc *attributes = node->params;
  const mslite_tensor *x = node->inputs[0];
  mfcc_derived *numbers = derived;
  numbers->bins = x->dims[2];
  numbers->rows = x->dims[0] * x->dims[1];
  numbers->filters = attributes->filter_bank_channel_num;
  numbers->coefficients = attributes->dct_coeff_num;
  numbers->lower = attributes->freq_lower_limit;
  numbers->upper = attributes->freq_upper_limit;
  numbers->wide_rate = node->inputs[1]->type == MSLITE_INT64;
  if (numbers->bins < 2 || numbers->filters < 1 || numbers->filters > 1 << 20 || numbers->coefficients < 1 ||
      numbers->coefficients > numbers->filters || !(numbers->lower >= 0 && numbers->upper > numbers->lower)) {
    return MSLITE_ERROR_ATTRIBUTE;
  }
  if (numbers->rows > INT32_MAX || mslite_element_count(node->inputs[1]) < 1) return MSLITE_ERROR_SHAPE;
  const int64_t doubles = 2 * numbers->bins + numbers->filters + 1 + numbers->coefficients * numbers->filters;
  schedule->phase_count = 2;
  schedule->part_count[0] = 1;
  schedule->part_count[1] = (int32_t)numbers->rows;
  schedule->shared_bytes = doubles * (int64_t)sizeof(double);
  schedule->scratch_bytes = numbers->filters * (int64_t)sizeof(double);
  return MSLITE_OK;
}

static double mel(double frequency) { return 1127.0 * mslite_log1p(frequency / 700.0); }

static void make_tables(const mfcc_derived *numbers, double rate, const mfcc_tables *tables) {
  const double low = mel(numbers->lower), spacing = (mel(numbers->upper) - low) / (double)(numbers->filters + 1);
  for (int64_t i = 0; i <= numbers->filters; ++i) tables->center[i] = low + spacing * (double)(i + 1);
  const double bin_width = 0.5 * rate / (double)(numbers->bins - 1);
  /* Bin 0, the mean, is not used. */
  const double first = floor(1.5 + numbers->lower / bin_width), last = floor(numbers->upper / bin_width);
  int64_t filter = 0;
  for (int64_t i = 0; i < numbers->bins; ++i) {
    tables->weight[i] = -1;
    tables->filter[i] = -1;
    if (!((double)i >= first && (double)i <= last)) continue;
    const double position = mel((double)i * bin_width);
    while (filter < numbers->filters && tables->center[filter] < position) ++filter;
    const double below = filter == 0 ? low : tables->center[filter - 1];
    tables->weight[i] = (tables->center[filter] - position) / (tables->center[filter] - below);
    tables->filter[i] = (double)(filter - 1);
  }
  const double count = (double)numbers->filters, norm = sqrt(2.0 / count);
  for (int64_t i = 0; i < numbers->coefficients; ++i) {
    for (int64_t j = 0; j < numbers->filters; ++j) {
      const double angle = (double)i * 3.141592653589793 / count * ((double)j + 0.5);
      tables->cosine[i * numbers->filters + j] = norm * mslite_cos(angle);
    }
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  const mfcc_derived *numbers = run->derived;
  const mfcc_tables tables = tables_of(numbers, run->shared);
  if (phase == 0) {
    const void *rate = run->inputs[1];
    make_tables(numbers, numbers->wide_rate ? (double)*(const int64_t *)rate : (double)*(const int32_t *)rate, &tables);
    return;
  }
  const float *x = (const float *)run->inputs[0] + part * numbers->bins;
  float *y = (float *)run->outputs[0] + part * numbers->coefficients;
  double *energy = run->scratch;
  for (int64_t j = 0; j < numbers->filters; ++j) energy[j] = 0;
  for (int64_t i = 0; i < numbers->bins; ++i) {
    if (!(tables.weight[i] >= 0)) continue;
    const double magnitude = sqrt((double)x[i]), share = magnitude * tables.weight[i];
    const int64_t filter = (int64_t)tables.filter[i];
    if (filter >= 0) energy[filter] += share;
    if (filter + 1 < numbers->filters) energy[filter + 1] += magnitude - share;
  }
  for (int64_t j = 0; j < numbers->filters; ++j) energy[j] = mslite_log(energy[j] < 1e-12 ? 1e-12 : energy[j]);
  for (int64_t i = 0; i < numbers->coefficients; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < numbers->filters; ++j) sum += tables.cosine[i * numbers->filters + j] * energy[j];
    y[i] = (float)sum;
  }
}

const mslite_kernel mslite_kernel_mfcc = {
    .name = "mfcc_scalar",
    .op = MSLITE_OP_Mfcc,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(mfcc_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
};
