/* QuantDTypeCast between float32 and 8-bit or 16-bit integers, per tensor: the casts around a quantized operator.
 * Same results as quant_dtype_cast.c, which handles all other cases. */
#include "movement.h"
#include "simd/narrow.h"
#include "simd/simd.h"

enum { PART_ELEMENTS = 16384 };

typedef struct {
  int64_t count;
  double scale;
  int32_t zero;
  int32_t narrow;    /* the integer type */
  int32_t quantizes; /* otherwise: dequantizes */
  int32_t rounds_even;
} tensor_cast_derived;

static bool is_narrow(const mslite_tensor *tensor) {
  const bool narrow = tensor->type == MSLITE_INT8 || tensor->type == MSLITE_UINT8 || tensor->type == MSLITE_INT16;
  return narrow && tensor->quant_count == 1;
}

static int32_t support(const mslite_node *node) {
  const mslite_tensor *x = node->inputs[0];
  const mslite_tensor *y = node->outputs[0];
  return (x->type == MSLITE_FLOAT32 && is_narrow(y)) || (is_narrow(x) && y->type == MSLITE_FLOAT32) ? 2 : 0;
}

static mslite_status prepare(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  tensor_cast_derived *numbers = derived;
  numbers->quantizes = node->inputs[0]->type == MSLITE_FLOAT32;
  const mslite_tensor *integers = numbers->quantizes ? node->outputs[0] : node->inputs[0];
  if (!(integers->quant[0].scale > 0)) return MSLITE_ERROR_ATTRIBUTE;
  numbers->count = mslite_element_count(node->inputs[0]);
  numbers->scale = integers->quant[0].scale;
  numbers->zero = integers->quant[0].zero_point;
  numbers->narrow = integers->type;
  numbers->rounds_even = integers->quant[0].rounds_even != 0;
  schedule->phase_count = 1;
  schedule->part_count[0] = (int32_t)((numbers->count + PART_ELEMENTS - 1) / PART_ELEMENTS);
  return MSLITE_OK;
}

/* Clamps to 17 bits, because larger results saturate anyway. NaN becomes 0. */
SIMD_INLINE float bounded(float v) {
  v = v == v ? v : 0.0F;
  v = v > -131072.0F ? v : -131072.0F;
  return v < 131072.0F ? v : 131072.0F;
}

SIMD_INLINE int32_t nearest(float v) {
  v = bounded(v);
  /* The largest float below one half: one half would round the float below it up. */
  return (int32_t)(v + (v < 0.0F ? -0.49999997F : 0.49999997F));
}

/* A value of 23 bits has no fraction bits: adding it rounds, half to even. */
SIMD_INLINE int32_t nearest_even(float v) { return (int32_t)((bounded(v) + 12582912.0F) - 12582912.0F); }

#define QUANTIZE(type, low, high, rounded)                        \
  do {                                                            \
    type *y = (type *)run->outputs[0] + begin;                    \
    for (int64_t i = 0; i < n; ++i) {                             \
      const int32_t q = rounded(x[i] / scale) + zero;             \
      y[i] = (type)(q < (low) ? (low) : q > (high) ? (high) : q); \
    }                                                             \
  } while (0)

/* Quantizes the first of `n` values to int8, half to even, in whole blocks. Returns how many. */
SIMD_INLINE int64_t quantize_blocks(const float *x, int64_t n, float scale, int32_t zero, int8_t *y) {
  int64_t i = 0;
#if SIMD_WIDTH == 4
#if defined(__aarch64__)
  /* NaN becomes 0. Values saturate to 16 bits, then to 8 bits. */
  const int16x8_t zeros = vdupq_n_s16((int16_t)zero);
  for (; i + 4 * SIMD_WIDTH <= n; i += 4 * SIMD_WIDTH) {
    int16x8_t words[2];
    SIMD_UNROLL for (int32_t v = 0; v < 2; ++v) {
      const float *at = x + i + 2 * SIMD_WIDTH * v;
      const simd_f32 first = simd_load(at) / simd_set(scale), second = simd_load(at + SIMD_WIDTH) / simd_set(scale);
      const simd_i32 low = (simd_i32)vcvtnq_s32_f32((float32x4_t)first);
      words[v] = vqaddq_s16(simd_pack_words(low, (simd_i32)vcvtnq_s32_f32((float32x4_t)second)), zeros);
    }
    vst1q_s8(y + i, vcombine_s8(vqmovn_s16(words[0]), vqmovn_s16(words[1])));
  }
#endif
#endif
  (void)x, (void)n, (void)scale, (void)zero, (void)y;
  return i;
}

#define QUANTIZE_BOTH(type, low, high)         \
  do {                                         \
    if (numbers->rounds_even) {                \
      QUANTIZE(type, low, high, nearest_even); \
    } else {                                   \
      QUANTIZE(type, low, high, nearest);      \
    }                                          \
  } while (0)

static void quantize(const tensor_cast_derived *numbers, const mslite_run *run, int64_t begin, int64_t n) {
  const float *x = (const float *)run->inputs[0] + begin;
  const float scale = (float)numbers->scale;
  const int32_t zero = numbers->zero;
  if (numbers->narrow == MSLITE_INT8) {
    if (numbers->rounds_even) {
      const int64_t done = quantize_blocks(x, n, scale, zero, (int8_t *)run->outputs[0] + begin);
      x += done;
      begin += done;
      n -= done;
    }
    QUANTIZE_BOTH(int8_t, INT8_MIN, INT8_MAX);
  } else if (numbers->narrow == MSLITE_UINT8) {
    QUANTIZE_BOTH(uint8_t, 0, UINT8_MAX);
  } else {
    QUANTIZE_BOTH(int16_t, INT16_MIN, INT16_MAX);
  }
}

#define DEQUANTIZE(type)                                                                    \
  do {                                                                                      \
    const type *x = (const type *)run->inputs[0] + begin;                                   \
    for (int64_t i = 0; i < n; ++i) y[i] = (float)(scale * (double)((int32_t)x[i] - zero)); \
  } while (0)

static void dequantize(const tensor_cast_derived *numbers, const mslite_run *run, int64_t begin, int64_t n) {
  float *y = (float *)run->outputs[0] + begin;
  const double scale = numbers->scale;
  const int32_t zero = numbers->zero;
  if (numbers->narrow == MSLITE_INT8) {
    DEQUANTIZE(int8_t);
  } else if (numbers->narrow == MSLITE_UINT8) {
    DEQUANTIZE(uint8_t);
  } else {
    DEQUANTIZE(int16_t);
  }
}

static void run_part(const mslite_run *run, int32_t phase, int32_t part) {
  (void)phase;
  const tensor_cast_derived *numbers = run->derived;
  const int64_t begin = (int64_t)part * PART_ELEMENTS;
  const int64_t n = numbers->count - begin < PART_ELEMENTS ? numbers->count - begin : PART_ELEMENTS;
  if (numbers->quantizes) {
    quantize(numbers, run, begin, n);
  } else {
    dequantize(numbers, run, begin, n);
  }
}

const mslite_kernel MSLITE_ISA_NAME(mslite_kernel_tensor_cast) = {
    .name = MSLITE_ISA_STRING(tensor_cast),
    .op = MSLITE_OP_QuantDTypeCast,
    .isa = MSLITE_THIS_ISA,
    .derived_size = sizeof(tensor_cast_derived),
    .support = support,
    .prepare = prepare,
    .run = run_part,
};
