/* BiasAddGrad: the sum of dy over everything but channels, its last dimension. */
#include <string.h>

#include "kernel.h"

enum { PART_CHANNELS = 256 };

typedef struct {
  int64_t rows, channels;
} bias_derived;

static int32_t support(const mslite_node *node) { return node->inputs[0]->type == MSLITE_FLOAT32; }

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  bias_derived *numbers = derived;
  const mslite_tensor *dy = node->inputs[0];
  if (dy->rank < 1) return MSLITE_ERROR_SHAPE;
  numbers->channels = dy->dims[dy->rank - 1];
  numbers->rows = numbers->channels > 0 ? mslite_element_count(dy) / numbers->channels : 0;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->channels + PART_CHANNELS - 1) / PART_CHANNELS);
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const bias_derived *numbers = run->derived;
  const int64_t first = (int64_t)part * PART_CHANNELS;
  const int64_t count = numbers->channels - first < PART_CHANNELS ? numbers->channels - first : PART_CHANNELS;
  const float *dy = (const float *)run->inputs[0] + first;
  float *dbias = (float *)run->outputs[0] + first;
  memset(dbias, 0, (size_t)count * sizeof(float));
  for (int64_t row = 0; row < numbers->rows; ++row) {
    for (int64_t i = 0; i < count; ++i) dbias[i] += dy[row * numbers->channels + i];
  }
}

const mslite_kernel mslite_kernel_bias_add_grad = {
    .name = "bias_add_grad_scalar",
    .op = MSLITE_OP_BiasAddGrad,
    .isa = MSLITE_ISA_SCALAR,
    .derived_size = sizeof(bias_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
};
