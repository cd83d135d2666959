/* ChannelsLastInstanceNorm, float32: a first phase computes one factor and one offset per image and channel, in two
 * passes over the pixels; the second phase applies them. */
#include "arithmetic/broadcast.h"
#include "arithmetic/scale_row.h"
#include "math/simd_math.h"

enum { STRIPE = 64, PIXEL_BLOCK = 64 };

typedef struct {
  mslite_broadcast_plan plan;
  int64_t images;
  int64_t pixels;
  int64_t channels;
  int64_t stripes; /* per image */
  float epsilon;
} instance_norm_last_derived;

static int32_t support(const mslite_node *node) {
  for (int32_t k = 0; k < 3; ++k)
    if (k >= node->input_count || node->inputs[k]->type != MSLITE_FLOAT32) return 0;
  return node->inputs[0]->rank >= 2;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  instance_norm_last_derived *numbers = derived;
  const mslite_tensor *x = node->inputs[0];
  numbers->images = x->dims[0];
  numbers->channels = x->dims[x->rank - 1];
  numbers->pixels = 1;
  for (int32_t i = 1; i < x->rank - 1; ++i) numbers->pixels *= x->dims[i];
  numbers->stripes = (numbers->channels + STRIPE - 1) / STRIPE;
  numbers->epsilon = ((const mslite_ChannelsLastInstanceNorm *)node->params)->epsilon;
  const mslite_tensor flat = {.rank = 3, .dims = {numbers->images, numbers->pixels, numbers->channels}};
  const mslite_tensor channel = {.rank = 3, .dims = {numbers->images, 1, numbers->channels}};
  const mslite_tensor *const operands[2] = {&flat, &channel};
  mslite_plan_broadcast(&flat, operands, 2, &numbers->plan, schedule);
  schedule->part_count[1] = schedule->part_count[0];
  schedule->part_count[0] = (int32_t)(numbers->pixels == 0 ? 0 : numbers->images * numbers->stripes);
  schedule->phase_count = 2;
  schedule->shared_bytes = 2 * numbers->images * numbers->channels * (int64_t)sizeof(float);
  return MSLITE_OK;
}

/* Returns the sum over all pixels of x - shift, or of its squares, for one vector of channels. */
static simd_f32 sum_pixels(const float *x, int64_t pixels, int64_t stride, int32_t lanes, simd_f32 shift,
                           bool squares) {
  simd_f32 sum = simd_set(0.0F);
  for (int64_t begin = 0; begin < pixels; begin += PIXEL_BLOCK) {
    const int64_t end = pixels - begin < PIXEL_BLOCK ? pixels : begin + PIXEL_BLOCK;
    simd_f32 block = simd_set(0.0F);
    for (int64_t i = begin; i < end; ++i) {
      const simd_f32 v = simd_load_lanes(x + i * stride, lanes) - shift;
      block = squares ? simd_fma(v, v, block) : block + v;
    }
    sum += block;
  }
  return sum;
}

static void find_factors(const mslite_run *run, const instance_norm_last_derived *numbers, int64_t part) {
  const int64_t image = part / numbers->stripes, first = part % numbers->stripes * STRIPE;
  const int64_t last = numbers->channels - first < STRIPE ? numbers->channels : first + STRIPE;
  const float *gamma = run->inputs[1], *beta = run->inputs[2];
  float *factor = (float *)run->shared + image * numbers->channels;
  float *addend = factor + numbers->images * numbers->channels;
  const simd_f32 count = simd_set((float)numbers->pixels), zero = simd_set(0.0F);
  for (int64_t c = first; c < last; c += SIMD_WIDTH) {
    const int32_t lanes = last - c < SIMD_WIDTH ? (int32_t)(last - c) : SIMD_WIDTH;
    const float *x = (const float *)run->inputs[0] + image * numbers->pixels * numbers->channels + c;
    const simd_f32 mean = sum_pixels(x, numbers->pixels, numbers->channels, lanes, zero, false) / count;
    const simd_f32 variance = sum_pixels(x, numbers->pixels, numbers->channels, lanes, mean, true) / count;
    const simd_f32 f = simd_load_lanes(gamma + c, lanes) / math_sqrt(variance + simd_set(numbers->epsilon));
    simd_store_lanes(factor + c, f, lanes);
    simd_store_lanes(addend + c, simd_load_lanes(beta + c, lanes) - mean * f, lanes);
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  const instance_norm_last_derived *numbers = run->derived;
  const mslite_broadcast_plan *plan = &numbers->plan;
  if (phase == 0) {
    find_factors(run, numbers, part);
    return;
  }
  const float *factor = run->shared, *addend = factor + numbers->images * numbers->channels;
  const int64_t step = plan->strides[1][plan->rank - 1];
  mslite_broadcast_cursor at;
  mslite_broadcast_begin(plan, part, &at);
  for (int64_t n; (n = mslite_broadcast_row(plan, &at)) > 0; mslite_broadcast_next(plan, n, &at))
    scale_row((const float *)run->inputs[0] + at.offset[0], factor + at.offset[1], addend + at.offset[1], step,
              (float *)run->outputs[0] + at.at, n);
}

static int32_t in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_instance_norm_last_f32) = {
    .name = MSLITE_ISA_STRING(instance_norm_last_f32),
    .op = MSLITE_OP_ChannelsLastInstanceNorm,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(instance_norm_last_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
    .in_place = in_place,
};
