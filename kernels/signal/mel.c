/* MelWeightMatrix: the edges of the bands are equidistant in mel = 2595 log10(1 + hertz / 700). The shape depends on
 * the contents of the inputs. */
#include <math.h>
#include <string.h>

#include "kernel.h"
#include "math/scalar_math.h"
#include "movement.h"

typedef struct {
  int32_t types[5];
} mel_derived;

static int32_t mel_support(const mslite_node *node) {
  for (int32_t i = 0; i < 5; ++i) {
    const int32_t type = node->inputs[i]->type;
    const bool number = i < 3 ? type == MSLITE_INT32 || type == MSLITE_INT64 : type == MSLITE_FLOAT32;
    if (!number || mslite_element_count(node->inputs[i]) != 1) return 0;
  }
  return node->outputs[0]->type == MSLITE_FLOAT32;
}

static mslite_status mel_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  mel_derived *n = derived;
  for (int32_t i = 0; i < 5; ++i) n->types[i] = node->inputs[i]->type;
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  return MSLITE_OK;
}

static int64_t integer_input(const mslite_run *run, int32_t input) {
  const mel_derived *n = run->derived;
  return mslite_integer_at(run->inputs[input], n->types[input], 0);
}

static mslite_status mel_count(const mslite_run *run, int64_t dims[][MSLITE_MAX_RANK]) {
  const int64_t bins = integer_input(run, 0), length = integer_input(run, 1);
  if (bins < 0 || bins > 1 << 20 || length < 0 || length > 1 << 30 || integer_input(run, 2) < 1) {
    return MSLITE_ERROR_VALUE;
  }
  dims[0][0] = length / 2 + 1;
  dims[0][1] = bins;
  return MSLITE_OK;
}

/* Returns the spectrogram bin at mel `at`. */
static int64_t bin_of(double at, int64_t length, int64_t rate) {
  const double hertz = 700.0 * mslite_expm1(at / 2595.0 * 2.302585092994046);
  const double bin = floor((double)(length + 1) * hertz / (double)rate);
  return bin > -1e15 && bin < 1e15 ? (int64_t)bin : -1;
}

static double mel_of(double hertz) { return 2595.0 * mslite_log1p(hertz / 700.0) / 2.302585092994046; }

static void mel_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase, (void)part;
  const int64_t bins = integer_input(run, 0), length = integer_input(run, 1), rate = integer_input(run, 2);
  const int64_t rows = length / 2 + 1;
  float *y = run->outputs[0];
  memset(y, 0, (size_t)(rows * bins) * sizeof *y);
  const double low = mel_of((double)((const float *)run->inputs[3])[0]);
  const double high = mel_of((double)((const float *)run->inputs[4])[0]);
  const double step = (high - low) / (double)(bins + 2);
  for (int64_t i = 0; i < bins; ++i) {
    const int64_t left = bin_of((double)i * step + low, length, rate);
    const int64_t center = bin_of((double)(i + 1) * step + low, length, rate);
    const int64_t right = bin_of((double)(i + 2) * step + low, length, rate);
    if (left == center && center >= 0 && center < rows) y[center * bins + i] = 1.0f;
    for (int64_t j = left < 0 ? 0 : left; left < center && j <= center && j < rows; ++j) {
      y[j * bins + i] = (float)((double)(j - left) / (double)(center - left));
    }
    for (int64_t j = center < 0 ? 0 : center; j < right && j < rows; ++j) {
      y[j * bins + i] = (float)((double)(right - j) / (double)(right - center));
    }
  }
}

const mslite_kernel mslite_kernel_mel_weight_matrix = {
    .name = "mel_weight_matrix_scalar",
    .op = MSLITE_OP_MelWeightMatrix,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(mel_derived),
    .support = mel_support,
    .prepare = mel_prepare,
    .run = mel_run,
    .count = mel_count,
};
