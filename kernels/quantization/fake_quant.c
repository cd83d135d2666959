/* FakeQuantWithMinMaxVars: rounds to the nearest of 2^bits (narrow_range: 2^bits - 1) equidistant values from min to
 * max, which are first shifted so that 0 is one of them. PerChannel: bounds for each index of the last dimension. An
 * empty range gives 0. */
#include <math.h>

#include "kernel.h"

enum { PART_ELEMENTS = 16384 };

typedef struct {
  int64_t count, channels; /* `channels` adjacent elements, each with its own bounds */
  float first, last;       /* the least and the largest integer */
} fake_derived;

static int32_t fake_support(const mslite_node *node) {
  for (int32_t i = 0; i < 3; ++i) {
    if (node->inputs[i]->type != MSLITE_FLOAT32) return 0;
  }
  return 1;
}

static mslite_status fake_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_FakeQuantWithMinMaxVars *attributes = node->params; /* the same fields for both operators */
  const mslite_tensor *x = node->inputs[0];
  fake_derived *numbers = derived;
  if (attributes->num_bits < 2 || attributes->num_bits > 16) return MSLITE_ERROR_ATTRIBUTE;
  numbers->count = mslite_element_count(x);
  numbers->channels = 1;
  if (node->op == MSLITE_OP_FakeQuantWithMinMaxVarsPerChannel) {
    if (x->rank < 1) return MSLITE_ERROR_SHAPE;
    numbers->channels = x->dims[x->rank - 1];
  }
  if (mslite_element_count(node->inputs[1]) != numbers->channels ||
      mslite_element_count(node->inputs[2]) != numbers->channels)
    return MSLITE_ERROR_SHAPE;
  numbers->first = attributes->narrow_range ? 1.0F : 0.0F;
  numbers->last = (float)((1 << attributes->num_bits) - 1);
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  return MSLITE_OK;
}

static float rounded(const fake_derived *numbers, float x, float low, float high) {
  const float scale = (high - low) / (numbers->last - numbers->first);
  if (!(scale > 0)) return 0;
  float zero = numbers->first - low / scale;
  zero = zero < numbers->first ? numbers->first : zero > numbers->last ? numbers->last : floorf(zero + 0.5F);
  const float least = (numbers->first - zero) * scale;
  const float most = (numbers->last - zero) * scale;
  const float limited = x < least ? least : x > most ? most : x;
  const float steps = (limited - least) * (1.0F / scale);
  const float value = floorf(steps + 0.5F) * scale;
  return value + least;
}

static void fake_run(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const fake_derived *numbers = run->derived;
  const float *x = run->inputs[0], *low = run->inputs[1], *high = run->inputs[2];
  float *y = run->outputs[0];
  const int64_t begin = (int64_t)part * PART_ELEMENTS;
  const int64_t end = begin + PART_ELEMENTS < numbers->count ? begin + PART_ELEMENTS : numbers->count;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t channel = i % numbers->channels;
    y[i] = rounded(numbers, x[i], low[channel], high[channel]);
  }
}

static int32_t fake_in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

#define FAKE_KERNEL(name_, operator_)           \
  const mslite_kernel mslite_kernel_##name_ = { \
      .name = #name_ "_scalar",                 \
      .op = MSLITE_OP_##operator_,              \
      .isa = MSLITE_ISA_SCALAR,                 \
      .derived_size = sizeof(fake_derived),     \
      .support = fake_support,                  \
      .prepare = fake_prepare,                  \
      .run = fake_run,                          \
      .in_place = fake_in_place,                \
  };

FAKE_KERNEL(fake_quant, FakeQuantWithMinMaxVars)
FAKE_KERNEL(fake_quant_per_channel, FakeQuantWithMinMaxVarsPerChannel)
