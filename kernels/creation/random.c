/* RandomNormal, RandomStandardNormal and UniformReal. A random number depends only on the seed and its index
 * (counter-based, with a 64-bit mixing function), so the result is independent of the number of threads and the same
 * in every run. */
#include <math.h>
#include <string.h>

#include "kernel.h"
#include "math/counter_random.h"
#include "math/scalar_math.h"

enum { PART_ELEMENTS = 4096 };

typedef struct {
  int64_t count;
  uint64_t seed;
  int32_t op;
  float mean;
  float scale;
} random_derived;

static int32_t support(const mslite_node *node) { return node->outputs[0]->type == MSLITE_FLOAT32; }

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  random_derived *numbers = derived;
  numbers->count = mslite_element_count(node->outputs[0]);
  numbers->op = node->op;
  numbers->mean = 0.0F;
  numbers->scale = 1.0F;
  if (node->op == MSLITE_OP_RandomNormal) {
    const mslite_RandomNormal *normal = node->params;
    uint32_t bits;
    memcpy(&bits, &normal->seed, sizeof bits);
    numbers->seed = bits;
    numbers->mean = normal->mean;
    numbers->scale = normal->scale;
  } else if (node->op == MSLITE_OP_RandomStandardNormal) {
    const mslite_RandomStandardNormal *normal = node->params;
    numbers->seed = (uint64_t)normal->seed * 0x9e3779b97f4a7c15U + (uint64_t)normal->seed2;
  } else {
    const mslite_UniformReal *uniform = node->params;
    numbers->seed = (uint64_t)uniform->seed * 0x9e3779b97f4a7c15U + (uint64_t)uniform->seed2;
  }
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  return MSLITE_OK;
}

/* Returns a uniform random number in [0, 1) with 24 bits. */
static double uniform(uint64_t seed, uint64_t counter) {
  return (double)mslite_random_bits(seed, counter) / 16777216.0;
}

/* Box-Muller transform: the radius from one uniform number, the angle from another. */
static double normal(uint64_t seed, uint64_t counter) {
  const double length = sqrt(-2 * mslite_log(1 - uniform(seed, 2 * counter)));
  return length * mslite_cos(6.283185307179586 * uniform(seed, 2 * counter + 1));
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const random_derived *numbers = run->derived;
  const int64_t begin = (int64_t)part * PART_ELEMENTS;
  const int64_t end = numbers->count - begin < PART_ELEMENTS ? numbers->count : begin + PART_ELEMENTS;
  float *y = run->outputs[0];
  for (int64_t i = begin; i < end; ++i) {
    if (numbers->op == MSLITE_OP_UniformReal)
      y[i] = (float)uniform(numbers->seed, (uint64_t)i);
    else
      y[i] = (float)normal(numbers->seed, (uint64_t)i) * numbers->scale + numbers->mean;
  }
}

#define RANDOM(function, operator)                 \
  const mslite_kernel mslite_kernel_##function = { \
      .name = #function "_scalar",                 \
      .op = MSLITE_OP_##operator,                  \
      .isa = MSLITE_ISA_SCALAR,                    \
      .derived_size = sizeof(random_derived),      \
      .support = support,                          \
      .prepare = prepare,                          \
      .run = run_part,                             \
  };

RANDOM(random_normal, RandomNormal)
RANDOM(random_standard_normal, RandomStandardNormal)
RANDOM(uniform_real, UniformReal)
