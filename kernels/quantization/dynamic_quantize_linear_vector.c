/* DynamicQuantizeLinear: phase 0 finds the range of each part, phase 1 quantizes. In float32, as defined by ONNX:
 *   scale = (high - low) / 255 (1 if both are 0), zero = clamp(nearest(-low / scale)),
 *   y = clamp(nearest(x / scale) + zero), nearest rounds half to even. NaN is ignored in the range, and becomes 0. */
#include "kernel.h"
#include "simd/simd.h"

enum { PART_ELEMENTS = 16384, LARGEST = 255 };

typedef struct {
  int64_t count, parts;
} range_derived;

static int32_t support(const mslite_node *node) {
  return node->output_count == 3 && node->inputs[0]->type == MSLITE_FLOAT32 && node->outputs[0]->type == MSLITE_UINT8;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  range_derived *own = derived;
  own->count = mslite_element_count(node->inputs[0]);
  own->parts = own->count <= PART_ELEMENTS ? 1 : (own->count + PART_ELEMENTS - 1) / PART_ELEMENTS;
  schedule->phase_count = 2;
  schedule->part_count[0] = schedule->part_count[1] = (int32_t)own->parts;
  schedule->shared_bytes = 2 * own->parts * (int64_t)sizeof(float);
  return MSLITE_OK;
}

static void find_range(const float *x, int64_t count, float *range) {
  simd_f32 low = simd_set(0.0F), high = low;
  int64_t i = 0;
  for (; i + SIMD_WIDTH <= count; i += SIMD_WIDTH) {
    const simd_f32 v = simd_load(x + i);
    low = simd_select(simd_less(v, low), v, low);
    high = simd_select(simd_less(high, v), v, high);
  }
  float lows[SIMD_WIDTH], highs[SIMD_WIDTH];
  simd_store(lows, low);
  simd_store(highs, high);
  range[0] = range[1] = 0.0F;
  for (int32_t lane = 0; lane < SIMD_WIDTH; ++lane) {
    range[0] = lows[lane] < range[0] ? lows[lane] : range[0];
    range[1] = highs[lane] > range[1] ? highs[lane] : range[1];
  }
  for (; i < count; ++i) {
    range[0] = x[i] < range[0] ? x[i] : range[0];
    range[1] = x[i] > range[1] ? x[i] : range[1];
  }
}

/* Clamps to 10 bits first. A value of 23 bits has no fraction bits, so adding it rounds, half to even. */
SIMD_INLINE int32_t nearest(float v) {
  v = v == v ? v : 0.0F;
  v = v > -512.0F ? v : -512.0F;
  v = v < 512.0F ? v : 512.0F;
  return (int32_t)((v + 12582912.0F) - 12582912.0F);
}

SIMD_INLINE int32_t limit(int32_t q) { return q < 0 ? 0 : q > LARGEST ? LARGEST : q; }

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  const range_derived *own = run->derived;
  const int64_t begin = (int64_t)part * PART_ELEMENTS;
  const int64_t n = own->count - begin < PART_ELEMENTS ? own->count - begin : PART_ELEMENTS;
  const float *x = (const float *)run->inputs[0] + begin;
  float *ranges = run->shared;
  if (phase == 0) {
    find_range(x, n, ranges + 2 * (int64_t)part);
    return;
  }
  float low = 0.0F, high = 0.0F;
  for (int64_t i = 0; i < own->parts; ++i) {
    low = ranges[2 * i] < low ? ranges[2 * i] : low;
    high = ranges[2 * i + 1] > high ? ranges[2 * i + 1] : high;
  }
  const float scale = low == high ? 1.0F : (high - low) / (float)LARGEST;
  const int32_t zero = limit(nearest(-low / scale));
  uint8_t *y = (uint8_t *)run->outputs[0] + begin;
  for (int64_t i = 0; i < n; ++i) y[i] = (uint8_t)limit(nearest(x[i] / scale) + zero);
  if (part != 0) return;
  if (run->outputs[1] != NULL) *(float *)run->outputs[1] = scale;
  if (run->outputs[2] != NULL) *(uint8_t *)run->outputs[2] = (uint8_t)zero;
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_dynamic_quantize_linear) = {
    .name = MSLITE_ISA_STRING(dynamic_quantize_linear),
    .op = MSLITE_OP_DynamicQuantizeLinear,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(range_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
};
