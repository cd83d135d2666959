/* Casts between float32 and float16, at the borders of float16 computation. */
#include "kernel.h"
#include "simd/simd.h"

enum { PART_ELEMENTS = 16384 };

typedef struct {
  int64_t count;
  bool narrows;
} cast_real_derived;

static int32_t support(const mslite_node *node) {
  const int32_t from = node->inputs[0]->type, to = node->outputs[0]->type;
  return (from == MSLITE_FLOAT32 && to == MSLITE_FLOAT16) || (from == MSLITE_FLOAT16 && to == MSLITE_FLOAT32) ? 2 : 0;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  cast_real_derived *numbers = derived;
  numbers->count = mslite_element_count(node->outputs[0]);
  numbers->narrows = node->outputs[0]->type == MSLITE_FLOAT16;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  return MSLITE_OK;
}

static void narrow(const float *x, simd_real *y, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const float16x4_t low = vcvt_f16_f32(vld1q_f32(x + i));
    vst1q_f16(y + i, vcvt_high_f16_f32(low, vld1q_f32(x + i + 4)));
  }
  for (; i < n; ++i) y[i] = (simd_real)x[i];
}

static void widen(const simd_real *x, float *y, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const float16x8_t both = vld1q_f16(x + i);
    vst1q_f32(y + i, vcvt_f32_f16(vget_low_f16(both)));
    vst1q_f32(y + i + 4, vcvt_high_f32_f16(both));
  }
  for (; i < n; ++i) y[i] = (float)x[i];
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const cast_real_derived *numbers = run->derived;
  const int64_t begin = (int64_t)part * PART_ELEMENTS;
  const int64_t n = numbers->count - begin < PART_ELEMENTS ? numbers->count - begin : PART_ELEMENTS;
  if (numbers->narrows) {
    narrow((const float *)run->inputs[0] + begin, (simd_real *)run->outputs[0] + begin, n);
  } else {
    widen((const simd_real *)run->inputs[0] + begin, (float *)run->outputs[0] + begin, n);
  }
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_cast_real) = {
    .name = MSLITE_ISA_STRING(cast_real),
    .op = MSLITE_OP_Cast,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(cast_real_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
};
