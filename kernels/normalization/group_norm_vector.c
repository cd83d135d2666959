/* GroupNormFusion and InstanceNorm, float32. Channels are dimension 1 (NCHW), so that a group of them, or the pixels
 * of one, are contiguous. */
#include "normalization/statistics.h"

enum { PART_ELEMENTS = 8192 };

typedef struct {
  int64_t groups; /* per image */
  int64_t rows;   /* groups in all images */
  int64_t rows_per_part;
  int64_t group_channels;
  int64_t pixels;
  float epsilon;
  int32_t affine;
} group_norm_derived;

static bool is_float(const mslite_node *node) {
  for (int32_t k = 0; k < node->input_count; ++k)
    if (node->inputs[k]->type != MSLITE_FLOAT32) return false;
  return true;
}

static int32_t support(const mslite_node *node) {
  const mslite_GroupNormFusion *norm = node->params;
  const mslite_tensor *x = node->inputs[0];
  if (x->rank < 2 || norm->num_groups < 1 || x->dims[1] % norm->num_groups != 0) return 0;
  return is_float(node) && (!norm->affine || node->input_count >= 3);
}

static int32_t instance_support(const mslite_node *node) {
  return node->inputs[0]->rank >= 2 && node->input_count >= 3 && is_float(node);
}

static mslite_status prepare_groups(const mslite_tensor *x, int64_t groups, group_norm_derived *numbers,
                                    mslite_schedule *schedule) {
  numbers->groups = groups;
  numbers->rows = x->dims[0] * groups;
  numbers->group_channels = groups > 0 ? x->dims[1] / groups : 0;
  numbers->pixels = 1;
  for (int32_t i = 2; i < x->rank; ++i) numbers->pixels *= x->dims[i];
  const int64_t count = numbers->group_channels * numbers->pixels;
  numbers->rows_per_part = count < PART_ELEMENTS ? PART_ELEMENTS / (count + 1) + 1 : 1;
  schedule->phase_count = 1;
  schedule->part_count[0] =
      (int32_t)(count == 0 ? 0 : (numbers->rows + numbers->rows_per_part - 1) / numbers->rows_per_part);
  return MSLITE_OK;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  const mslite_GroupNormFusion *norm = node->params;
  group_norm_derived *numbers = derived;
  numbers->epsilon = norm->epsilon;
  numbers->affine = norm->affine;
  return prepare_groups(node->inputs[0], norm->num_groups, numbers, schedule);
}

static mslite_status instance_prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  group_norm_derived *numbers = derived;
  numbers->epsilon = ((const mslite_InstanceNorm *)node->params)->epsilon;
  numbers->affine = 1;
  return prepare_groups(node->inputs[0], node->inputs[0]->dims[1], numbers, schedule);
}

/* y = (x - mean) * factor + offset. The difference comes first, so that a mean far from 0 does not lose precision. */
static void normalize(const float *x, float mean, float factor, float offset, float *y, int64_t n) {
  const simd_f32 m = simd_set(mean), f = simd_set(factor), o = simd_set(offset);
  int64_t i = 0;
  for (; i + SIMD_WIDTH <= n; i += SIMD_WIDTH) simd_store(y + i, simd_fma(simd_load(x + i) - m, f, o));
  const int32_t rest = (int32_t)(n - i);
  if (rest > 0) simd_store_partial(y + i, simd_fma(simd_load_partial(x + i, rest) - m, f, o), rest);
}

static void normalize_group(const mslite_run *run, const group_norm_derived *numbers, int64_t row) {
  const int64_t count = numbers->group_channels * numbers->pixels;
  const float *x = (const float *)run->inputs[0] + row * count;
  float *y = (float *)run->outputs[0] + row * count;
  const double mean = statistics_sum(x, count, 0.0F, false) / (double)count;
  const double variance = statistics_sum(x, count, (float)mean, true) / (double)count;
  const double scale = 1.0 / sqrt(variance + (double)numbers->epsilon);
  const int64_t first = row % numbers->groups * numbers->group_channels;
  for (int64_t c = 0; c < numbers->group_channels; ++c) {
    const double gamma = numbers->affine ? (double)((const float *)run->inputs[1])[first + c] : 1;
    const float beta = numbers->affine ? ((const float *)run->inputs[2])[first + c] : 0.0F;
    const int64_t at = c * numbers->pixels;
    normalize(x + at, (float)mean, (float)(scale * gamma), beta, y + at, numbers->pixels);
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const group_norm_derived *numbers = run->derived;
  const int64_t first = part * numbers->rows_per_part, left = numbers->rows - first;
  const int64_t last = first + (left < numbers->rows_per_part ? left : numbers->rows_per_part);
  for (int64_t row = first; row < last; ++row) normalize_group(run, numbers, row);
}

static int32_t in_place(const mslite_node *node) {
  (void)node;
  return 0;
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_group_norm_f32) = {
    .name = MSLITE_ISA_STRING(group_norm_f32),
    .op = MSLITE_OP_GroupNormFusion,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(group_norm_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
    .in_place = in_place,
};

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_instance_norm_f32) = {
    .name = MSLITE_ISA_STRING(instance_norm_f32),
    .op = MSLITE_OP_InstanceNorm,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(group_norm_derived),
    .support = instance_support,
    .prepare = instance_prepare,
    .run = run_part,
    .in_place = in_place,
};
