/* LRN across channels in NHWC, float32: x / (bias + alpha * sum of x^2 over depth_radius channels on each
 * side)^beta. */
#include "math/simd_math.h"

#include <string.h>

enum { PART_ELEMENTS = 8192 };

typedef struct {
  int64_t pixels;
  int64_t channels;
  int64_t radius;
  int64_t per_part;
  float bias;
  float alpha;
  float beta;
} lrn_derived;

static int32_t support(const mslite_node *node) {
  const char *region = ((const mslite_LRN *)node->params)->norm_region;
  return node->inputs[0]->type == MSLITE_FLOAT32 && node->inputs[0]->rank >= 1 &&
         (region == NULL || region[0] == 0 || strcmp(region, "ACROSS_CHANNELS") == 0);
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_LRN *lrn = node->params;
  const mslite_tensor *x = node->inputs[0];
  lrn_derived *numbers = derived;
  numbers->channels = x->dims[x->rank - 1];
  numbers->pixels = 1;
  for (int32_t i = 0; i < x->rank - 1; ++i) numbers->pixels *= x->dims[i];
  numbers->radius = lrn->depth_radius < numbers->channels ? lrn->depth_radius : numbers->channels;
  numbers->bias = lrn->bias;
  numbers->alpha = lrn->alpha;
  numbers->beta = lrn->beta;
  numbers->per_part = numbers->channels < PART_ELEMENTS ? PART_ELEMENTS / (numbers->channels + 1) + 1 : 1;
  schedule->phase_count = 1;
  schedule->part_count[0] =
      (int32_t)(numbers->channels == 0 ? 0 : (numbers->pixels + numbers->per_part - 1) / numbers->per_part);
  /* The squares of one pixel, with zeros around them, and one more vector. */
  schedule->scratch_bytes = (numbers->channels + 2 * numbers->radius + 16) * (int64_t)sizeof(float);
  return MSLITE_OK;
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const lrn_derived *numbers = run->derived;
  const int64_t channels = numbers->channels, radius = numbers->radius;
  const int64_t begin = part * numbers->per_part;
  const int64_t end = numbers->pixels - begin < numbers->per_part ? numbers->pixels : begin + numbers->per_part;
  float *squares = run->scratch;
  const simd_f32 bias = simd_set(numbers->bias), alpha = simd_set(numbers->alpha), power = simd_set(-numbers->beta);
  for (int64_t i = 0; i < channels + 2 * radius + 16; ++i) squares[i] = 0.0F;
  for (int64_t pixel = begin; pixel < end; ++pixel) {
    const float *x = (const float *)run->inputs[0] + pixel * channels;
    float *y = (float *)run->outputs[0] + pixel * channels;
    for (int64_t c = 0; c < channels; ++c) squares[radius + c] = x[c] * x[c];
    for (int64_t c = 0; c < channels; c += SIMD_WIDTH) {
      const int32_t lanes = channels - c < SIMD_WIDTH ? (int32_t)(channels - c) : SIMD_WIDTH;
      simd_f32 sum = simd_set(0.0F);
      for (int64_t k = 0; k <= 2 * radius; ++k) sum += simd_load(squares + c + k);
      /* beta = 0 copies x, even if the base is 0. */
      const simd_f32 base = numbers->beta == 0 ? simd_set(1.0F) : simd_fma(alpha, sum, bias);
      const simd_f32 scale = math_exp(power * math_log(base));
      simd_store_lanes(y + c, simd_load_lanes(x + c, lanes) * scale, lanes);
    }
  }
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_lrn_f32) = {
    .name = MSLITE_ISA_STRING(lrn_f32),
    .op = MSLITE_OP_LRN,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(lrn_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
};
