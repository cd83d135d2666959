/* AudioSpectrogram: magnitudes of the Fourier transform of windows [channels, frames, bins] of samples [samples,
 * channels]. The window is a periodic Hann window, padded with zeros to a power of two. */
#include <math.h>
#include <string.h>

#include "kernel.h"
#include "math/fft.h"
#include "math/scalar_math.h"

typedef struct {
  int64_t channels, frames, bins, window, length, stride;
  int32_t squared;
} spectrogram_derived;

static int32_t support(const mslite_node *node) { return node->inputs[0]->type == MSLITE_FLOAT32; }

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_AudioSpectrogram *attributes = node->params;
  spectrogram_derived *numbers = derived;
  numbers->window = attributes->window_size;
  numbers->stride = attributes->stride;
  numbers->squared = attributes->mag_square;
  numbers->channels = node->outputs[0]->dims[0];
  numbers->frames = node->outputs[0]->dims[1];
  numbers->bins = node->outputs[0]->dims[2];
  numbers->length = 2 * (numbers->bins - 1);
  if (numbers->channels * numbers->frames > INT32_MAX) return MSLITE_ERROR_UNSUPPORTED;
  schedule->phase_count = 2;
  schedule->part_count[0] = 1;
  schedule->part_count[1] = (int32_t)(numbers->channels * numbers->frames);
  schedule->shared_bytes = (numbers->window + mslite_fft_table_size(numbers->length)) * (int64_t)sizeof(double);
  schedule->scratch_bytes = 2 * numbers->length * (int64_t)sizeof(double);
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  const spectrogram_derived *numbers = run->derived;
  double *window = run->shared, *tables = window + numbers->window;
  if (phase == 0) {
    for (int64_t i = 0; i < numbers->window; ++i) {
      window[i] = 0.5 - 0.5 * mslite_cos(2 * 3.141592653589793 * (double)i / (double)numbers->window);
    }
    mslite_fft_make_tables(numbers->length, tables);
    return;
  }
  const int64_t channel = part / numbers->frames, frame = part % numbers->frames;
  const float *x = (const float *)run->inputs[0] + frame * numbers->stride * numbers->channels + channel;
  float *y = (float *)run->outputs[0] + part * numbers->bins;
  double *data = run->scratch;
  memset(data, 0, (size_t)(2 * numbers->length) * sizeof *data);
  for (int64_t i = 0; i < numbers->window; ++i) data[2 * i] = window[i] * x[i * numbers->channels];
  mslite_fft_forward(numbers->length, tables, data, NULL);
  for (int64_t i = 0; i < numbers->bins; ++i) {
    const double power = data[2 * i] * data[2 * i] + data[2 * i + 1] * data[2 * i + 1];
    y[i] = (float)(numbers->squared ? power : sqrt(power));
  }
}

const mslite_kernel mslite_kernel_audio_spectrogram = {
    .name = "audio_spectrogram_scalar",
    .op = MSLITE_OP_AudioSpectrogram,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(spectrogram_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
};
